import {
  type Code,
  participationFilter,
  printDacte,
  printDanfe,
  statusFilter,
  tipoDFe,
} from '@vigia/contract/documents'
import { manifestationTypes, manifestCte, manifestNfe } from '@vigia/contract/manifestation'
import { isOfCte } from '@vigia/dfe/chave'
import { type AnswerType, cteAnswers, nfeAnswers } from './manifestation/answer-types.ts'

/** What differs between the NF-e list and the CT-e list. */
export interface DocumentKind {
  type: 'nfe' | 'cte'
  tipoDFe: 0 | 2
  path: string
  title: string
  subtitle: string
  /** Title of the table. */
  heading: string
  /** One document, as in the name of its file. */
  short: string
  one: string
  many: string
  none: string
  /** "da", "do": before the name of one document. */
  of: string
  /** "as", "os": before their number. */
  the: string
  selectedOne: string
  selectedMany: string
  /** Those that have just come. */
  newOne: string
  newMany: string
  participations: readonly Code[]
  statuses: readonly Code[]
  print: typeof printDanfe | typeof printDacte
  /** Name of the printed form. */
  form: string
  /** What the menu "Manifestar" offers. */
  answers: readonly AnswerType[]
  manifest: typeof manifestNfe | typeof manifestCte
}

export const nfe: DocumentKind = {
  type: 'nfe',
  tipoDFe: tipoDFe.nfe,
  path: '/notas-fiscais',
  title: 'Notas Fiscais',
  subtitle: 'As NF-e que a SEFAZ entregou às suas empresas.',
  heading: 'Todas as Notas Fiscais',
  short: 'NF-e',
  one: 'nota fiscal',
  many: 'notas fiscais',
  none: 'Nenhuma nota fiscal',
  of: 'da',
  the: 'as',
  selectedOne: 'selecionada',
  selectedMany: 'selecionadas',
  newOne: 'nota nova',
  newMany: 'notas novas',
  participations: participationFilter.nfe,
  statuses: statusFilter.nfe,
  print: printDanfe,
  form: 'DANFE',
  answers: nfeAnswers(manifestationTypes.nfe),
  manifest: manifestNfe,
}

export const cte: DocumentKind = {
  type: 'cte',
  tipoDFe: tipoDFe.cte,
  path: '/cte',
  title: 'Conhecimento de Transporte Eletrônico',
  subtitle: 'Os CT-e em que as suas empresas aparecem.',
  heading: 'Todos os CTe',
  short: 'CT-e',
  one: 'conhecimento',
  many: 'conhecimentos',
  none: 'Nenhum conhecimento',
  of: 'do',
  the: 'os',
  selectedOne: 'selecionado',
  selectedMany: 'selecionados',
  newOne: 'CT-e novo',
  newMany: 'CT-e novos',
  participations: participationFilter.cte,
  statuses: statusFilter.cte,
  print: printDacte,
  form: 'DACTE',
  answers: cteAnswers(manifestationTypes.cte),
  manifest: manifestCte,
}

export const documentKinds: Readonly<Record<DocumentKind['type'], DocumentKind>> = { nfe, cte }

/** The kind of a document, by the model in its chave. */
export function kindOf(chave: string): DocumentKind {
  return isOfCte(chave) ? cte : nfe
}
