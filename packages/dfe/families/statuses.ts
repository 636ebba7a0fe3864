import type { Status } from './family.ts'

/** Codes of the statuses that filter documents, equal in all families (NT 2020.001; MOC 7.0). */
export const status = {
  summary: 1,
  authorized: 2,
  cancelled: 3,
  unknownOperation: 4,
  notPerformed: 5,
  confirmed: 6,
  corrected: 7,
  acknowledged: 8,
  denied: 9,
  noProtocol: 10,
} as const

const rows = {
  summary: { name: 'Resumo', stands: false, final: false, eventCode: 0 },
  authorized: { name: 'Autorizada', stands: true, final: false, eventCode: 100 },
  cancelled: { name: 'Cancelada', stands: false, final: true, eventCode: 110111 },
  unknownOperation: { name: 'Desconhecimento', stands: false, final: false, eventCode: 0 },
  notPerformed: { name: 'Operação Não Realizada', stands: false, final: false, eventCode: 0 },
  confirmed: { name: 'Confirmação', stands: true, final: false, eventCode: 0 },
  corrected: { name: 'Carta Correção', stands: true, final: false, eventCode: 0 },
  acknowledged: { name: 'Ciência', stands: true, final: false, eventCode: 0 },
  denied: { name: 'Denegada', stands: false, final: true, eventCode: 302 },
  noProtocol: { name: 'Sem protocolo', stands: false, final: false, eventCode: 0 },
}

/** Builds the statuses of a family: `filtered` are in the list filter, `shown` are not. */
export function statusesOf(filtered: (keyof typeof rows)[], shown: (keyof typeof rows)[]): Status[] {
  return [...filtered, ...shown].map((name) => ({ code: status[name], ...rows[name], filter: filtered.includes(name) }))
}
