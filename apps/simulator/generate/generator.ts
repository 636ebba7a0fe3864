import type { CertificationAuthority } from '../certificates.ts'
import { type Clock, localDateTime, monthStart } from '../clock.ts'
import type { Ledger } from '../ledger.ts'
import { activate, publishFiles, type Reception } from '../publication.ts'
import { createCast, type Taxpayer, taxpayerOf } from './cast.ts'
import { createRandom } from './random.ts'
import { openSigners } from './signers.ts'
import { groupedFreight, officeMoment, othersSale, ownSale, passengers, purchase, type StoryStage } from './stories.ts'

/** Makes documents for companies and hands them to the authority. */
export interface Generator {
  /**
   * Generates documents since an instant (default: of this month) until now, or about `count`;
   * empty if they exist already.
   */
  history(company: NamedCompany, since?: number, count?: number): Promise<Reception[]>
  /** Recent weeks of a busy new company, enough for a first capture that takes a while. */
  newcomer(company: NamedCompany): Promise<Reception[]>
  /** One more document for one of the companies, now. */
  live(companies: NamedCompany[]): Promise<Reception[]>
}

/** A company that is named from outside. */
export interface NamedCompany {
  cnpj: string
  nome: string
  uf: string
}

interface GeneratorOptions {
  seed: number
  tpAmb: 1 | 2
  directory: string
  ledger: Ledger
  clock: Clock
  certification: CertificationAuthority
}

const dayMs = 86_400_000
// In a month this young nothing is answered, carried or cancelled yet, so earlier days are added.
const youngMonthMs = 10 * dayMs
const monthBeforeMs = 25 * dayMs
// Within the authority's retention; each `busyMs` of it has the events of a month.
const newcomerMs = 80 * dayMs
const busyMs = 16 * dayMs

export async function openGenerator(options: GeneratorOptions): Promise<Generator> {
  const { seed, tpAmb, ledger, clock } = options
  const cast = createCast(seed)
  const signers = await openSigners(options.directory, options.certification, clock.now())
  const stageFor = (company: Taxpayer, seedText: string, until: number): StoryStage => ({
    random: createRandom(seedText),
    cast,
    signers,
    tpAmb,
    company,
    until,
    files: [],
    numbered: new Set(),
  })
  const deliver = (stage: StoryStage) => {
    const incoming = stage.files.map((bytes) => ({ load: () => bytes }))
    return publishFiles(ledger, clock, incoming, { activateParties: false, authorizedHere: true })
  }

  const finish = (stage: StoryStage, mark: string) => {
    const receptions = deliver(stage)
    ledger.append([{ type: 'note', name: mark, value: String(seed) }])
    return receptions
  }
  // Rounded to ten minutes, because two starts in a row must generate the same documents.
  const roundedNow = () => clock.now() - (clock.now() % 600_000)

  return {
    history: async (named, since, count) => {
      activate(ledger, named.cnpj, clock.now())
      const now = roundedNow()
      const month = localDateTime(now).slice(0, 7)
      const mark = markOf(named.cnpj, now)
      if (ledger.notes.has(mark)) return []
      const stage = stageFor(taxpayerOf(named, seed), `month:${seed}:${named.cnpj}:${month}`, now)
      if (count !== undefined) await playSome(stage, Math.min(since ?? monthStart(now), now), now, count)
      else if (since !== undefined) await play(stage, Math.min(since, now), now)
      else {
        const first = monthStart(now)
        const isYoung = now - first < youngMonthMs && !ledger.notes.has(markOf(named.cnpj, first - 1))
        if (isYoung) await play(stage, first - monthBeforeMs, first)
        await play(stage, first, now)
      }
      return finish(stage, mark)
    },
    newcomer: async (named) => {
      activate(ledger, named.cnpj, clock.now())
      const now = roundedNow()
      const stage = stageFor(taxpayerOf(named, seed), `newcomer:${seed}:${named.cnpj}`, now)
      for (let from = now - newcomerMs; from < now; from += busyMs) await play(stage, from, from + busyMs)
      return finish(stage, markOf(named.cnpj, now))
    },
    live: async (companies) => {
      const count = Number(ledger.notes.get('live') ?? 0) + 1
      const choice = createRandom(`live:${seed}:${count}`)
      const company = taxpayerOf(choice.pick(companies), seed)
      const now = clock.now()
      const stage = stageFor(company, `live:${seed}:${count}:${company.cnpj}`, now)
      const story = choice.pick([purchase, purchase, purchase, othersSale, passengers])
      await story(stage, now - 120_000)
      const receptions = deliver(stage)
      ledger.append([{ type: 'note', name: 'live', value: String(count) }])
      return receptions
    },
  }
}

function markOf(cnpj: string, at: number): string {
  return `generated:${cnpj}:${localDateTime(at).slice(0, 7)}`
}

async function playSome(stage: StoryStage, from: number, to: number, count: number): Promise<void> {
  const { random } = stage
  while (stage.files.length < count) {
    const story = random.pick([purchase, purchase, purchase, othersSale, passengers])
    await story(stage, officeMoment(random, from, to - 60_000))
  }
}

// About what happens in a month; in fewer days the same happens more densely.
async function play(stage: StoryStage, from: number, to: number): Promise<void> {
  const { random } = stage
  const moment = () => officeMoment(random, from, to - 60_000)
  const times = (low: number, high: number) => Array.from({ length: random.integer(low, high) }, moment)
  // By chance every tenth company would have none of these; early notes have had time for them.
  for (const fate of ['cancelled', 'corrected'] as const) {
    await purchase(stage, officeMoment(random, from, from + (to - from) / 2), fate)
  }
  for (const at of times(32, 50)) await purchase(stage, at)
  for (const at of times(8, 12)) await ownSale(stage, at)
  for (const at of times(4, 7)) await othersSale(stage, at)
  for (const at of times(1, 2)) await groupedFreight(stage, at)
  for (const at of times(2, 4)) await passengers(stage, at)
}
