import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { handle } from '../platform/http.ts'
import { nsuText, type ServiceCode, serviceCodes, serviceOf } from '../platform/service.ts'
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
    return { data: rows.map(toRow) }
  }),
]

function toRow(company: Company): CompanyRow {
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
    captura: company.lines.map(toCapture),
  }
}

function toCapture(line: Company['lines'][number]): CompanyRow['captura'][number] {
  const common = { servico: serviceOf(line.service), proximaConsulta: line.next_at?.toISOString() ?? null }
  // What others know of this CNPJ is not shown to somebody whose certificate may be made up.
  if (!line.proved) {
    const nothing = { ultimoNsu: nsuText(0n), maxNsu: nsuText(0n) }
    return line.refused
      ? { ...common, ...nothing, estado: 'parada', mensagem: line.refused }
      : {
          ...common,
          ...nothing,
          estado: 'aguardando',
          mensagem: 'A primeira consulta com este certificado confirma que ele é aceito pela SEFAZ.',
        }
  }
  return {
    ...common,
    estado: line.leased ? 'capturando' : states[line.state],
    mensagem: messageOf(line),
    ultimoNsu: nsuText(line.last_nsu),
    maxNsu: nsuText(line.max_nsu),
  }
}

function messageOf({ message, state, missing, unread }: Company['lines'][number]): string {
  const sentences = [message]
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
