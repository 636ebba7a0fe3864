import { type CompanyDetail, type CompanyRow, getCompany, listCompanies } from '@vigia/contract/companies'
import { ufByCode } from '@vigia/dfe/uf'
import { findOutage, type Outage, outageSentence } from '../platform/circuit.ts'
import type { Context } from '../platform/context.ts'
import { handle } from '../platform/http.ts'
import { nsuText, type Service, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'
import * as companies from './companies.ts'

type Company = Awaited<ReturnType<typeof companies.listCompanies>>[number]

const states = {
  waiting: 'aguardando',
  capturing: 'capturando',
  blocked: 'bloqueada',
  failed: 'falha',
  stopped: 'parada',
} as const

export const companyRoutes = [
  handle(listCompanies, async (ctx, { query, session }) => {
    const rows = await companies.listCompanies(ctx, session.workspaceId, query.busca)
    const outages = await findOutages(ctx)
    return { data: rows.map((row) => toRow(row, outages)) }
  }),

  handle(getCompany, async (ctx, { query, session }) => ({
    data: toDetail(await companies.getCompany(ctx, session.workspaceId, query.id), await findOutages(ctx)),
  })),
]

type Outages = Record<Service, Outage | null>

async function findOutages(ctx: Pick<Context, 'db' | 'config'>): Promise<Outages> {
  const { nfe, cte } = ctx.config.sefaz.endpoints.distribution
  return { nfe: await findOutage(ctx, nfe), cte: await findOutage(ctx, cte) }
}

function toRow(company: Company, outages: Outages): CompanyRow {
  const lastSuccess = (service: ServiceCode) => {
    const line = company.lines.find((line) => line.service === service)
    return line?.proved ? (line.last_success_at?.toISOString() ?? null) : null
  }
  return {
    id: company.public_id,
    razaoSocial: company.name,
    cnpj: company.cnpj,
    ativa: company.active,
    ultimaSincronizacaoNFe: lastSuccess(serviceCodes.nfe),
    ultimaSincronizacaoCTe: lastSuccess(serviceCodes.cte),
    validadeCertificadoA1: company.valid_to?.toISOString() ?? null,
    captura: company.lines.map((line) => toCapture(line, company.automatic, outages)),
  }
}

const day = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeZone: 'America/Sao_Paulo' })

function toDetail(company: Awaited<ReturnType<typeof companies.getCompany>>, outages: Outages): CompanyDetail {
  const nfe = (role: number) => (company.shown_nfe & (1 << role)) !== 0
  const cte = (role: number) => (company.shown_cte & (1 << role)) !== 0
  const capture = (service: ServiceCode) => {
    const line = company.lines.find((line) => line.service === service)
    const { ultimoNsu, mensagem } = line
      ? toCapture(line, company.automatic, outages)
      : { ultimoNsu: nsuText(0n), mensagem: '' }
    return { ultimoNsu, mensagemSincronizacao: mensagem }
  }
  return {
    razaoSocial: company.name,
    cnpj: company.cnpj,
    email: company.email ?? '',
    sincronizacaoAutomatica: company.automatic,
    empresaUf: { codUf: company.uf, uf: ufByCode(company.uf)?.uf ?? '' },
    dataValidadeCertificadoDigital: company.valid_to && day.format(company.valid_to),
    configuracaoNFe: {
      emitenteNFe: nfe(0),
      destinatarioNFe: nfe(1),
      transportadorNFe: nfe(2),
      terceiroNFe: nfe(3),
      manifestarCienciaAutomaticamente: company.acknowledges_since !== null,
      ...capture(serviceCodes.nfe),
    },
    configuracaoCTe: {
      emitenteCTe: cte(0),
      remetenteCTe: cte(4),
      destinatarioCTe: cte(1),
      expedidorCTe: cte(5),
      recebedorCTe: cte(6),
      tomadorCTe: cte(7),
      terceiroCTe: cte(3),
      ...capture(serviceCodes.cte),
    },
  }
}

function toCapture(
  line: Company['lines'][number],
  automatic: boolean,
  outages: Outages,
): CompanyRow['captura'][number] {
  const outage = outages[serviceOf(line.service)]
  const common = {
    servico: serviceOf(line.service),
    // Whoever does not want to be captured by the hour has a next query only after asking for one.
    proximaConsulta: (automatic || line.wanted) && line.next_at ? line.next_at.toISOString() : null,
  }
  const byHand = automatic ? [] : [notAutomatic]
  // What others know of this CNPJ is not shown to somebody whose certificate may be made up.
  if (!line.proved) {
    const nothing = { ultimoNsu: nsuText(0n), maxNsu: nsuText(0n) }
    return line.refused
      ? { ...common, ...nothing, estado: 'parada', mensagem: [line.refused, ...byHand].join(' ') }
      : {
          ...common,
          ...nothing,
          estado: 'aguardando',
          mensagem: ['A primeira consulta com este certificado confirma que ele é aceito pela SEFAZ.', ...byHand].join(
            ' ',
          ),
        }
  }
  return {
    ...common,
    estado: line.leased ? 'capturando' : outage && line.state === 'waiting' ? 'falha' : states[line.state],
    mensagem: [messageOf(line, outage), ...byHand].join(' '),
    ultimoNsu: nsuText(line.last_nsu),
    maxNsu: nsuText(line.max_nsu),
  }
}

const notAutomatic =
  'A sincronização automática está desligada: nada é capturado sozinho. A SEFAZ guarda cada documento por 90 dias apenas e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos, que assim não chegam mais. Peça a sincronização de tempos em tempos ou ligue a automática nas configurações da empresa.'

function messageOf({ message, state, missing, unread }: Company['lines'][number], outage: Outage | null): string {
  // A service that serves nobody is told to everybody, not only to whom it failed.
  const sentences = [outage && state !== 'stopped' && state !== 'blocked' ? outageSentence(outage) : message]
  if (missing > 0 && state !== 'blocked') {
    sentences.push(
      `Faltam ${count(missing, 'documento, que é buscado', 'documentos, que são buscados um a um')}, até vinte por hora.`,
    )
  }
  if (unread > 0) {
    sentences.push(
      `${count(unread, 'arquivo recebido não pôde ser lido e está guardado', 'arquivos recebidos não puderam ser lidos e estão guardados')}.`,
    )
  }
  return sentences.join(' ')
}

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
