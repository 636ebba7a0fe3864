import type { CompanyRow } from '@vigia/contract/companies'
import { pendingLists } from '@vigia/contract/pending'
import { formatInteger, formatList, writeBrasiliaTime } from '@vigia/contract/text'
import type { Dashboard } from '@vigia/contract/workspace'
import { type CertificateState, capturesOf, certificateState, isTroubled } from '../lib/capture.ts'
import { companyText } from '../lib/companies.ts'

/** Something that needs a person: how often, what, and the screen for it. */
export interface Pending {
  count: number
  words: string
  to: string
  /** Whom it is about, where that are few. */
  detail: string
  /** Captures or answers are blocked until a person acts. */
  urgent: boolean
  /** Information only, which can be dismissed. */
  news: boolean
}

type Counts = NonNullable<Dashboard['pendencias']>

/** Tasks for a person, most urgent first: risks of losing documents, deadlines, information. */
export function pendingOf(counts: Counts, all: readonly CompanyRow[], now: Date): Pending[] {
  const companies = all.filter(({ ativa }) => ativa)
  const lists = pendingLists(writeBrasiliaTime(now).slice(0, 10))
  const troubled = companies.filter((company) => capturesOf(company, now).some(isTroubled))
  const certified = (state: CertificateState) => companies.filter((company) => certificateState(company, now) === state)
  const [ended, ending] = [certified('vencido'), certified('a-vencer')]
  const line = (
    count: number,
    one: string,
    many: string,
    to: string,
    rest: Partial<Pick<Pending, 'urgent' | 'news' | 'detail'>> = {},
  ) => ({ count, words: count === 1 ? one : many, to, detail: '', urgent: false, news: false, ...rest })
  // A count with the address of its list.
  const listed = (
    name: keyof Counts,
    one: string,
    many: string,
    rest: Partial<Pick<Pending, 'urgent' | 'news'>> = {},
  ) => line(counts[name], one, many, lists[name].to, rest)
  return [
    line(
      troubled.length,
      'empresa com problema na captura',
      'empresas com problema na captura',
      '/empresas?so=problema',
      { urgent: true, detail: namesOf(troubled, all) },
    ),
    line(ended.length, 'certificado vencido', 'certificados vencidos', certificatesPath(ended, 'vencido'), {
      urgent: true,
      detail: namesOf(ended, all),
    }),
    listed('vencemNfe', 'nota com prazo de resposta até amanhã', 'notas com prazo de resposta até amanhã', {
      urgent: true,
    }),
    listed('vencemCte', 'CTe com prazo de desacordo até amanhã', 'CTe com prazo de desacordo até amanhã', {
      urgent: true,
    }),
    listed('alertasCriticos', 'alerta crítico', 'alertas críticos', { urgent: true }),
    listed('alertasAltos', 'alerta alto', 'alertas altos'),
    listed(
      'aguardamSegunda',
      'resposta aguarda aprovação: nada é enviado até lá',
      'respostas aguardam aprovação: nada é enviado até lá',
    ),
    listed(
      'mudaramNfe',
      'nota cancelada ou corrigida depois de conferida',
      'notas canceladas ou corrigidas depois de conferidas',
    ),
    listed(
      'mudaramCte',
      'CTe cancelado ou corrigido depois de conferido',
      'CTe cancelados ou corrigidos depois de conferidos',
    ),
    listed(
      'confirmacoesSugeridas',
      'nota com Confirmação sugerida por uma regra',
      'notas com Confirmação sugerida por uma regra',
    ),
    listed(
      'desconhecimentosPreparados',
      'nota com Desconhecimento preparado por uma regra',
      'notas com Desconhecimento preparado por uma regra',
    ),
    line(
      ending.length,
      'certificado vence em até 30 dias',
      'certificados vencem em até 30 dias',
      certificatesPath(ending, 'a-vencer'),
      { detail: namesOf(ending, all) },
    ),
    listed(
      'resumos',
      'nota só com o resumo: responda para receber o XML',
      'notas só com o resumo: responda para receber o XML',
    ),
    listed(
      'aguardandoResposta',
      'nota com Ciência espera a resposta final',
      'notas com Ciência esperam a resposta final',
    ),
    listed('alertasMedios', 'alerta médio', 'alertas médios'),
    listed('fretesAConferir', 'CTe com cobrança a conferir', 'CTe com cobrança a conferir'),
    listed('parcelasVencidas', 'parcela vencida', 'parcelas vencidas', {
      news: true,
    }),
    listed('canceladasNfe', 'nota cancelada neste mês', 'notas canceladas neste mês', { news: true }),
    listed('canceladosCte', 'CTe cancelado neste mês', 'CTe cancelados neste mês', { news: true }),
  ].filter(({ count }) => count > 0)
}

const namedMax = 3

function namesOf(companies: readonly CompanyRow[], all: readonly CompanyRow[]): string {
  const names = companies.map((company) => companyText(company, all))
  const rest = names.length - namedMax
  return formatList(rest > 0 ? [...names.slice(0, namedMax), `mais ${formatInteger(rest)}`] : names)
}

function certificatesPath([only, ...others]: readonly CompanyRow[], state: CertificateState): string {
  return only && others.length === 0 ? `/empresas/editar/${only.id}` : `/empresas?so=${state}`
}
