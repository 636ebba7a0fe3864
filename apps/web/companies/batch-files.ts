import { batchMax } from '@vigia/contract/companies'

/** What a person chose at once. */
export interface ChosenFiles {
  certificates: File[]
  /** Lists of passwords. */
  lists: File[]
  /** What is no certificate, and why. */
  left: { name: string; why: string }[]
}

export function sortFiles(files: readonly File[]): ChosenFiles {
  const chosen: ChosenFiles = { certificates: [], lists: [], left: [] }
  for (const file of files) {
    const { name } = file
    if (/\.(csv|txt)$/i.test(name)) chosen.lists.push(file)
    else if (!/\.(pfx|p12)$/i.test(name)) chosen.left.push({ name, why: 'não é um arquivo .pfx nem .p12' })
    else if (file.size > batchMax.fileBytes) chosen.left.push({ name, why: 'tem mais de 32 KB' })
    else if (file.size === 0) chosen.left.push({ name, why: 'está vazio' })
    else if (chosen.certificates.length === batchMax.files)
      chosen.left.push({ name, why: `passa de ${batchMax.files} certificados: envie-o depois destes` })
    else chosen.certificates.push(file)
  }
  return chosen
}

/** The text of a list, as newer programs write it or as a spreadsheet of Windows does. */
export async function readText(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

// Of a body of 256 kB, with names and passwords of twenty files beside it.
const callCharactersMax = 200_000

/** How many of `files`, from `start` on, go into one call. */
export function countForCall(files: readonly Pick<File, 'size'>[], start: number): number {
  let characters = 0
  let count = 0
  for (const { size } of files.slice(start, start + batchMax.filesOfCall)) {
    characters += Math.ceil(size / 3) * 4
    if (count > 0 && characters > callCharactersMax) break
    count++
  }
  return count
}

export function toBase64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result).split(',', 2)[1] ?? ''))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })
}
