import { chaveParts } from '@vigia/dfe/chave'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { baseOf } from '../alerts/facts.ts'
import { cents, dayText, isBefore, median, numberText, reais } from '../alerts/values.ts'
import type { Note, Place, Trip } from './trip.ts'

/** A finding in a freight bill; `sentence` is Portuguese and has the numbers. */
export interface FreightFinding {
  code: 'fr-dobro' | 'fr-tomador' | 'fr-sem-nota' | 'fr-valor' | 'fr-quilo'
  sentence: string
  inputs: Record<string, string | number>
  /** Chaves of the documents behind it, besides the CT-e. */
  documents: string[]
}

/** Documents around a CT-e. The caller bounds each list. */
export interface Around {
  /** Base (raiz) of the CNPJ of the company that has the CT-e, or its CPF. */
  companyBase: string
  /** Whether NF-e of the company are captured: only then is a missing note missed. */
  capturesNotes: boolean
  /** When it is asked, milliseconds: a note may come after its CT-e. */
  asOf: number
  /** The cited notes that are in the archive. */
  notes: readonly Note[]
  /** Other CT-e that cite one of these notes. */
  sameNotes: readonly Trip[]
  /** Earlier CT-e between the same two UF, newest first. */
  lane: readonly Trip[]
}

/** Number of earlier trips needed for a habit. */
export const usualMin = 8
/** From how many times the median on a freight is far from it. */
const farFrom = 2
/** Time that a note may arrive after its CT-e. */
export const noteWaitMs = 5 * 86_400_000
const documentsMax = 20

/**
 * Finds faults in a freight bill. Pure. Skips a CT-e that does not stand, and a redespacho or
 * subcontratação; for one that completes, annuls or replaces another it checks only the payer.
 */
export function auditFreight(trip: Trip, around: Around): FreightFinding[] {
  if (!trip.standing || trip.tpServ !== '0') return []
  const isNew = isNormal(trip)
  return [
    isNew ? doubled(trip, around) : null,
    wrongPayer(trip, around),
    isNew ? withoutNote(trip, around) : null,
    ...(isNew ? outOfLine(trip, around) : []),
  ].filter((finding) => finding !== null)
}

// 5: simplificado.
function isNormal({ tpCTe }: Trip): boolean {
  return tpCTe === '0' || tpCTe === '5'
}

function doubled(trip: Trip, { sameNotes, notes }: Around): FreightFinding | null {
  const mine = new Set(trip.notes)
  const found = sameNotes
    .filter(
      (one) =>
        one.standing &&
        isNormal(one) &&
        one.tpServ === '0' &&
        isBefore(one, trip) &&
        trip.payer !== undefined &&
        baseOf(one.payer) === baseOf(trip.payer) &&
        baseOf(one.carrier.taxId) === baseOf(trip.carrier.taxId) &&
        one.from.cMun === trip.from.cMun &&
        one.to.cMun === trip.to.cMun,
    )
    .map((one) => ({ one, shared: one.notes.filter((chave) => mine.has(chave)) }))
    // All notes of one of them, because a lorry with the rest of a load also carries other notes.
    .filter(({ one, shared }) => shared.length > 0 && shared.length === Math.min(mine.size, new Set(one.notes).size))
    .filter(({ one, shared }) => !isSplit(trip, one, shared, notes))
    .sort((a, b) => b.shared.length - a.shared.length || (isBefore(a.one, b.one) ? -1 : 1))[0]
  if (found === undefined) return null
  const { one, shared } = found
  const what =
    shared.length === 1
      ? `da nota ${numberText(shared[0]!)}`
      : `de ${shared.length} notas, como a ${numberText(shared[0]!)},`
  return {
    code: 'fr-dobro',
    sentence: `O frete ${what} no mesmo trajeto já foi cobrado pela mesma transportadora no CT-e ${numberText(one.chave)} de ${dayText(one.issuedAt)}: ${reais(cents(one.vTPrest))}, e agora ${reais(cents(trip.vTPrest))}.`,
    inputs: { vTPrest: cents(trip.vTPrest), other: cents(one.vTPrest), notes: shared.length },
    documents: [one.chave, ...shared].slice(0, documentsMax),
  }
}

// Whether a load was split over two lorries, which carry no more than the notes are worth.
function isSplit(trip: Trip, other: Trip, shared: readonly string[], notes: readonly Note[]): boolean {
  const worth = shared.map((chave) => notes.find((note) => note.chave === chave)?.amount)
  const cargo = [cents(trip.vCarga), cents(other.vCarga)]
  if (worth.includes(undefined) || cargo.includes(0)) return false
  return cargo[0]! + cargo[1]! <= worth.reduce((sum, amount) => sum + cents(amount), 0) * 1.02
}

