import type { FamilyId } from '@vigia/dfe/families/id'
import { sql } from 'kysely'
import type { EventProtocol } from '../../events/protocols/protocol.ts'
import { eventXml } from './deliveries.ts'

const time = () => `${new Date().toISOString().slice(0, 19)}Z`

const protocol: EventProtocol = {
  eventsMax: 1,
  url: () => 'https://authority.example/eventos',
  isUp: () => sql`true`,
  use: () => ({ service: 'Eventos', purpose: 'envio de eventos de recibo' }),
  cites: {},
  sign: ({ chave, tpEvento, nSeqEvento, cnpj }) => ({
    id: `E${chave}`,
    xml: eventXml(chave, tpEvento, cnpj, time()),
    tpEvento,
    chave,
    nSeqEvento,
  }),
  async send(_, __, { events: [event] }) {
    const said = { cStat: 135, xMotivo: 'Registrado', protocol: '5', registeredAt: time(), xml: event!.xml }
    return { whole: said, of: () => said }
  },
  outcome: (cStat) => (cStat === 135 ? 'registered' : 'rejected'),
  clock: { ahead: 0, behind: [] },
  receipt: { schema: 'evento_v1.00.xsd', write: (_, { xml }) => xml },
  words: {
    registered: ['recibo respondido', 'recibos respondidos'],
    registeredBesides: ['respondido', 'respondidos'],
    alreadyRegistered: 'Já estava registrado',
  },
}

/** In place of apps/server/events/protocols.ts. */
export const protocols: Readonly<Record<FamilyId | 'recibo', EventProtocol>> = {
  nfe: protocol,
  cte: protocol,
  recibo: protocol,
}
