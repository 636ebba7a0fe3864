import type { RouteData } from '@vigia/contract/route'
import type { getTeam } from '@vigia/contract/team'
import { formatCount, formatInstantDate } from '@vigia/contract/text'
import { memberRoleWords } from '../lib/member-roles.ts'

type Team = RouteData<typeof getTeam>
export type Person = Team['pessoas'][number]
export type Invitation = Team['convites'][number]
export type Rights = Pick<Person, 'papel' | 'idsEmpresas' | 'acessoAte'>

// An end at 00:00 means the day before is the last day.
const lastDay = (end: string) => new Date(Date.parse(end) - 1).toISOString()

/** Rights of a member in one line. */
export function rightsLine({ papel, idsEmpresas, acessoAte }: Rights): string {
  const of = idsEmpresas === null ? 'todas as empresas' : formatCount(idsEmpresas.length, 'empresa', 'empresas')
  return `${memberRoleWords[papel].label} · ${of}${acessoAte ? ` · até ${formatInstantDate(lastDay(acessoAte))}` : ''}`
}

/** The last day of an access, as a form takes it; empty: without an end. */
export function lastDayOf({ acessoAte }: Rights): string {
  if (!acessoAte) return ''
  const day = new Intl.DateTimeFormat('sv', { timeZone: 'America/Sao_Paulo' })
  return day.format(new Date(Date.parse(acessoAte) - 1))
}