function wrongPayer(trip: Trip, { notes }: Around): FreightFinding | null {
  const payer = baseOf(trip.payer)
  if (payer === '' || trip.tpCTe === '2') return null
  for (const note of notes) {
    // The issuer of an entry note receives the goods.
    if (!note.standing || note.tpNF === '0') continue
    const owes = note.modFrete === '0' ? note.issuer : note.modFrete === '1' ? note.recipient : undefined
    if (owes === undefined || baseOf(owes) === payer) continue
    const terms = note.modFrete === '0' ? 'CIF, por conta do remetente' : 'FOB, por conta do destinatário'
    return {
      code: 'fr-tomador',
      sentence: `O frete de ${reais(cents(trip.vTPrest))} foi cobrado de ${taxIdText(trip.payer!)}, mas na NF-e ${numberText(note.chave)} o frete é ${terms}, ${taxIdText(owes)}.`,
      inputs: { vTPrest: cents(trip.vTPrest), modFrete: note.modFrete!, payer: trip.payer!, owes },
      documents: [note.chave],
    }
  }
  return null
}

function withoutNote(trip: Trip, { companyBase, capturesNotes, asOf, notes }: Around): FreightFinding | null {
  if (baseOf(trip.payer) !== companyBase && baseOf(trip.recipient) !== companyBase) return null
  // A CT-e OS and a GTV-e carry no notes.
  if (chaveParts(trip.chave).mod !== '57') return null
  const of = `O CT-e de ${reais(cents(trip.vTPrest))}`
  const inputs = { vTPrest: cents(trip.vTPrest), notes: trip.notes.length }
  // `cites` also counts the CT-e of a previous carrier, which stands for its notes.
  if (trip.cites === 0)
    return {
      code: 'fr-sem-nota',
      sentence: `${of} não cita nenhuma NF-e: confira que carga foi cobrada.`,
      inputs,
      documents: [],
    }
  // Notes do not name a mere payer, and the authority sends no note to its issuer.
  if (baseOf(trip.recipient) !== companyBase) return null
  if (trip.notes.some((chave) => baseOf(chaveParts(chave).cnpj) === companyBase)) return null
  if (
    !capturesNotes ||
    trip.notes.length === 0 ||
    notes.length > 0 ||
    !(asOf >= Date.parse(trip.issuedAt) + noteWaitMs)
  )
    return null
  const which =
    trip.notes.length === 1
      ? `cita a nota ${numberText(trip.notes[0]!)}, que não foi recebida`
      : `cita ${trip.notes.length} notas, e nenhuma foi recebida`
  return {
    code: 'fr-sem-nota',
    sentence: `${of} ${which} em cinco dias.`,
    inputs,
    documents: trip.notes.slice(0, documentsMax),
  }
}

function outOfLine(trip: Trip, { lane }: Around): FreightFinding[] {
  const earlier = lane.filter(
    (one) =>
      one.standing &&
      isNormal(one) &&
      one.tpServ === '0' &&
      isBefore(one, trip) &&
      one.from.uf === trip.from.uf &&
      one.to.uf === trip.to.uf &&
      cents(one.vTPrest) > 0,
  )
  const cities = earlier.filter((one) => one.from.cMun === trip.from.cMun && one.to.cMun === trip.to.cMun)
  const measures = [
    { code: 'fr-valor', of: (one: Trip) => cents(one.vCarga), text: percent, what: 'do valor da carga' },
    { code: 'fr-quilo', of: (one: Trip) => one.kilos ?? 0, text: (each: number) => reais(each), what: 'por quilo' },
  ] as const
  return measures.flatMap(({ code, of, text, what }): FreightFinding[] => {
    const own = of(trip)
    const known = [cities, earlier]
      .map((some) => some.filter((one) => of(one) > 0))
      .find((some) => some.length >= usualMin)
    if (own <= 0 || cents(trip.vTPrest) === 0 || known === undefined) return []
    const rate = cents(trip.vTPrest) / own
    const usual = median(known.map((one) => cents(one.vTPrest) / of(one)))
    // A small load pays as much as any other for the way: then nothing is charged that was not charged before.
    if (rate <= farFrom * usual || cents(trip.vTPrest) <= median(known.map((one) => cents(one.vTPrest)))) return []
    const isCity = known.every((one) => one.from.cMun === trip.from.cMun && one.to.cMun === trip.to.cMun)
    const way = isCity ? `de ${placeText(trip.from)} a ${placeText(trip.to)}` : `de ${trip.from.uf} a ${trip.to.uf}`
    return [
      {
        code,
        sentence: `O frete de ${reais(cents(trip.vTPrest))} é ${text(rate)} ${what}, ${times(rate / usual)} a mediana de ${known.length} viagens anteriores ${way} (${text(usual)}).`,
        inputs: { vTPrest: cents(trip.vTPrest), rate, usual, trips: known.length },
        documents: known.slice(0, documentsMax).map(({ chave }) => chave),
      },
    ]
  })
}

const placeText = ({ name, cMun, uf }: Place) => `${name ?? cMun} (${uf})`

const taxIdText = (taxId: string) => (taxId.length === 11 ? formatCpf(taxId) : formatCnpj(taxId))

const short = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 1 })
const percent = (rate: number) => `${short.format(rate * 100)}%`
const times = (ratio: number) => `${short.format(ratio)} vezes`
