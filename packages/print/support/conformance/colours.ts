import { type PdfFile, Reference } from '../pdf-file.ts'
import { archive } from './clauses.ts'
import { catalogOf, dictionary, list, name } from './entries.ts'

// The tags that a profile has to have, by the colours it is for (ISO 15076-1, 8.4.3 and 8.4.4).
const everyProfile = ['desc', 'cprt', 'wtpt']
const profileTags: Record<string, readonly string[]> = {
  GRAY: [...everyProfile, 'kTRC'],
  'RGB ': [...everyProfile, 'chad', 'rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC'],
}

/** Faults in the output intent and in colours that it does not define. */
export function colourFaults(file: PdfFile): string[] {
  const intents = list(file, catalogOf(file).get('OutputIntents')).map((one) => dictionary(file, one))
  const intent = intents.find((one) => name(one.get('S')) === 'GTS_PDFA1')
  if (!intent) return [archive('6.2.4.3', 'colours of devices without an output intent')]
  if (typeof intent.get('OutputConditionIdentifier') !== 'string' || typeof intent.get('Info') !== 'string')
    return [archive('6.2.3', 'the output intent does not say what it is')]
  const profile = intent.get('DestOutputProfile')
  const stream = profile instanceof Reference ? file.streams.get(profile.number) : undefined
  const data = stream?.data ?? Buffer.alloc(0)
  const space = data.toString('latin1', 16, 20)
  const expected = profileTags[space]
  if (
    !expected ||
    data.readUInt32BE(0) !== data.length ||
    data[8] !== 4 ||
    !/^(prtr|mntr)$/.test(data.toString('latin1', 12, 16))
  )
    return [archive('6.2.3', 'the output intent has no profile of a monitor or a printer in these colours')]
  const faults: string[] = []
  const tags = new Map<string, Buffer>()
  for (let i = 0, at = 132; i < data.readUInt32BE(128); i++, at += 12) {
    const [from, length] = [data.readUInt32BE(at + 4), data.readUInt32BE(at + 8)]
    tags.set(data.toString('latin1', at, at + 4), from % 4 === 0 ? data.subarray(from, from + length) : Buffer.alloc(0))
  }
  for (const tag of expected)
    if (!/^(mluc|XYZ |sf32|para)/.test(tags.get(tag)?.toString('latin1') ?? ''))
      faults.push(archive('6.2.3', `the profile has no ${tag}`))
  const usesRgb = [...file.streams.values()].some(
    ({ dictionary }) => name(dictionary.get('ColorSpace')) === 'DeviceRGB',
  )
  if (usesRgb && space !== 'RGB ') faults.push(archive('6.2.4.3', 'DeviceRGB beside a profile of other colours'))
  if (stream!.dictionary.get('N') !== (space === 'RGB ' ? 3 : 1))
    faults.push(archive('6.2.3', 'the profile has another number of colours than it says'))
  return faults
}
