import { type LoadClient, type LoadRequest, type LoadTimes, timeLoad } from './load.ts'
import { quantile, report } from './measure.ts'

/** A workspace whose people ask: notes of the month with bytes of their own, complete ones, by their ids. */
interface Asking {
  token: string
  notes: readonly string[]
}

// One person goes through all kinds of calls, while an office of five hundred companies asks for everything on sixteen connections.
const seconds = { alone: 20, beside: 60 }
const settlingMs = 2_000
const pauseMs = 50
const goal = 2

const json = { 'content-type': 'application/json' }
const documents = '/v1/api/DocumentosFiscais'

/** How long each kind of call takes for one person beside an office that asks for everything, and how long alone, before and after it. */
export async function compareShares(url: string, person: Asking, office: Asking): Promise<void> {
  // Each phase has notes of its own: a form that was printed before is remembered.
  const third = Math.floor(person.notes.length / 3)
  const phase = (at: number, forSeconds: number) =>
    timeLoad({
      url,
      seconds: forSeconds,
      clients: [
        { token: person.token, requests: requestsOf(person.notes.slice(at * third, (at + 1) * third)), pauseMs },
      ],
    })
  const before = await phase(0, seconds.alone)
  const asking = timeLoad({
    url,
    seconds: (2 * settlingMs) / 1_000 + seconds.beside,
    clients: everything(office),
    impatient: true,
  })
  await settle()
  const beside = await phase(1, seconds.beside)
  const asked = await asking
  await settle()
  const after = await phase(2, seconds.alone)
  for (const kind of Object.keys(before)) {
    const alone = [before[kind]!, after[kind]!]
    const p95Alone = at(alone.flatMap(({ ms }) => ms))
    const p95 = at(beside[kind]!.ms)
    report('neighbours', {
      share: kind,
      goal,
      ratio: Number((p95 / p95Alone).toFixed(2)),
      p95Ms: { alone: p95Alone, beside: p95 },
      p50Ms: {
        alone: at(
          alone.flatMap(({ ms }) => ms),
          0.5,
        ),
        beside: at(beside[kind]!.ms, 0.5),
      },
      requests: { alone: sum(alone, 'requests'), beside: beside[kind]!.ms.length },
      errors: sum(alone, 'errors') + beside[kind]!.errors,
    })
  }
  const all = Object.values(asked)
  report('neighbours', { office: { requests: sum(all, 'requests'), refused: sum(all, 'errors') } })
}

const sum = (times: readonly LoadTimes[], what: 'requests' | 'errors') =>
  times.reduce((all, { ms, errors }) => all + (what === 'errors' ? errors : ms.length), 0)
const at = (ms: number[], q = 0.95) => Number(quantile(ms, q).toFixed(1))
const settle = () => new Promise((resolve) => void setTimeout(resolve, settlingMs))

const exporting = (chosen: object, how: 'exportar' | 'imprimir'): LoadRequest => ({
  kind: how === 'exportar' ? 'export' : 'print of many',
  path: `${documents}/${how}`,
  headers: json,
  body: JSON.stringify({ ...chosen, ...(how === 'exportar' && { xml: true, pdf: true, planilha: true }) }),
  link: 'whole',
})

const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7)
const year = month.slice(0, 4)
const reporting = `/v1/api/Relatorios?Tipo=compras&Por=participante&MesDe=${year}-01&MesAte=${year}-12`

function requestsOf(notes: readonly string[]): LoadRequest[] {
  return notes.flatMap((id, index): LoadRequest[] => [
    { kind: 'list', path: `${documents}?TipoDFe=0&PaginaAtual=${1 + (index % 20)}` },
    { kind: 'search', path: `${documents}?TipoDFe=0&CampoPesquisa=e` },
    { kind: 'panel', path: `${documents}/detalhes/${id}` },
    { kind: 'print', path: `${documents}/danfe/${id}` },
    { kind: 'report', path: reporting },
    { kind: 'dashboard', path: '/v1/api/Dashboard' },
    ...(index % 5 === 0
      ? (['exportar', 'imprimir'] as const).map((how) => exporting({ idsDFe: notes.slice(index, index + 5) }, how))
      : []),
  ])
}

// Two connections for each kind, each asking for the next as soon as it has the last; exports and prints of as much as one takes.
function everything({ token, notes }: Asking): LoadClient[] {
  const kinds: LoadRequest[][] = [
    [{ kind: 'list', path: `${documents}?TipoDFe=0&PaginaAtual=4000` }],
    [{ kind: 'search', path: `${documents}?TipoDFe=0&CampoPesquisa=e&Status=2` }],
    notes.map((id) => ({ kind: 'panel', path: `${documents}/detalhes/${id}` })),
    notes.map((id) => ({ kind: 'print', path: `${documents}/danfe/${id}` })),
    [{ kind: 'report', path: reporting }],
    [{ kind: 'dashboard', path: '/v1/api/Dashboard' }],
    [
      exporting(
        { filtro: { TipoDFe: 0, DataDe: `${month}-01T00:00:00`, DataAte: `${month}-28T23:59:59` } },
        'exportar',
      ),
    ],
    [exporting({ idsDFe: notes }, 'imprimir')],
  ]
  return kinds.flatMap((requests) => [
    { token, requests },
    { token, requests: requests.toReversed() },
  ])
}
