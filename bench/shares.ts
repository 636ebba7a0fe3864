import type { Captured } from './captures.ts'
import { type LoadClient, type LoadRequest, type LoadTimes, timeLoad } from './load.ts'
import { median, quantile, report } from './measure.ts'
import { startUse } from './processor.ts'
import type { Tenants } from './tenants.ts'

/** A workspace whose people ask: notes of the month with bytes of their own, complete ones, by their ids; keys of its programs; companies that are captured. */
export interface Asking {
  token: string
  notes: readonly string[]
  keys: readonly string[]
  captured: Captured
}

// One person goes through all kinds of calls, and a document of theirs is captured every few seconds; alone, and while an office of five hundred companies asks for
// everything on eighteen connections and its companies are captured, turn by turn.
const pairs = Number(process.env.PAIRS ?? 4)
const seconds = { warming: 8, alone: 12, beside: 20 }
const settlingMs = 3_000
const pauseMs = 50
const captureEveryMs = 1_000
const cutMs = 2_000
// As many as are captured while the person asks.
const documentsEach = 8
const goal = 2

const json = { 'content-type': 'application/json' }
const documents = '/v1/api/DocumentosFiscais'

type Times = Record<string, LoadTimes>

/** How long each kind of call and each captured document takes for one person beside an office that asks for everything, and how long alone. */
export async function compareShares({ url, owner }: Tenants, person: Asking, office: Asking): Promise<void> {
  const notesEach = Math.floor(person.notes.length / (2 * pairs + 1))
  let phases = 0
  // Each phase has notes of its own: a form that was printed before is remembered.
  const ask = async (forSeconds: number) => {
    const notes = person.notes.slice(phases * notesEach, ++phases * notesEach)
    const clients = [{ token: person.token, requests: requestsOf(person, notes), pauseMs }]
    const used = await startUse(owner)
    const [calls, documents] = await Promise.all([
      timeLoad({ url, seconds: forSeconds, clients }),
      timeCaptures(person.captured, forSeconds),
    ])
    return { times: { ...calls, ...documents }, used: await used() }
  }
  const endOffice = async () => {
    const came = await office.captured.end()
    // What the office left to do would go on beside the person who is to be alone.
    await owner.query("update document_export set state = 'failed', lease_until = null where state = 'waiting'")
    await person.captured.end()
    await pause(settlingMs)
    return came
  }
  // Whatever is done for the first time takes longer: threads start.
  await ask(seconds.warming)
  await office.captured.end()
  await endOffice()
  const alone: Awaited<ReturnType<typeof ask>>[] = []
  const beside: typeof alone = []
  const asked: Times[] = []
  let came = 0
  for (let pair = 0; pair < pairs; pair++) {
    alone.push(await ask(seconds.alone))
    await office.captured.add(documentsEach)
    const forSeconds = settlingMs / 1_000 + seconds.beside
    const asking = timeLoad({ url, seconds: forSeconds, clients: everything(office), impatient: true })
    await pause(settlingMs)
    await office.captured.begin()
    beside.push(await ask(seconds.beside))
    asked.push(await asking)
    came += await endOffice()
  }
  for (const kind of Object.keys(alone[0]!.times)) {
    const of = (phases: typeof alone) => phases.map(({ times }) => times[kind] ?? { ms: [], errors: 0 })
    const ratios = of(beside).map(({ ms }, pair) => at(ms) / at(of(alone)[pair]!.ms))
    const all = { alone: of(alone).flatMap(({ ms }) => ms), beside: of(beside).flatMap(({ ms }) => ms) }
    report('neighbours', {
      share: kind,
      goal,
      ratio: rounded(median(ratios)),
      ratios: ratios.map(rounded),
      // Of what is asked for rarely a pair has a handful.
      ratioOfAll: rounded(at(all.beside) / at(all.alone)),
      p95Ms: { alone: at(all.alone), beside: at(all.beside) },
      p50Ms: { alone: at(all.alone, 0.5), beside: at(all.beside, 0.5) },
      requests: { alone: all.alone.length, beside: all.beside.length },
      errors: [...of(alone), ...of(beside)].reduce((all, { errors }) => all + errors, 0),
    })
  }
  const calls = asked.flatMap((times) => Object.values(times))
  const sum = (pick: (times: LoadTimes) => number) => calls.reduce((all, times) => all + pick(times), 0)
  report('neighbours', {
    office: { requests: sum(({ ms }) => ms.length), refused: sum(({ errors }) => errors), captured: came },
    used: { alone: alone.map(({ used }) => used), beside: beside.map(({ used }) => used) },
  })
}

async function timeCaptures(captured: Captured, forSeconds: number): Promise<Times> {
  const times: Times = { capture: { ms: [], errors: 0 }, alert: { ms: [], errors: 0 } }
  const endsAt = performance.now() + forSeconds * 1_000
  while (performance.now() < endsAt) {
    const taken = await captured.time(endsAt)
    // What was cut off at the end says little if it had just begun.
    for (const kind of ['capture', 'alert'] as const) {
      const { ms, isOver } = taken[kind] ?? { ms: 0, isOver: false }
      if (isOver || ms > cutMs) times[kind]!.ms.push(ms)
    }
    await pause(captureEveryMs)
  }
  return times
}

const rounded = (value: number) => Number(value.toFixed(2))
const at = (ms: number[], q = 0.95) => Number(quantile(ms, q).toFixed(1))
const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

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

const keyed = (key: string): LoadRequest => ({
  kind: 'key',
  path: `${documents}?TipoDFe=0`,
  headers: { authorization: `Bearer ${key}` },
})

function requestsOf({ keys }: Asking, notes: readonly string[]): LoadRequest[] {
  return notes.flatMap((id, index): LoadRequest[] => [
    { kind: 'list', path: `${documents}?TipoDFe=0&PaginaAtual=${1 + (index % 20)}` },
    { kind: 'search', path: `${documents}?TipoDFe=0&CampoPesquisa=e` },
    { kind: 'panel', path: `${documents}/detalhes/${id}` },
    { kind: 'print', path: `${documents}/danfe/${id}` },
    { kind: 'report', path: reporting },
    { kind: 'dashboard', path: '/v1/api/Dashboard' },
    ...keys.map(keyed),
    ...(index % 5 === 0
      ? (['exportar', 'imprimir'] as const).map((how) => exporting({ idsDFe: notes.slice(index, index + 5) }, how))
      : []),
  ])
}

// Two connections for each kind, each asking for the next as soon as it has the last; exports and prints of as much as one takes.
function everything({ token, notes, keys }: Asking): LoadClient[] {
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
    keys.map(keyed),
  ]
  return kinds.flatMap((requests) => [
    { token, requests },
    { token, requests: requests.toReversed() },
  ])
}
