import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import type { Due } from './agenda.ts'
import { listPath } from './codes.ts'

// One object holds the call that lists what a number counts and the address that shows it, because
// a number and its link must agree.

/** The documents that a number counts, in the words of the list's query. */
interface DocumentsQuery {
  TipoDFe: number
  Status?: number
  Marca?: string
  Empresas?: 'ativas'
  PrazoDe?: string
  PrazoAte?: string
  PrazoPara?: Due['para']
  DataDe?: string
  DataAte?: string
  Ordem?: 'prazo'
}

/** The list behind a number. */
export interface NumberList {
  path: string
  query: Readonly<Record<string, string | number>>
  /** The screen that shows it. */
  to: string
}

const addressNames = {
  Status: 'status',
  Marca: 'marca',
  Empresas: 'empresa',
  PrazoDe: 'prazoDe',
  PrazoAte: 'prazoAte',
  PrazoPara: 'prazoPara',
  Ordem: 'ordem',
} as const

function documents(query: DocumentsQuery): NumberList {
  const { TipoDFe, DataDe, DataAte } = query
  const params = new URLSearchParams(
    DataDe && DataAte ? { de: DataDe.slice(0, 10), ate: DataAte.slice(0, 10) } : { periodo: 'todos' },
  )
  for (const [field, name] of Object.entries(addressNames)) {
    const value = query[field as keyof typeof addressNames]
    if (value !== undefined) params.set(name, String(value))
  }
  const to = `${listPath(TipoDFe)}?${params}`
  return { path: '/v1/api/DocumentosFiscais', query: { ...query }, to }
}

/** The documents of a line of Prazos. */
export const dueDocuments = (due: Pick<Due, 'dia' | 'tipoDFe' | 'para'>): NumberList =>
  documents({
    TipoDFe: due.tipoDFe,
    Empresas: 'ativas',
    PrazoDe: due.dia,
    PrazoAte: due.dia,
    PrazoPara: due.para,
    Ordem: 'prazo',
  })

/** Maps each number of `pendencias` to its list, on a day (aaaa-MM-dd) in São Paulo. */
export function pendingLists(today: string) {
  const lately = { DataDe: `${addDays(today, -89)}T00:00:00`, DataAte: `${today}T23:59:59` }
  const month = today.slice(0, 7)
  const ofMonth = { DataDe: `${month}-01T00:00:00`, DataAte: `${addDays(`${addMonths(month, 1)}-01`, -1)}T23:59:59` }
  const active = { Empresas: 'ativas' } as const
  const dueSoon = { ...active, PrazoAte: addDays(today, 1), Ordem: 'prazo' } as const
  const waiting = (Status: number) => documents({ TipoDFe: nfe.code, ...active, Status, ...lately, Ordem: 'prazo' })
  const marked = (TipoDFe: number, Marca: string) => documents({ TipoDFe, ...active, Marca })
  const list = (path: string, query: NumberList['query'], to: string): NumberList => ({ path, query, to })
  const alerts = (Faixa: string) => list('/v1/api/Alertas', { Faixa }, `/alertas?faixa=${Faixa}`)
  const freight = { from: addMonths(month, -2), to: month }
  return {
    resumos: waiting(status.summary),
    aguardandoResposta: waiting(status.acknowledged),
    canceladasNfe: documents({ TipoDFe: nfe.code, Status: status.cancelled, ...ofMonth }),
    canceladosCte: documents({ TipoDFe: cte.code, Status: status.cancelled, ...ofMonth }),
    vencemNfe: documents({ TipoDFe: nfe.code, ...dueSoon }),
    vencemCte: documents({ TipoDFe: cte.code, ...dueSoon }),
    mudaramNfe: marked(nfe.code, 'mudaram-depois'),
    mudaramCte: marked(cte.code, 'mudaram-depois'),
    confirmacoesSugeridas: marked(nfe.code, 'confirmacao-sugerida'),
    desconhecimentosPreparados: marked(nfe.code, 'desconhecimento-preparado'),
    aguardamSegunda: list('/v1/api/SegundaPessoa', {}, '/aprovacoes'),
    alertas: list('/v1/api/Alertas', {}, '/alertas'),
    alertasCriticos: alerts('critico'),
    alertasAltos: alerts('alto'),
    alertasMedios: alerts('medio'),
    parcelasVencidas: list('/v1/api/Vencimentos/resumo', { Situacao: 'vencidas' }, '/vencimentos?mostrar=vencidas'),
    fretesAConferir: list(
      '/v1/api/Fretes',
      { MesDe: freight.from, MesAte: freight.to },
      `/fretes?de=${freight.from}&ate=${freight.to}`,
    ),
  }
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
}

function addMonths(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}
