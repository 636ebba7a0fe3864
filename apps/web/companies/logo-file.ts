import { logoSizeMax } from '@vigia/contract/forms'

// The largest file that the server accepts.
const bytesMax = 128 * 1024

/** Converts a picture to a PNG on white of limited size. Throws if it is no picture. */
export async function toLogo(picture: Blob): Promise<File> {
  const bitmap = await createImageBitmap(picture)
  try {
    let { width, height } = fitted(bitmap)
    for (;;) {
      const blob = await draw(bitmap, width, height)
      if (blob.size <= bytesMax) return new File([blob], 'logo.png', { type: 'image/png' })
      width = Math.ceil(width * 0.75)
      height = Math.ceil(height * 0.75)
    }
  } finally {
    bitmap.close()
  }
}

/** The size at which a picture keeps its shape and fits; it is never made larger. */
export function fitted({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const scale = Math.min(1, logoSizeMax.width / width, logoSizeMax.height / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

function draw(bitmap: ImageBitmap, width: number, height: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new Error('the browser draws no pictures')
  context.fillStyle = '#fff'
  context.fillRect(0, 0, width, height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, width, height)
  return canvas.convertToBlob({ type: 'image/png' })
}
