import { type BatchFile, batchMax } from '@vigia/contract/companies'
import { formatInteger } from '@vigia/contract/text'

/** The files that a person chose at once, sorted. */
export interface ChosenFiles {
  certificates: File[]
  /** Lists of passwords. */
  lists: File[]
  /** Names of rejected files, by reason. */
  left: Map<string, string[]>
}

export function sortFiles(files: readonly File[]): ChosenFiles {
  const chosen: ChosenFiles = { certificates: [], lists: [], left: new Map() }
  const leave = (name: string, why: string) => chosen.left.set(why, [...(chosen.left.get(why) ?? []), name])
  for (const file of files) {
    const { name } = file
    if (/\.(csv|txt)$/i.test(name)) chosen.lists.push(file)
    else if (!/\.(pfx|p12)$/i.test(name)) leave(name, 'Não é .pfx nem .p12')
    else if (file.size > batchMax.fileBytes) leave(name, 'Mais de 32 KB')
    else if (file.size === 0) leave(name, 'Vazio')
    else if (chosen.certificates.length === batchMax.files)
      leave(name, `Além de ${formatInteger(batchMax.files)} certificados, para enviar depois destes`)
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

// Share of the certificates in a body of 256 kB, beside names and passwords of twenty files.
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

/** Groups the files of a batch by problem, because a shared problem is then shown once. */
export function groupProblems(files: readonly BatchFile[]) {
  const groups = Map.groupBy(files, (file) => (file.situacao === 'problema' && file.mensagem) || file)
  return [...groups.values()] as [BatchFile, ...BatchFile[]][]
}
