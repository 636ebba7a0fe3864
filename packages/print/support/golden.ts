import { dacte } from '../dacte.ts'
import { danfe } from '../danfe.ts'
import { printEvent } from '../event.ts'
import { modals, writeCte, writeCteOs, writeSimplificado } from './cte.ts'
import { writeCorrections, writeEvent } from './event.ts'
import { writeNfe } from './nfe.ts'

/** Folder of the golden files. */
export const goldenFolder = new URL('../golden/', import.meta.url)

const remark = 'Mercadoria sujeita a substituição tributária; não gera direito a crédito de ICMS. '

/** The forms that are kept as files, by name, each of a document that is written here. */
export const goldenForms: Record<string, () => Uint8Array> = {
  'danfe-1-item': () => danfe(writeNfe({ items: 1 })),
  'danfe-landscape': () => danfe(writeNfe({ items: 3, duplicatas: 3, tpImp: '2' })),
  'danfe-ibs-cbs-is': () => danfe(writeNfe({ newTaxes: true })),
  'danfe-cancelled': () =>
    danfe(writeNfe({ items: 1 }), { cancelled: { protocol: '135260000000009', at: '2026-08-13T08:00:00-03:00' } }),
  'danfe-homologacao': () => danfe(writeNfe({ items: 1, tpAmb: '2' })),
  'danfe-fs-da': () => danfe(writeNfe({ items: 1, tpEmis: '5', cStat: null })),
  'danfe-long-texts-40-duplicatas': () =>
    danfe(writeNfe({ long: true, items: 1, duplicatas: 40, infCpl: remark.repeat(20).trim() })),
  'danfe-letters-in-cnpj': () => danfe(writeNfe({ items: 1, cnpj: '12ABC34501DE35' })),
  'dacte-rodoviario': () => dacte(writeCte({ xObs: remark.trim() })),
  'dacte-landscape': () => dacte(writeCte({ tpImp: '2' })),
  'dacte-aereo': () => dacte(writeCte({ modal: '02', infModal: modals.air })),
  'dacte-complementar': () => dacte(writeCte({ complements: 2 })),
  'dacte-os': () => dacte(writeCteOs()),
  'dacte-simplificado': () => dacte(writeSimplificado(3)),
  'event-carta-de-correcao-nfe': () => printEvent(writeEvent(), writeNfe()),
  'event-carta-de-correcao-cte': () => printEvent(writeCorrections(2), writeCte()),
  'event-cancelamento': () =>
    printEvent(writeEvent({ tpEvento: '110111', detail: '<nProt>1</nProt><xJust>Erro de digitação</xJust>' })),
}
