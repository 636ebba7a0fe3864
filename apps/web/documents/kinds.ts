import { type Code, participationFilter, statusFilter, tipoDFe } from '@vigia/contract/codes'
import { printDacte, printDanfe } from '@vigia/contract/documents'

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
  participations: readonly Code[]
  statuses: readonly Code[]
  print: typeof printDanfe | typeof printDacte
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
  participations: participationFilter.nfe,
  statuses: statusFilter.nfe,
  print: printDanfe,
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
  participations: participationFilter.cte,
  statuses: statusFilter.cte,
  print: printDacte,
}
