import { capturesOf, isTroubled, soonDays } from '../lib/capture.ts'
import type { CompanyRow, Dashboard } from '../lib/response-adapter.ts'
import { lastDays, toDay } from '../ui/period/days.ts'

/** Something that needs a person: how often, what, and the screen for it. */
export interface Pending {
  count: number
  words: string
  to: string
  /** Nothing arrives, or nothing can be answered, until somebody acts. */
  urgent: boolean
}

const untold = { resumos: 0, aguardandoResposta: 0, canceladasNfe: 0, canceladosCte: 0 }

/** What needs a person, the most urgent first: what can lose documents, then deadlines, then information. */
export function pendingOf(counts: Dashboard['pendencias'], companies: readonly CompanyRow[], now: Date): Pending[] {
  const { resumos, aguardandoResposta, canceladasNfe, canceladosCte } = counts ?? untold
  const { from, to } = lastDays(now, 89)
  // The deadline that ends first leads.
  const recent = (status: number) => `/notas-fiscais?status=${status}&de=${from}&ate=${to}&ordem=prazo`
  const troubled = companies.filter((company) => capturesOf(company, now).some(isTroubled))
  const soon = toDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + soonDays))
  const endOf = ({ validadeCertificadoA1 }: CompanyRow) => new Date(validadeCertificadoA1 ?? Number.NaN)
  const revoked = companies.filter(({ certificadoRevogadoEm }) => certificadoRevogadoEm !== null)
  const others = companies.filter((company) => !revoked.includes(company))
  const ended = others.filter((company) => endOf(company) < now)
  const ending = others.filter((company) => endOf(company) >= now && toDay(endOf(company)) <= soon)
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
    line(revoked.length, 'certificado revogado', 'certificados revogados', certificatesPath(revoked), true),
    line(ended.length, 'certificado vencido', 'certificados vencidos', certificatesPath(ended), true),
    line(
      ending.length,
      'certificado vence em até 30 dias',
      'certificados vencem em até 30 dias',
      certificatesPath(ending),
    ),
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

function certificatesPath([only, ...others]: readonly CompanyRow[]): string {
  return only && others.length === 0 ? `/empresas/editar/${only.id}` : '/empresas?so=certificado'
}
