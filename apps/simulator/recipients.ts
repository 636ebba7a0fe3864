import type { InvolvedParty, PartyRole, Service } from './inspect.ts'

// S: delivered. R: delivered to the destinatário only after its Ciência, Confirmação or Operação não Realizada.
type DeliveryCode = 'S' | 'R' | 'N'

interface DeliveryRow {
  emitente: DeliveryCode
  destinatario: DeliveryCode
  transportador: DeliveryCode
  terceiro: DeliveryCode
  interessado: DeliveryCode
}

function row(cells: string): DeliveryRow {
  const [emitente, destinatario, transportador, terceiro, interessado] = cells.split('') as [
    DeliveryCode,
    DeliveryCode,
    DeliveryCode,
    DeliveryCode,
    DeliveryCode,
  ]
  return { emitente, destinatario, transportador, terceiro, interessado }
}

// Table of NT 2014.002 v1.30, columns emitente, destinatário, transportador, terceiro (autXML), ator interessado (110150).
const nfeEventRows: [codes: number[], DeliveryRow][] = [
  [[110111, 110112], row('NSSSS')],
  [[110110], row('NRSSS')],
  [[210200, 210210, 210220, 210240], row('SNNSN')],
  [[990900, 990910], row('SRNSN')],
  [[110140], row('NRSNS')],
  [[111500, 111501, 111502, 111503], row('NRNNN')],
  [[411500, 411501, 411502, 411503], row('SRNNN')],
  [[790700], row('SRSSS')],
  [[610600, 610601], row('SRSSS')],
  [[610610, 610611, 610614, 610615], row('SRSSS')],
  [[610500, 610501, 610510, 610511, 610514, 610515, 610550, 610552, 610554], row('SRSSS')],
  [[610130, 610131], row('SRSSS')],
  [[110130, 110131, 110192, 110193], row('NRSSN')],
  // Not in the table: everybody except the author of an ator interessado event gets it.
  [[110150], row('SRSSS')],
]
const rowByCode = new Map(nfeEventRows.flatMap(([codes, cells]) => codes.map((code) => [code, cells] as const)))

// The rows of the tax reform events and of newer codes are not published: both sides and the terceiros receive them.
const unlistedRow = row('SRNSN')

/** The roles each taxpayer has in a document. */
export function rolesByTaxpayer(parties: InvolvedParty[]): Map<string, Set<PartyRole>> {
  const roles = new Map<string, Set<PartyRole>>()
  for (const { taxId, role } of parties) {
    const known = roles.get(taxId)
    if (known === undefined) roles.set(taxId, new Set([role]))
    else known.add(role)
  }
  return roles
}

/** Form in which a taxpayer receives an authorised document. */
type DocumentDelivery = 'none' | 'summary-first' | 'complete' | 'without-chaves'

/** NF-e: nothing for the emitente, first the resumo for the destinatário, the XML for others. */
export function documentDelivery(service: Service, roles: Set<PartyRole>): DocumentDelivery {
  if (roles.has('emitente')) return 'none'
  if (service === 'nfe') return roles.has('destinatario') ? 'summary-first' : 'complete'
  // Readers by autXML get the CT-e with the chaves of other documents taken out (NT 2015.002).
  return roles.size === 1 && roles.has('terceiro') ? 'without-chaves' : 'complete'
}

/** Whether a taxpayer receives an event: at once, once the NF-e is released to it, or never. */
export function eventDelivery(
  service: Service,
  tpEvento: number,
  roles: Set<PartyRole>,
  isAuthor: boolean,
): 'now' | 'when-released' | 'never' {
  if (isAuthor) return 'never'
  // The CT-e table publishes no event rows: everybody except the author gets the event.
  if (service === 'cte') return 'now'
  const cells = rowByCode.get(tpEvento) ?? unlistedRow
  if (roles.has('emitente')) return cells.emitente === 'S' ? 'now' : 'never'
  if (roles.has('destinatario')) return deliveryOf(cells.destinatario)
  const cell = [
    roles.has('transportador') && cells.transportador,
    roles.has('terceiro') && cells.terceiro,
    roles.has('ator-interessado') && cells.interessado,
  ]
  return cell.includes('S') ? 'now' : 'never'
}

function deliveryOf(cell: DeliveryCode): 'now' | 'when-released' | 'never' {
  if (cell === 'N') return 'never'
  return cell === 'S' ? 'now' : 'when-released'
}

/** The CT-e that a reader by autXML gets: every chave of another document is 44 nines, nothing else changes. */
export function withoutChaves(cte: Uint8Array): Uint8Array {
  // One character per byte, because only the chaves may change, whatever the encoding.
  const text = Buffer.from(cte).toString('latin1')
  const groups = /<((?:\w+:)?(?:infDoc|docAnt|infNFe|infDocAnt|refCTe\w*))[\s>][\s\S]*?<\/\1>/g
  const masked = text.replace(groups, (group) =>
    group.replace(/(>)[0-9]{6}[0-9A-Z]{12}[0-9]{26}(?=<\/)/g, `$1${'9'.repeat(44)}`),
  )
  return Buffer.from(masked, 'latin1')
}
