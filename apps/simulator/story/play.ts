import { buildCte, type GeneratedCte } from '../generate/cte.ts'
import {
  buildNfeEvent,
  buildTrailSummary,
  manifestationDetail,
  nfeCancellationDetail,
  nfeCorrectionDetail,
} from '../generate/events.ts'
import { buildNfe, type GeneratedNfe } from '../generate/nfe.ts'
import { createRandom } from '../generate/random.ts'
import type { Signers } from '../generate/signers.ts'
import type { Frete, Linha, Nota } from './cases.ts'
import { type Entrega, transportadoras } from './office.ts'
import { carriers, clients, linesOf, movedTo, sellers, supplierOf } from './taxpayers.ts'

/** A sale of the story. */
export interface SaleOrder extends Pick<Nota, 'numero' | 'filial'> {
  at: number
  de: string
  para: string
  linhas: readonly Linha[]
  frete: Entrega['frete']
  transportadora?: keyof typeof transportadoras
  /** Level of the usual prices. */
  nivel?: number
}

interface FreightOrder extends Pick<Frete, 'por' | 'vezes' | 'carga'> {
  key: string
  at: number
  tomador?: Frete['tomador']
}

/** Writes and signs the documents of the story: the same for the same key and order. */
export interface Play {
  note(key: string, order: SaleOrder): Promise<GeneratedNfe>
  freight(noteKey: string, sale: SaleOrder, order: FreightOrder): Promise<GeneratedCte>
  /** The Ambiente Nacional tells of a CT-e or MDF-e of the note. */
  trail(noteKey: string, sale: SaleOrder, tpEvento: 610600 | 610614, at: number): Promise<Uint8Array>
  /** The client gives Ciência in the system that it used before. */
  answer(noteKey: string, sale: SaleOrder, at: number): Promise<Uint8Array>
  letter(noteKey: string, sale: SaleOrder, at: number, text: string): Promise<Uint8Array>
  cancel(noteKey: string, sale: SaleOrder, at: number): Promise<Uint8Array>
}

// Reais of a trip besides its kilos.
const perTrip = 85

export function createPlay({ signers, tpAmb }: { signers: Signers; tpAmb: 1 | 2 }): Play {
  const notes = new Map<string, Promise<GeneratedNfe>>()

  async function write(key: string, sale: SaleOrder): Promise<GeneratedNfe> {
    const { at, de, para, linhas, filial, transportadora, numero } = sale
    const { prazo, semIbsCbs } = supplierOf(de)
    const issuer = sellers(de)
    const client = clients(para)
    const lines = linesOf(de, linhas, sale.nivel)
    const order = {
      at,
      tpAmb,
      issuer,
      recipient: filial ? movedTo(client, filial) : client,
      carrier: transportadora && carriers(transportadora),
      serie: 1,
      numero: numero ?? numberAt(issuer.cnpj, at),
      items: lines,
      terms: {
        freightBy: freightBy[sale.frete],
        due: prazo,
        weight: lines.reduce((sum, { weight }) => sum + weight, 0),
        withoutReform: semIbsCbs,
      },
    }
    return buildNfe(createRandom(`note ${key}`), order, await signers.signerOf(issuer))
  }
  const note = (key: string, sale: SaleOrder) => {
    const written = notes.get(key) ?? write(key, sale)
    notes.set(key, written)
    return written
  }
  const event = async (
    kind: string,
    key: string,
    sale: SaleOrder,
    of: (note: GeneratedNfe) => Omit<Parameters<typeof buildNfeEvent>[1], 'tpAmb' | 'chave' | 'recipient' | 'author'>,
    by: (note: GeneratedNfe) => GeneratedNfe['issuer'] = ({ issuer }) => issuer,
  ) => {
    const written = await note(key, sale)
    const author = by(written)
    const parties = { chave: written.chave, author: author.cnpj, recipient: written.recipient.cnpj }
    const order = { ...of(written), ...parties, tpAmb }
    return buildNfeEvent(createRandom(`${kind} ${key}`), order, await signers.signerOf(author))
  }

  return {
    note,
    async freight(noteKey, sale, { key, at, por, vezes = 1, tomador, carga }) {
      const carrier = carriers(por)
      const random = createRandom(`freight ${key}`)
      const written = await note(noteKey, sale)
      const reais = perTrip + (written.weight / 1_000) * transportadoras[por].porQuilo
      const payer = tomador ?? (sale.frete === 'FOB' ? 'destinatário' : 'remetente')
      const order = {
        at,
        tpAmb,
        carrier,
        serie: 1,
        // Several lorries leave in one minute.
        numero: numberAt(carrier.cnpj, at) * 10 + random.integer(0, 9),
        vTPrest: Math.round(reais * vezes * 100),
        sender: written.issuer,
        receiver: written.recipient,
        toma: payer === 'destinatário' ? ('3' as const) : ('0' as const),
        cargo: [written],
        otherLoad: carga,
      }
      return buildCte(random, order, await signers.signerOf(carrier))
    },
    trail: async (noteKey, sale, tpEvento, at) => {
      const { chave } = await note(noteKey, sale)
      return buildTrailSummary(createRandom(`trail ${tpEvento} ${noteKey}`), { at, chave, tpEvento })
    },
    answer: (noteKey, sale, at) =>
      event(
        'answer',
        noteKey,
        sale,
        () => ({ at, tpEvento: 210210, ...manifestationDetail(210210) }),
        ({ recipient }) => recipient,
      ),
    letter: (noteKey, sale, at, text) =>
      event('letter', noteKey, sale, () => ({ at, tpEvento: 110110, ...nfeCorrectionDetail(text) })),
    cancel: (noteKey, sale, at) =>
      event('cancel', noteKey, sale, ({ nProt }) => ({ at, tpEvento: 110111, ...nfeCancellationDetail(nProt) })),
  }
}

const freightBy = { CIF: '0', FOB: '1', retira: '9' } as const

const numberingBegan = Date.UTC(2025, 0, 1)

function numberAt(cnpj: string, at: number): number {
  return createRandom(`numbers:${cnpj}`).integer(1_000, 90_000) + Math.floor((at - numberingBegan) / 60_000)
}
