import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { nfe } from '@vigia/dfe/families/nfe'
import {
  eventOutcome,
  type Manifestation,
  processedEvent,
  sendManifestations,
  signManifestation,
} from '@vigia/sefaz/events'
import { sql } from 'kysely'
import type { EventProtocol } from './protocol.ts'

// Any other code means that the lote was not processed, and holds for all its events.
const loteProcessed = 128

/** Manifestação do destinatário, in lotes to the Ambiente Nacional (NT 2020.001). */
export const nfeProtocol: EventProtocol = {
  eventsMax: 20,
  url: ({ manifestation }) => manifestation,
  isUp: ({ manifestation }, isPaused) => sql`${!isPaused(manifestation)}::boolean`,
  use: (cnpj, { length }) => ({
    service: 'NFeRecepcaoEvento4',
    purpose: `Envio de manifestações de NF-e do CNPJ ${formatCnpj(cnpj)} (${formatCount(length, 'nota', 'notas')})`,
  }),
  cites: {},
  sign({ text, tpEvento, ...head }, certificate) {
    if (!isManifestation(tpEvento)) throw new TypeError(`no event of an NF-e that leaves from here: ${tpEvento}`)
    return signManifestation({ ...head, tpEvento, xJust: text }, certificate)
  },
  async send(connection, url, { id, events }) {
    const lote = await sendManifestations(connection, { url, idLote: id, events })
    if (lote.cStat !== loteProcessed) {
      const whole = { cStat: lote.cStat, xMotivo: lote.xMotivo, ofLoteWith: events.length }
      return { whole, of: () => whole }
    }
    return {
      whole: lote,
      of: (signed) =>
        lote.results.find(
          ({ chave, tpEvento, nSeqEvento }) =>
            chave === signed.chave && tpEvento === signed.tpEvento && nSeqEvento === signed.nSeqEvento,
        ),
    }
  },
  outcome: (cStat) => eventOutcome(nfe.id, cStat),
  clock: { ahead: 578, behind: [577, 579] },
  receipt: { schema: 'procEventoNFe_v1.00.xsd', write: processedEvent },
  words: {
    registered: ['documento manifestado', 'documentos manifestados'],
    registeredBesides: ['manifestado', 'manifestados'],
    alreadyRegistered: 'Já estava registrada na SEFAZ',
  },
}

const isManifestation = (code: number): code is Manifestation['tpEvento'] =>
  nfe.answers.some(({ tpEvento }) => tpEvento === code)
