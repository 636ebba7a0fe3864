import { cancelamento, cartaCorrecao, cte, desacordo, retiradaDesacordo } from '@vigia/dfe/families/cte'
import { eventKind } from '@vigia/dfe/families/lookup'
import { ufs } from '@vigia/dfe/uf'
import { cteEventUrl } from '@vigia/sefaz/endpoints'
import { eventOutcome, processedEvent, sendCteEvent, signCteEvent } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import type { EventProtocol } from './protocol.ts'

/** Events of CT-e, one by one to the authoriser of the UF (MOC CT-e 4.00). */
export const cteProtocol: EventProtocol = {
  eventsMax: 1,
  url: cteEventUrl,
  isUp(endpoints, isPaused) {
    const down = ufs.map(({ code }) => String(code)).filter((code) => isPaused(cteEventUrl(endpoints, code)))
    return sql`left(o.chave, 2) <> all (${down}::text[])`
  },
  use: (_, [event]) => ({
    service: 'CTeRecepcaoEventoV4',
    purpose: `Envio de ${eventKind(cte.id, event!.tpEvento)?.description} do CT-e ${event!.chave}`,
  }),
  cites: { [cancelamento]: 'authorization', [cartaCorrecao]: 'corrections', [retiradaDesacordo]: 'disagreement' },
  sign({ text = '', protocol = '', corrections = [], tpEvento, ...head }, certificate) {
    switch (tpEvento) {
      case cancelamento:
        return signCteEvent({ ...head, tpEvento, nProt: protocol, xJust: text }, certificate)
      case cartaCorrecao:
        return signCteEvent({ ...head, tpEvento, corrections }, certificate)
      case desacordo:
        return signCteEvent({ ...head, tpEvento, xObs: text }, certificate)
      case retiradaDesacordo:
        return signCteEvent({ ...head, tpEvento, nProtEvPrestDes: protocol }, certificate)
      default:
        throw new TypeError(`no event of a CT-e that leaves from here: ${tpEvento}`)
    }
  },
  async send(connection, url, { events: [event] }) {
    const result = await sendCteEvent(connection, { url, event: event! })
    return { whole: result, of: () => result }
  },
  outcome: (cStat) => eventOutcome(cte.id, cStat),
  clock: { ahead: 635, behind: [634, 637] },
  receipt: { schema: 'procEventoCTe_v4.00.xsd', write: processedEvent },
  // A Cancelamento or a Carta de Correção answers no document.
  words: {
    registered: ['evento registrado', 'eventos registrados'],
    registeredBesides: ['registrado', 'registrados'],
    alreadyRegistered: 'O evento já estava registrado na SEFAZ',
  },
}
