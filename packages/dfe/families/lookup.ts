import type { XmlElement } from '@vigia/xml/parse'
import { families } from './all.ts'
import type { Answer, DocumentKey, EventKind, Family, Status } from './family.ts'
import type { FamilyId } from './id.ts'

/** The family with that code (`TipoDFe`); throws for a code that no family has. */
export function familyOf(code: number): Family {
  const family = families.find((family) => family.code === code)
  if (!family) throw new Error(`no family of documents has the code ${code}`)
  return family
}

/** The family with that id. */
export function familyById(id: FamilyId): Family {
  const family = families.find((family) => family.id === id)
  if (!family) throw new Error(`no family of documents is called ${id}`)
  return family
}

/** The family of a file, by namespace (if any) and root: an <evento> is of the NF-e or NFS-e. */
export function familyOfRoot(root: XmlElement): Family | undefined {
  const namespace = root.attributes[root.prefix === '' ? 'xmlns' : `xmlns:${root.prefix}`]?.trim()
  return families.find(
    (family) => Object.hasOwn(family.roots, root.name) && (!namespace || namespace === family.namespace),
  )
}

/** The parts of a chave de acesso of any family; null when it has the shape of none. */
export function parseKey(text: string): DocumentKey | null {
  for (const { key } of families) {
    const parsed = key.parse(text)
    if (parsed) return parsed
  }
  return null
}

/** The parts of a chave that was stored, and so was read once; throws for any other text. */
export function keyOf(chave: string): DocumentKey {
  const key = parseKey(chave)
  if (!key) throw new Error(`not a chave de acesso: ${chave}`)
  return key
}

/** The family of a chave that was stored. */
export function familyOfKey(chave: string): Family {
  return familyById(keyOf(chave).family)
}

/** Finds a chave of any family in pasted text; null if there is none. */
export function findKey(text: string): string | null {
  for (const { key } of families) {
    const found = key.find(text)
    if (found) return found
  }
  return null
}

/** The event kind with that code; undefined for codes newer than the table, which have no effect (MOC NF-e 7.0; MOC CT-e 4.00 §3.7.1). */
export function eventKind(family: FamilyId, tpEvento: number): EventKind | undefined {
  return familyById(family).events.get(tpEvento)
}

/** The answer that registers that event; undefined: no company answers with it. */
export function answerOf(family: FamilyId, tpEvento: number): Answer | undefined {
  return familyById(family).answers.find((answer) => answer.tpEvento === tpEvento)
}

const statuses = families.flatMap((family) => family.statuses)
const codesOf = (those: readonly Status[]) => [...new Set(those.map(({ code }) => code))].sort((a, b) => a - b)

/** Statuses of documents that count in sums. */
export const standingStatuses: readonly number[] = codesOf(statuses.filter(({ stands }) => stands))

/** Statuses that nothing changes, and after which nothing can be answered. */
export const finalStatuses: readonly number[] = codesOf(statuses.filter(({ final }) => final))

/** Names of the status codes by which documents are filtered: situation of the document, manifestação do destinatário, carta de correção (NT 2020.001; MOC 7.0). */
export const statusNames: Readonly<Record<number, string>> = Object.fromEntries(
  statuses.map(({ code, name }) => [code, name]),
)
