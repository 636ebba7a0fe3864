import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { openArchive } from './archive.ts'
import type { Authority } from './authority.ts'
import { createCallLog } from './calls.ts'
import { type CertificateSubject, issuePfx, keptKey, openCertificationAuthority } from './certificates.ts'
import { createClock, parseInstant } from './clock.ts'
import { createFaults } from './faults/faults.ts'
import type { HostMode } from './faults/host-mode.ts'
import { inventCompany } from './generate/cast.ts'
import { type Generator, type NamedCompany, openGenerator } from './generate/generator.ts'
import { createRandom } from './generate/random.ts'
import { openLedger } from './ledger.ts'
import type { Reception } from './publication.ts'
import { listen } from './server.ts'
import { openStory, type Story } from './story/story.ts'

export interface SimulatorOptions {
  /** 0: any free one. */
  port: number
  /** Its certification authority and everything it published are kept here. */
  directory: string
  /** Folder of XML files to distribute. */
  archive?: string
  /** The destinatários of the archive had answered already, in another system. */
  archiveAnswered?: boolean
  /** Length of the authority's hour. */
  hourMs?: number
  /** How long each response of a service takes. */
  responseMs?: number
  /** How long after an event of the destinatário (Ciência and the like) the XML follows, by the authority's clock. */
  xmlDelayMs?: number
  seed?: number
  /** Whether the office of `story/` trades. */
  story?: boolean
  /** Companies with generated documents of the month, early in it also of the previous days. */
  companies?: NamedCompany[]
  /** Start of the generated documents: ISO 8601 or milliseconds. */
  since?: string | number
  /** Approximate number of documents and events per company; default: whole weeks. */
  documentsEach?: number
  /** A new document for one of the companies about every so many milliseconds; 0: never. */
  liveEveryMs?: number
  /** The ambiente that is served. */
  tpAmb?: 1 | 2
  /** PEM of further accepted certificates, of authorities or holders. */
  trust?: string[]
  /** How the hosts behave instead, as real ones were reported to. */
  hostMode?: HostMode
  /** One line for each thing worth telling. */
  log?: (line: string) => void
}

export interface Simulator {
  origin: string
  /** PEM of the root that clients must trust. */
  ca: string
  port: number
  seed: number
  /** With `sharedKey` on the one key that all of these have: making one takes long. */
  issueCertificate(
    holder: CertificateSubject & { senha: string; legacy?: boolean; alone?: boolean; sharedKey?: boolean },
  ): Promise<Uint8Array>
  [Symbol.asyncDispose](): Promise<void>
}

const archivePollMs = 5_000
// Trade becomes known within a minute, as everywhere.
const storyMs = 30_000
const defaultSeed = 20_260_706

/** Starts the simulated tax authority. */
export async function start(options: SimulatorOptions): Promise<Simulator> {
  const { directory, archive, documentsEach, liveEveryMs = 0, seed = defaultSeed, tpAmb = 1 } = options
  const companies = [...(options.companies ?? [])]
  const since = typeof options.since === 'string' ? parseInstant(options.since) : options.since
  if (since === undefined && options.since !== undefined) throw new Error(`since não é uma data: ${options.since}`)
  const log = options.log ?? (() => {})
  await using resources = new AsyncDisposableStack()
  const ledger = resources.adopt(openLedger(directory), (one) => one.close())
  const repeat = (everyMs: number, work: () => void) =>
    resources.adopt(setInterval(work, everyMs).unref(), (timer) => clearInterval(timer))
  const clock = createClock(ledger.clockOffsetMs())
  const certification = await openCertificationAuthority(directory, clock.now(), options.trust)
  const random = createRandom(`faults:${seed}`)
  const hourMs = options.hourMs ?? 3_600_000
  const faults = createFaults(clock, random)
  let opened: Promise<Generator> | undefined
  const openOnce = () => {
    opened ??= openGenerator({ seed, tpAmb, directory, ledger, clock, certification }).catch((error: unknown) => {
      // The next one tries again.
      opened = undefined
      throw error
    })
    return opened
  }
  const addCompany = async () => {
    const company = inventCompany(createRandom(randomUUID()))
    const receptions = await (await openOnce()).newcomer(company)
    companies.push(company)
    return { ...company, documents: receptions.length }
  }
  const calls = createCallLog()
  const { responseMs = 0, xmlDelayMs = 0 } = options
  let story: Story | undefined
  if (options.story) {
    story = await openStory({ tpAmb, directory, ledger, clock, certification })
    log(`história: ${await story.tell()} documentos e eventos`)
  }
  const parts = { ledger, clock, certification, faults, calls, random, addCompany, story }
  const authority: Authority = { ...parts, hourMs, tpAmb, responseMs, xmlDelayMs, hostMode: options.hostMode }
  log(`semente ${seed}`)

  if (archive !== undefined) {
    if (!existsSync(archive)) throw new Error(`A pasta de documentos do simulador não existe: ${archive}`)
    const files = openArchive(ledger, clock, archive, { answered: options.archiveAnswered ?? false })
    report(files.read(), log)
    repeat(archivePollMs, () => {
      if (existsSync(archive)) report(files.read(), log)
    })
  }
  for (const company of companies) {
    const receptions = await (await openOnce()).history(company, since, documentsEach)
    if (receptions.length > 0) log(`gerados ${receptions.length} documentos e eventos para ${company.nome}`)
  }
  const repeatInTurn = (everyMs: number, work: () => Promise<unknown>) => {
    let last: Promise<unknown> = Promise.resolve()
    resources.defer(() => last.then(() => {}))
    repeat(everyMs, () => {
      last = last.then(work).catch(console.error)
    })
  }
  if (story) repeatInTurn(storyMs, story.tell)
  if (liveEveryMs > 0)
    repeatInTurn(liveEveryMs, async () => (companies.length > 0 ? (await openOnce()).live(companies) : []))
  // Starts serving only when every document is in its sequence.
  const server = resources.adopt(await listen(authority, options.port), (one) => one.close())
  certification.publishAt(`http://localhost:${server.port}`)
  const kept = resources.move()
  return {
    origin: `https://localhost:${server.port}`,
    ca: certification.root,
    port: server.port,
    seed,
    issueCertificate: async ({ sharedKey, ...holder }) => {
      const uf = companies.find(({ cnpj }) => cnpj === holder.cnpj)?.uf
      const key = sharedKey ? await keptKey(directory, 'shared') : undefined
      return issuePfx(certification, { uf, ...holder }, clock.now(), key)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function report(receptions: Reception[], log: (line: string) => void): void {
  const count = (outcome: Reception['outcome']) => receptions.filter((one) => one.outcome === outcome).length
  if (receptions.length > 0) {
    log(
      `arquivo: ${count('accepted')} recebidos, ${count('duplicate')} repetidos, ${count('refused')} não distribuídos`,
    )
  }
  for (const { source, outcome, reason } of receptions) {
    if (outcome === 'refused') log(`  ${source?.file}: ${reason}`)
  }
}
