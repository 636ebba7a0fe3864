import { parseKey } from '@vigia/dfe/families/lookup'

/** The used part of the browser's BarcodeDetector (https://wicg.github.io/shape-detection-api). */
export interface BarCodeReader {
  detect(picture: HTMLVideoElement): Promise<{ rawValue: string }[]>
}

interface BarCodeReaderClass {
  new (options: { formats: string[] }): BarCodeReader
  getSupportedFormats(): Promise<string[]>
}

// Bar code format of the chave on DANFE and DACTE (MOC NF-e 7.0 Anexo II).
const format = 'code_128'

/** Whether this browser reads bar codes and this machine has a camera. */
export async function canReadBarCodes(): Promise<boolean> {
  const Reader = readerClass()
  // Browsers have cameras on HTTPS and localhost only.
  if (!Reader || !navigator.mediaDevices) return false
  const [formats, devices] = await Promise.all([
    Reader.getSupportedFormats(),
    navigator.mediaDevices.enumerateDevices(),
  ])
  return formats.includes(format) && devices.some(({ kind }) => kind === 'videoinput')
}

export function createBarCodeReader(): BarCodeReader {
  const Reader = readerClass()
  if (!Reader) throw new DOMException('BarcodeDetector', 'NotSupportedError')
  return new Reader({ formats: [format] })
}

function readerClass(): BarCodeReaderClass | undefined {
  return (globalThis as { BarcodeDetector?: BarCodeReaderClass }).BarcodeDetector
}

/** The first chave among bar codes; a contingency form also has one without a chave. */
export function chaveIn(codes: readonly { rawValue: string }[]): string | null {
  return codes.map(({ rawValue }) => parseKey(rawValue.trim())).find((key) => key?.valid)?.text ?? null
}

/** Message for a failure to open the camera. */
export function cameraProblem(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  return problems[name] ?? 'A câmera não pôde ser aberta. Tente de novo, ou digite a chave no campo de pesquisa.'
}

const problems: Partial<Record<string, string>> = {
  NotAllowedError:
    'O navegador não deixou abrir a câmera. Permita a câmera para este endereço nas configurações do navegador e tente de novo, ou digite a chave no campo de pesquisa.',
  NotFoundError: 'Nenhuma câmera foi encontrada. Digite a chave no campo de pesquisa.',
  NotReadableError:
    'A câmera está em uso por outro programa. Feche-o e tente de novo, ou digite a chave no campo de pesquisa.',
}
