import type { CompanyRow, Dashboard } from '../lib/answers.ts'
import { capturesOf, isTroubled } from '../lib/capture.ts'
import { lastDays, toDay } from '../ui/days.ts'

/** Something that asks for a person: how often, what, and where it is answered. */
export interface Pending {
  count: number
  words: string
  to: string
  /** Nothing comes, or nothing can be answered, until somebody acts. */
  urgent: boolean
}

const soonDays = 30

const untold = { resumos: 0, aguardandoResposta: 0, canceladasNfe: 0, canceladosCte: 0 }

/** What is known to ask for a person, from what loses documents to what only wants to be known. */
export function pendingOf(counts: Dashboard['pendencias'], companies: readonly CompanyRow[], now: Date): Pending[] {
  const { resumos, aguardandoResposta, canceladasNfe, canceladosCte } = counts ?? untold
  const { from, to } = lastDays(now, 89)
  const recent = (status: number) => `/notas-fiscais?status=${status}&de=${from}&ate=${to}`
  const troubled = companies.filter((company) => capturesOf(company, now).some(isTroubled))
  const soon = toDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + soonDays))
  const endOf = ({ validadeCertificadoA1 }: CompanyRow) => new Date(validadeCertificadoA1 ?? Number.NaN)
  const ended = companies.filter((company) => endOf(company) < now)
  const ending = companies.filter((company) => endOf(company) >= now && toDay(endOf(company)) <= soon)
  const line = (count: number, one: string, many: string, to: string, urgent = false) => ({
    count,
    words: count === 1 ? one : many,
    to,
    urgent,
  })
  return [
    line(
      troubled.length,
      'empresa com problema na captura',
      'empresas com problema na captura',
      '/empresas?so=problema',
      true,
    ),
    line(ended.length, 'certificado vencido', 'certificados vencidos', placeOf(ended), true),
    line(ending.length, 'certificado vence em até 30 dias', 'certificados vencem em até 30 dias', placeOf(ending)),
    line(
      resumos,
      'nota só com o resumo: responda para receber o XML',
      'notas só com o resumo: responda para receber o XML',
      recent(1),
    ),
    line(
      aguardandoResposta,
      'nota com Ciência espera a resposta final',
      'notas com Ciência esperam a resposta final',
      recent(8),
    ),
    line(canceladasNfe, 'nota cancelada neste mês', 'notas canceladas neste mês', '/notas-fiscais?status=3'),
    line(canceladosCte, 'CTe cancelado neste mês', 'CTe cancelados neste mês', '/cte?status=3'),
  ].filter(({ count }) => count > 0)
}

function placeOf([only, ...others]: readonly CompanyRow[]): string {
  return only && others.length === 0 ? `/empresas/editar/${only.id}` : '/empresas?so=certificado'
}
