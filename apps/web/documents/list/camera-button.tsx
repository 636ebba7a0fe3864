import { ScanBarcode } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { canReadBarCodes } from './bar-code.ts'

const CameraDialog = lazyWithPreload(() => import('./camera-dialog.tsx').then((module) => module.CameraDialog))

/** Opens the document whose printed form is in front of the camera. Only where that can work. */
export function CameraButton() {
  const [able, setAble] = useState(false)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    canReadBarCodes().then(setAble, () => setAble(false))
  }, [])
  if (!able) return null
  return (
    <>
      <Button
        variant="outline"
        className="px-2.5!"
        aria-label="Ler código de barras com a câmera"
        title="Ler código de barras com a câmera"
        onPointerEnter={() => void CameraDialog.preload()}
        onClick={() => setOpen(true)}
      >
        <ScanBarcode aria-hidden className="size-4" />
      </Button>
      <Suspense fallback={null}>{open && <CameraDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}
