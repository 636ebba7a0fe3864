import { formatInteger, formatList } from '@vigia/contract/text'
import { capturesOf, isTroubled, soonDays } from '../lib/capture.ts'
import type { CompanyRow, Dashboard } from '../lib/response-adapter.ts'
import { lastDays, toDay } from '../ui/period/days.ts'

/** Something that needs a person: how often, what, and the screen for it. */
export interface Pending {
  count: number
  words: string
  to: string
  /** Whom it is about, where that are few. */
  detail: string
  /** Nothing arrives, or nothing can be answered, until somebody acts. */
  urgent: boolean
  /** It only tells something: who has read it can put it away. */
  news: boolean
}

const untold = {
  resumos: 0,
  aguardandoResposta: 0,
  canceladasNfe: 0,
  canceladosCte: 0,
  vencemNfe: 0,
  vencemCte: 0,
  mudaramNfe: 0,
  mudaramCte: 0,
  confirmacoesSugeridas: 0,
  desconhecimentosPreparados: 0,
  aguardamSegunda: 0,
}

/** What needs a person, the most urgent first: what can lose documents, then deadlines, then information. */
export function pendingOf(counts: Dashboard['pendencias'], all: readonly CompanyRow[], now: Date): Pending[] {
  const companies = all.filter(({ ativa }) => ativa)
  const {
    resumos,
    aguardandoResposta,
    canceladasNfe,
    canceladosCte,
    vencemNfe,
    vencemCte,
    mudaramNfe,
    mudaramCte,
    aguardamSegunda,
    ...suggested
  } = {
    ...untold,
    ...counts,
  }
  // The deadline that ends first leads.
  const byDeadline = (days: number) => {
    const { from, to } = lastDays(now, days - 1)
    return `de=${from}&ate=${to}&ordem=prazo`
  }
  const recent = (status: number) => `/notas-fiscais?status=${status}&${byDeadline(90)}`
  const troubled = companies.filter((company) => capturesOf(company, now).some(isTroubled))
  const soon = toDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + soonDays))
  const endOf = ({ validadeCertificadoA1 }: CompanyRow) => new Date(validadeCertificadoA1 ?? Number.NaN)
  const revoked = companies.filter(({ certificadoRevogadoEm }) => certificadoRevogadoEm !== null)
  const others = companies.filter((company) => !revoked.includes(company))
  const ended = others.filter((company) => endOf(company) < now)
  const ending = others.filter((company) => endOf(company) >= now && toDay(endOf(company)) <= soon)
  const line = (
    count: number,
    one: string,
    many: string,
    to: string,
    rest: Partial<Pick<Pending, 'urgent' | 'news' | 'detail'>> = {},
  ) => ({ count, words: count === 1 ? one : many, to, detail: '', urgent: false, news: false, ...rest })
  return [
    line(
      troubled.length,
      'empresa com problema na captura',
      'empresas com problema na captura',
      '/empresas?so=problema',
      { urgent: true, detail: namesOf(troubled) },
    ),
    line(revoked.length, 'certificado revogado', 'certificados revogados', certificatesPath(revoked), {
      urgent: true,
      detail: namesOf(revoked),
    }),
    line(ended.length, 'certificado vencido', 'certificados vencidos', certificatesPath(ended), {
      urgent: true,
      detail: namesOf(ended),
    }),
    line(
      vencemNfe,
      'nota com prazo de resposta até amanhã',
      'notas com prazo de resposta até amanhã',
      // The longest deadline is 180 days, and what is issued in contingency is authorised later.
      `/notas-fiscais?${byDeadline(190)}`,
      { urgent: true },
    ),
    line(
      vencemCte,
      'CTe com prazo de desacordo até amanhã',
      'CTe com prazo de desacordo até amanhã',
      `/cte?${byDeadline(55)}`,
      { urgent: true },
    ),
    line(
      aguardamSegunda,
      'resposta aguarda segunda pessoa: nada é enviado até lá',
      'respostas aguardam segunda pessoa: nada é enviado até lá',
      '/aprovacoes',
    ),
    line(
      mudaramNfe,
      'nota mudou depois de conferida ou usada',
      'notas mudaram depois de conferidas ou usadas',
      '/notas-fiscais?periodo=todos&marca=mudaram-depois',
    ),
    line(
      mudaramCte,
      'CTe mudou depois de conferido ou usado',
      'CTe mudaram depois de conferidos ou usados',
      '/cte?periodo=todos&marca=mudaram-depois',
    ),
    line(
      suggested.confirmacoesSugeridas,
      'nota com Confirmação sugerida por uma regra',
      'notas com Confirmação sugerida por uma regra',
      '/notas-fiscais?periodo=todos&marca=confirmacao-sugerida',
    ),
    line(
      suggested.desconhecimentosPreparados,
      'nota com Desconhecimento preparado por uma regra',
      'notas com Desconhecimento preparado por uma regra',
      '/notas-fiscais?periodo=todos&marca=desconhecimento-preparado',
    ),
    line(
      ending.length,
      'certificado vence em até 30 dias',
      'certificados vencem em até 30 dias',
      certificatesPath(ending),
      { detail: namesOf(ending) },
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
    line(canceladasNfe, 'nota cancelada neste mês', 'notas canceladas neste mês', '/notas-fiscais?status=3', {
      news: true,
    }),
    line(canceladosCte, 'CTe cancelado neste mês', 'CTe cancelados neste mês', '/cte?status=3', { news: true }),
  ].filter(({ count }) => count > 0)
}

const namedMax = 3

function namesOf(companies: readonly CompanyRow[]): string {
  const names = companies.map(({ razaoSocial }) => razaoSocial)
  const rest = names.length - namedMax
  return formatList(rest > 0 ? [...names.slice(0, namedMax), `mais ${formatInteger(rest)}`] : names)
}

function certificatesPath([only, ...others]: readonly CompanyRow[]): string {
  return only && others.length === 0 ? `/empresas/editar/${only.id}` : '/empresas?so=certificado'
}
