import { listPath } from '@vigia/contract/codes'
import type { reformFilters } from '@vigia/contract/documents'
import { familyOf } from '@vigia/dfe/families/lookup'
import { documentKinds } from '../lib/kinds.ts'
import { monthPeriod } from '../ui/period/days.ts'

/** The months since IBS and CBS are informed, newest first: `2026-11`. */
export function monthsUntil(today: Date): string[] {
  const months: string[] = []
  for (let date = new Date(today.getFullYear(), today.getMonth(), 1); date.getFullYear() >= 2026; ) {
    months.push(`${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`)
    date = new Date(date.getFullYear(), date.getMonth() - 1, 1)
  }
  return months
}

/** Filter for the documents behind a number. */
export interface Behind {
  month: string
  company: string
  tipoDFe: number
  reform?: (typeof reformFilters)[number]
  supplier?: string
  cfop?: string
  ncm?: string
  classification?: string
}

/** The list with exactly the documents behind a number. */
export function listAddress({ month, company, tipoDFe, reform, supplier, cfop, ncm, classification }: Behind): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const { from, to } = monthPeriod(new Date(year, number - 1, 1))
  const { path, counted } = documentKinds[familyOf(tipoDFe).id]
  const params = new URLSearchParams({ de: from, ate: to, contaComo: counted[0].code })
  if (company) params.set('empresa', company)
  if (reform) params.set('reforma', reform)
  const lines = { participante: supplier, cfop, ncm, classificacao: classification }
  const line = Object.entries(lines).find(([, key]) => key)
  if (line) params.set('linha', line.join(':'))
  return `${path}?${params}`
}

/** The list with the panel of a document. */
export function documentAddress({ idDFe, tipoDFe }: { idDFe: string; tipoDFe: number }): string {
  return `${listPath(tipoDFe)}?${new URLSearchParams({ periodo: 'todos', documento: idDFe })}`
}
