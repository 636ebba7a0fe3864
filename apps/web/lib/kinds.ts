import { listPath, participationFilter, statusFilter } from '@vigia/contract/codes'
import { printDacte, printDanfe } from '@vigia/contract/document-files'
import { manifestCte, manifestNfe } from '@vigia/contract/manifestation'
import type { ReportSubject } from '@vigia/contract/reports'
import { families } from '@vigia/dfe/families/all'
import { cte } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { parseKey } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { answerTypes } from './answer-types.ts'

const given = (family: Family, ending: 'a' | 'o') => ({
  type: family.id,
  tipoDFe: family.code,
  path: listPath(family.code),
  /** One document, as in the name of its file. */
  short: family.name,
  participations: participationFilter[family.id],
  statuses: statusFilter[family.id],
  /** Entries of the menu "Manifestar". */
  answers: answerTypes(family),
  /** Article of the documents and ending of their adjectives: "emitida", "emitido". */
  ending,
  selectedOne: `selecionad${ending}`,
  selectedMany: `selecionad${ending}s`,
})

/** Texts and settings that differ between the lists of the families. */
export interface DocumentKind extends ReturnType<typeof given> {
  /** In the navigation. */
  label: string
  /** Search words for Ctrl+K. */
  keywords: string
  title: string
  subtitle: string
  /** Title of the table. */
  heading: string
  one: string
  many: string
  none: string
  /** Documents that have just come. */
  newOne: string
  newMany: string
  /** How many the first capture has brought. */
  arrived: readonly [one: string, many: string]
  /** Texts of the agenda for a capture and for documents to answer. */
  agenda: { capture: string; one: string; many: string }
  /** Leads to the list. */
  seeAll: string
  /** Leads to one document. */
  openOne: string
  /** "Procurar … nas notas". */
  among: string
  /** Report subjects that count its documents; the first is what companies pay. */
  counted: readonly [Counted, ...Counted[]]
  print: typeof printDanfe | typeof printDacte
  /** Name of the printed form. */
  form: string
  manifest: typeof manifestNfe | typeof manifestCte
}

type Counted = { code: ReportSubject; label: string }

export const documentKinds: Readonly<Record<FamilyId, DocumentKind>> = {
  nfe: {
    ...given(nfe, 'a'),
    label: 'Notas Fiscais',
    keywords: 'nfe nf-e danfe',
    title: 'Notas Fiscais',
    subtitle: 'As NF-e que a SEFAZ entregou às suas empresas.',
    heading: 'Todas as Notas Fiscais',
    one: 'nota fiscal',
    many: 'notas fiscais',
    none: 'Nenhuma nota fiscal',
    newOne: 'nota nova',
    newMany: 'notas novas',
    arrived: ['nota fiscal chegou', 'notas fiscais chegaram'],
    agenda: { capture: 'NF-e', one: 'nota', many: 'notas' },
    seeAll: 'Ver notas fiscais',
    openOne: 'Abrir esta nota',
    among: 'nas notas',
    counted: [
      { code: 'compras', label: 'Incluídas nas compras' },
      { code: 'emitidas', label: 'Incluídas nas emitidas' },
    ],
    print: printDanfe,
    form: 'DANFE',
    manifest: manifestNfe,
  },
  cte: {
    ...given(cte, 'o'),
    label: 'CTe',
    keywords: 'ct-e dacte frete conhecimento',
    title: 'Conhecimento de Transporte Eletrônico',
    subtitle: 'Os CT-e em que as suas empresas aparecem.',
    heading: 'Todos os CTe',
    one: 'conhecimento',
    many: 'conhecimentos',
    none: 'Nenhum conhecimento',
    newOne: 'CT-e novo',
    newMany: 'CT-e novos',
    arrived: ['CT-e chegou', 'CT-e chegaram'],
    agenda: { capture: 'CTe', one: 'CTe', many: 'CTe' },
    seeAll: 'Ver CT-e',
    openOne: 'Abrir este CT-e',
    among: 'nos CT-e',
    counted: [{ code: 'fretes', label: 'Incluídos nos fretes pagos' }],
    print: printDacte,
    form: 'DACTE',
    manifest: manifestCte,
  },
}

/** In the order of the navigation. */
export const kinds = families.map(({ id }) => documentKinds[id])

/** The list of the documents that a report counts. */
export const subjectPath = (subject: ReportSubject) =>
  kinds.find(({ counted }) => counted.some(({ code }) => code === subject))?.path

/** The kind of a document; a text that is no chave is taken for an NF-e's. */
export function kindOf(chave: string): DocumentKind {
  return documentKinds[parseKey(chave)?.family ?? nfe.id]
}
