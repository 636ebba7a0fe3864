import { localDateTime } from '../clock.ts'
import type { Cast, Taxpayer } from './cast.ts'
import { buildCte, buildCteOs, buildSimplifiedCte, type GeneratedCte } from './cte.ts'
import {
  buildCteEvent,
  buildNfeEvent,
  buildTrailSummary,
  cteCancellationDetail,
  cteCorrectionDetail,
  manifestationDetail,
  nfeCancellationDetail,
  nfeCorrectionDetail,
} from './events.ts'
import { buildNfe, type GeneratedNfe, type NfeOrder } from './nfe.ts'
import { createRandom, type Random } from './random.ts'
import type { Signers } from './signers.ts'

/** Input of a story: companies, signing keys and end of the period. */
export interface StoryStage {
  random: Random
  cast: Cast
  signers: Signers
  tpAmb: 1 | 2
  company: Taxpayer
  /** Nothing happens after this instant. */
  until: number
  /** Everything that happened, in no order: the authority sorts it. */
  files: Uint8Array[]
  /** Used numbers: CNPJ of the issuer and number. */
  numbered: Set<string>
}

const hourMs = 3_600_000

/** Later event of a note by its supplier. */
type Fate = 'cancelled' | 'corrected' | 'kept'

function chooseFate(random: Random): Fate {
  const chance = random.next()
  return chance < 0.06 ? 'cancelled' : chance < 0.14 ? 'corrected' : 'kept'
}

/** A supplier sells to the company: note, freight, trail, corrections, cancellation, answer of the company. */
export async function purchase(stage: StoryStage, at: number, fate = chooseFate(stage.random)): Promise<void> {
  const { random, cast, company } = stage
  const issuer = random.pick(cast.suppliers)
  const carrier = random.chance(0.65) ? random.pick(cast.carriers) : undefined
  const nfe = await sale(stage, { at, issuer, recipient: company, carrier, reader: readerFor(stage) })
  if (fate === 'cancelled') {
    const cancelledAt = later(stage, at, 1, 20) ?? later(stage, at, 0.5, 1)
    if (cancelledAt !== null) await cancel(stage, nfe, cancelledAt)
    return
  }
  if (carrier !== undefined && random.chance(0.45)) await freight(stage, nfe, carrier)
  if (fate === 'corrected') await correct(stage, nfe, random.integer(1, 2))
  if (random.chance(0.5)) await answer(stage, nfe)
}

/** The company sells to a customer: it receives only events that others register on its note. */
export async function ownSale(stage: StoryStage, at: number): Promise<void> {
  const { random, cast, company } = stage
  const carrier = random.pick(cast.carriers)
  const customer = random.pick(cast.customers)
  const nfe = await sale(stage, { at, issuer: company, recipient: customer, carrier })
  if (random.chance(0.7)) await freight(stage, nfe, carrier)
  const answeredAt = later(stage, at, 20, 120)
  if (answeredAt !== null && random.chance(0.7)) {
    await manifest(stage, nfe, random.chance(0.1) ? 210240 : 210200, answeredAt)
  }
}

/** A sale between others in which the company carries or reads. */
export async function othersSale(stage: StoryStage, at: number): Promise<void> {
  const { random, cast, company } = stage
  const parties = { issuer: random.pick(cast.suppliers), recipient: random.pick(cast.customers) }
  const part = random.chance(0.6) ? { carrier: company } : { carrier: random.pick(cast.carriers), reader: company }
  const nfe = await sale(stage, { at, ...parties, ...part })
  if (random.chance(0.2)) await correct(stage, nfe, 1)
}

/** Several notes of one supplier travel together on a simplified CT-e. */
export async function groupedFreight(stage: StoryStage, at: number): Promise<void> {
  const { random, cast, company } = stage
  const supplier = random.pick(cast.suppliers)
  const notes: GeneratedNfe[] = []
  for (let index = 0; index < random.integer(2, 3); index++) {
    const soldAt = Math.min(at + index * 600_000, stage.until)
    notes.push(await sale(stage, { at: soldAt, issuer: supplier, recipient: company }))
  }
  const carrier = random.pick(cast.carriers)
  const leaves = later(stage, at, 2, 8)
  if (leaves === null) return
  const order = {
    at: leaves,
    tpAmb: stage.tpAmb,
    carrier,
    serie: 2,
    numero: numberAt(stage, carrier, leaves),
    vTPrest: random.integer(18_000, 160_000),
    sender: supplier,
    receiver: company,
    toma: '3' as const,
    cargo: notes,
  }
  const cte = buildSimplifiedCte(random, order, await stage.signers.signerOf(carrier))
  stage.files.push(cte.bytes)
  for (const note of notes) trail(stage, note.chave, 610600, cte.authorizedAt)
}

