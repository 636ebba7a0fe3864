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
  const lastSuccess = (service: ServiceCode) =>
    company.lines.find((line) => line.service === service)?.last_success_at?.toISOString() ?? null
  return {
    id: company.public_id,
    razaoSocial: company.name,
    cnpj: company.cnpj,
    ativa: company.active,
    ultimaSincronizacaoNFe: lastSuccess(serviceCodes.nfe),
    ultimaSincronizacaoCTe: lastSuccess(serviceCodes.cte),
    validadeCertificadoA1: company.valid_to?.toISOString() ?? null,
    captura: company.lines.map((line) => ({
      servico: serviceOf(line.service),
      estado: line.leased ? 'capturando' : states[line.state],
      mensagem: line.message,
      proximaConsulta: line.next_at?.toISOString() ?? null,
      ultimoNsu: nsuText(line.last_nsu),
      maxNsu: nsuText(line.max_nsu),
    })),
  }
}
