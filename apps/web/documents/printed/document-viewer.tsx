import { useState } from 'react'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { PrintButton } from './print-button.tsx'
import { type Printed, PrintedForm, printedTitle, SavePdfButton } from './printed-form.tsx'

interface DocumentViewerProps {
  row: Printed | undefined
  onClose: () => void
}

/** The printed form over the list. */
export function DocumentViewer({ row, onClose }: DocumentViewerProps) {
  const [last, setLast] = useState(row)
  // The title stays while the dialog fades out.
  if (row && row !== last) setLast(row)
  const shown = row ?? last
  return (
    <Dialog
      open={row !== undefined}
      onClose={onClose}
      title={shown ? printedTitle(shown) : ''}
      actions={
        row && (
          <>
            {!row.event && <PrintButton documents={{ idsDFe: [row.idDfe] }} />}
            <SavePdfButton row={row}>Download</SavePdfButton>
          </>
        )
      }
      className="h-full! max-w-260 max-sm:max-h-dvh! max-sm:w-full! max-sm:rounded-none!"
    >
      {row && <PrintedForm row={row} />}
    </Dialog>
  )
}