/** A carrier takes the company's employees to work. */
export async function passengers(stage: StoryStage, at: number): Promise<void> {
  const { random, cast, company, tpAmb } = stage
  const carrier = random.pick(cast.carriers)
  const vTPrest = random.integer(150_000, 900_000)
  const order = { at, tpAmb, carrier, serie: 67, numero: numberAt(stage, carrier, at), vTPrest, tomador: company }
  const cte = buildCteOs(random, order, await stage.signers.signerOf(carrier))
  stage.files.push(cte.bytes)
  if (random.chance(0.2)) await cancelCte(stage, cte)
}

async function sale(
  stage: StoryStage,
  order: Omit<NfeOrder, 'tpAmb' | 'serie' | 'numero' | 'items'>,
): Promise<GeneratedNfe> {
  const { random, tpAmb } = stage
  const items = random.chance(0.08) ? random.integer(12, 32) : random.integer(1, 8)
  const numero = numberAt(stage, order.issuer, order.at)
  const nfe = buildNfe(random, { ...order, tpAmb, serie: 1, numero, items }, await stage.signers.signerOf(order.issuer))
  stage.files.push(nfe.bytes)
  return nfe
}

function readerFor({ random, cast }: StoryStage): Taxpayer | undefined {
  return random.chance(0.25) ? cast.accountant : undefined
}

async function freight(stage: StoryStage, nfe: GeneratedNfe, carrier: Taxpayer): Promise<void> {
  const { random, tpAmb } = stage
  const leaves = later(stage, nfe.at, 2, 20)
  // A company that carries its own goods issues no CT-e to itself.
  if (leaves === null || carrier.cnpj === nfe.issuer.cnpj) return
  const vTPrest = Math.max(6_000, Math.round(nfe.vProd / random.integer(18, 40)))
  const order = {
    at: leaves,
    tpAmb,
    carrier,
    serie: 1,
    numero: numberAt(stage, carrier, leaves),
    vTPrest,
    sender: nfe.issuer,
    receiver: nfe.recipient,
    toma: random.pick(['0', '3'] as const),
    cargo: [nfe],
    reader: readerFor(stage),
  }
  const cte = buildCte(random, order, await stage.signers.signerOf(carrier))
  stage.files.push(cte.bytes)
  trail(stage, nfe.chave, 610600, cte.authorizedAt)
  if (random.chance(0.6)) trail(stage, nfe.chave, 610614, cte.authorizedAt + 2 * hourMs)
  if (random.chance(0.08)) {
    await cancelCte(stage, cte)
    trail(stage, nfe.chave, 610601, cte.authorizedAt + hourMs)
  } else if (random.chance(0.12)) await correctCte(stage, cte)
}

function trail(stage: StoryStage, chave: string, tpEvento: 610600 | 610601 | 610614, from: number): void {
  const at = from + stage.random.integer(2, 9) * 60_000
  if (at > stage.until) return
  stage.files.push(buildTrailSummary(stage.random, { at, chave, tpEvento }))
}

async function cancel(stage: StoryStage, nfe: GeneratedNfe, at: number): Promise<void> {
  const { random, tpAmb } = stage
  const order = {
    at,
    tpAmb,
    chave: nfe.chave,
    author: nfe.issuer.cnpj,
    recipient: nfe.recipient.cnpj,
    tpEvento: 110111,
  }
  const signer = await stage.signers.signerOf(nfe.issuer)
  stage.files.push(buildNfeEvent(random, { ...order, ...nfeCancellationDetail(nfe.nProt) }, signer))
}

