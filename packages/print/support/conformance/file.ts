import { type Dictionary, Name, type PdfFile, type Value } from '../pdf-file.ts'
import { archive } from './clauses.ts'
import { list, name } from './entries.ts'

/** Faults in the file structure: header and end, streams, values. */
export function fileFaults(file: PdfFile): string[] {
  const faults: string[] = []
  if (!/^%PDF-1\.[0-7]\n%[\x80-\xff]{4}/.test(file.text))
    faults.push(archive('6.1.2', 'the header has no line of bytes above 127'))
  const id = file.trailer.get('ID')
  if (!Array.isArray(id) || id.length !== 2 || id.some((one) => typeof one !== 'string' || one.length < 16))
    faults.push(archive('6.1.3', 'the trailer has no ID of two strings'))
  if (file.trailer.has('Encrypt')) faults.push(archive('6.1.3', 'the file is encrypted'))
  if (!/%%EOF(\r\n|\n|\r)?$/.test(file.text)) faults.push(archive('6.1.3', 'something follows the end of the file'))
  for (const [number, { dictionary: entries, isSpaced }] of file.streams) {
    if (!isSpaced)
      faults.push(archive('6.1.7.1 and 6.1.9', `the keywords of object ${number} do not stand on lines of their own`))
    for (const filter of list(file, entries.get('Filter')))
      if (name(filter) !== 'FlateDecode')
        faults.push(archive('6.1.7.2', `object ${number} has the filter ${name(filter)}`))
    for (const key of ['F', 'FFilter', 'FDecodeParms'])
      if (entries.has(key)) faults.push(archive('6.1.7.1', `object ${number} has the key ${key}`))
    if (name(entries.get('Subtype')) === 'Image') faults.push(...imageFaults(number, entries))
  }
  for (const [number, value] of file.values)
    faults.push(...valueFaults(value).map((fault) => archive('6.1.13', `object ${number} has ${fault}`)))
  return faults
}

function imageFaults(number: number, entries: Dictionary): string[] {
  const faults = ['Alternates', 'OPI']
    .filter((key) => entries.has(key))
    .map((key) => archive('6.2.8', `image ${number} has ${key}`))
  if (entries.get('Interpolate') === true) faults.push(archive('6.2.8', `image ${number} is interpolated`))
  if (entries.has('SMask')) faults.push(archive('6.2.10', `image ${number} is transparent`))
  return faults
}

function valueFaults(value: Value): string[] {
  if (typeof value === 'string') return value.length > 32_767 ? ['a string of more than 32767 bytes'] : []
  if (typeof value === 'number') return Math.abs(value) > 2_147_483_647 ? ['a number out of range'] : []
  if (value instanceof Name) return value.name.length > 127 ? ['a name of more than 127 bytes'] : []
  if (Array.isArray(value)) return value.flatMap(valueFaults)
  return value instanceof Map ? [...value.values()].flatMap(valueFaults) : []
}
