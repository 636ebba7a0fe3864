import { useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { type Printed, PrintedForm, SavePdfButton, titleOf } from './printed-form.tsx'

interface DocumentViewerProps {
  row: Printed | undefined
  onClose: () => void
}

/** The printed form over the list. */
export function DocumentViewer({ row, onClose }: DocumentViewerProps) {
  const [last, setLast] = useState(row)
  // The words stay while the dialog fades away.
  if (row && row !== last) setLast(row)
  const shown = row ?? last
  return (
    <Dialog
      open={row !== undefined}
      onClose={onClose}
      title={shown ? titleOf(shown) : ''}
      actions={row && <SavePdfButton row={row}>Download</SavePdfButton>}
      className="h-full! max-w-260 max-sm:max-h-dvh! max-sm:w-full! max-sm:rounded-none!"
    >
      {row && <PrintedForm row={row} />}
    </Dialog>
  )
}