async function correct(stage: StoryStage, nfe: GeneratedNfe, times: number): Promise<void> {
  const { random, tpAmb } = stage
  let from = nfe.at
  for (let nSeqEvento = 1; nSeqEvento <= times; nSeqEvento++) {
    const at = later(stage, from, 1, 30)
    if (at === null) return
    from = at
    const order = { at, tpAmb, chave: nfe.chave, author: nfe.issuer.cnpj, tpEvento: 110110, nSeqEvento }
    const text = `Onde se le peso bruto considerar ${random.integer(50, 900)} kg. Pedido ${random.digits(5)}.`
    const full = { ...order, recipient: nfe.recipient.cnpj, ...nfeCorrectionDetail(text) }
    stage.files.push(buildNfeEvent(random, full, await stage.signers.signerOf(nfe.issuer)))
  }
}

// Ciência, and a conclusive answer some days later.
async function answer(stage: StoryStage, nfe: GeneratedNfe): Promise<void> {
  const knownAt = later(stage, nfe.authorizedAt, 2, 40)
  if (knownAt === null) return
  await manifest(stage, nfe, 210210, knownAt)
  const confirmedAt = later(stage, knownAt, 48, 160)
  if (confirmedAt !== null && stage.random.chance(0.5)) await manifest(stage, nfe, 210200, confirmedAt)
}

async function manifest(
  stage: StoryStage,
  nfe: GeneratedNfe,
  tpEvento: 210200 | 210210 | 210240,
  at: number,
): Promise<void> {
  const { random, tpAmb } = stage
  const author = nfe.recipient.cnpj
  const order = { at, tpAmb, chave: nfe.chave, author, recipient: author, tpEvento }
  const signer = await stage.signers.signerOf(nfe.recipient)
  stage.files.push(buildNfeEvent(random, { ...order, ...manifestationDetail(tpEvento) }, signer))
}

async function cancelCte(stage: StoryStage, cte: GeneratedCte): Promise<void> {
  const at = cte.authorizedAt + stage.random.integer(10, 50) * 60_000
  if (at > stage.until) return
  const order = { at, tpAmb: stage.tpAmb, chave: cte.chave, author: cte.carrier.cnpj, tpEvento: 110111 }
  const signer = await stage.signers.signerOf(cte.carrier)
  stage.files.push(buildCteEvent(stage.random, { ...order, ...cteCancellationDetail(cte.nProt) }, signer))
}

async function correctCte(stage: StoryStage, cte: GeneratedCte): Promise<void> {
  const at = later(stage, cte.authorizedAt, 1, 10)
  if (at === null) return
  const order = { at, tpAmb: stage.tpAmb, chave: cte.chave, author: cte.carrier.cnpj, tpEvento: 110110 }
  const signer = await stage.signers.signerOf(cte.carrier)
  const text = 'ENTREGA SOMENTE COM AGENDAMENTO PRÉVIO'
  stage.files.push(buildCteEvent(stage.random, { ...order, ...cteCorrectionDetail(text) }, signer))
}

/** Some hours later, or null when that has not happened yet. */
function later({ random, until }: StoryStage, from: number, hoursFrom: number, hoursTo: number): number | null {
  const at = from + random.integer(hoursFrom * 60, hoursTo * 60) * 60_000
  return at + 60_000 > until ? null : at
}

/** An instant between two others, in office hours of its day when there is room. */
export function officeMoment(random: Random, from: number, to: number): number {
  const at = from + Math.floor(random.next() * Math.max(1, to - from))
  const day = Date.parse(`${localDateTime(at).slice(0, 10)}T08:00:00-03:00`)
  const inside = day + random.integer(0, 10 * 3_600) * 1_000
  return inside >= from && inside <= to ? inside : at
}

const numberingBegan = Date.UTC(2025, 0, 1)

// Later notes of an issuer get greater numbers, whichever company's story is generated first.
function numberAt({ numbered }: StoryStage, { cnpj }: Taxpayer, at: number): number {
  const first = createRandom(`numbers:${cnpj}`).integer(1_000, 90_000)
  let number = first + Math.max(0, Math.floor((at - numberingBegan) / 60_000))
  while (numbered.has(`${cnpj} ${number}`)) number++
  numbered.add(`${cnpj} ${number}`)
  return number
}
