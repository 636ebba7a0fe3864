import { type AuditAction, auditActions } from '@vigia/contract/workspace'
import { hasPlans } from '../lib/site.ts'
import { type Period, parseDay } from '../ui/period/days.ts'

export interface AuditFilters {
  search: string
  action: AuditAction | ''
  /** Null means any day. */
  period: Period | null
  page: number
}

/** The kinds of entries that the filter offers. */
export const offeredActions = auditActions.filter((action) => action !== 'plano' || hasPlans)

/** The name of each kind of audit entry. */
export const actionNames: Readonly<Record<AuditAction, string>> = {
  conta: 'Conta',
  login: 'Entrada',
  'login-recusado': 'Entrada recusada',
  sessao: 'Sessão',
  chave: 'Chave de API',
  senha: 'Senha',
  empresa: 'Empresa',
  certificado: 'Certificado',
  sincronizacao: 'Sincronização',
  manifestacao: 'Manifestação',
  exportacao: 'Exportação',
  leitura: 'Leitura de arquivo',
  plano: 'Plano',
  equipe: 'Equipe',
  anotacao: 'Observações e marcas',
  alerta: 'Alertas',
}

/** The filter written in the address; invalid values are ignored. */
export function readAuditFilters(params: URLSearchParams): AuditFilters {
  const from = parseDay(params.get('de') ?? '')
  const to = parseDay(params.get('ate') ?? '')
  const page = Number(params.get('pagina') ?? 1)
  return {
    search: (params.get('busca') ?? '').trim().slice(0, 200),
    action: auditActions.find((action) => action === params.get('acao')) ?? '',
    period: from && to && from <= to ? { from, to } : null,
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  }
}

export function writeAuditFilters({ search, action, period, page }: AuditFilters): URLSearchParams {
  const params = new URLSearchParams()
  if (search) params.set('busca', search)
  if (action) params.set('acao', action)
  if (period) {
    params.set('de', period.from)
    params.set('ate', period.to)
  }
  if (page > 1) params.set('pagina', String(page))
  return params
}

/** The filter as the query of the call. */
export function toAuditQuery({ search, action, period, page }: AuditFilters) {
  return {
    PaginaAtual: page,
    Acao: action || undefined,
    CampoPesquisa: search || undefined,
    DataDe: period ? `${period.from}T00:00:00` : undefined,
    DataAte: period ? `${period.to}T23:59:59` : undefined,
  }
}
