import { cnpjBase } from '@vigia/dfe/cnpj'
import { type Correction, cleanEventText, type SignedEvent, type SigningCertificate } from '@vigia/sefaz/events'
import { protocols } from '../../events/protocols.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { serviceOf } from '../../platform/service.ts'
import { type EventDetails, UnwantedEvent } from '../../platform/signer/signer.ts'

/**
 * Signs an event that its row requests. Author, document, kind, number and text come from the row,
 * the time from the signer; `details` must agree with the row.
 */
export async function signWanted(
  db: Database,
  tpAmb: 1 | 2,
  workspaceId: number,
  details: EventDetails,
  certificate: SigningCertificate & { holderCnpj: string },
): Promise<SignedEvent> {
  const row = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('outgoing_event')
      .select(['type', 'cnpj', 'chave', 'tp_evento', 'sequence', 'justification', 'corrections'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', details.id)
      .where('state', 'in', ['waiting', 'sending'])
      .where('lease_by', '=', details.leaseBy)
      .executeTakeFirst(),
  )
  if (!row) throw new UnwantedEvent('no such event is wanted')
  if (cnpjBase(row.cnpj) !== cnpjBase(certificate.holderCnpj))
    throw new UnwantedEvent('the certificate is of another CNPJ')
  const text = agreedText(row.justification, details.text)
  const head = { tpAmb, cnpj: row.cnpj, chave: row.chave, nSeqEvento: row.sequence, at: new Date() }
  const corrections =
    (row.corrections ?? details.corrections) ? agreedCorrections(row.corrections, details.corrections) : undefined
  const order = { ...head, tpEvento: row.tp_evento, text, protocol: details.protocol, corrections }
  return protocols[serviceOf(row.type)].sign(order, certificate)
}

// Some kinds have no place for the text of the person, and leave without it.
function agreedText(wanted: string | null, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const clean = wanted === null ? undefined : cleanEventText(wanted)
  if (text !== clean) throw new UnwantedEvent('the text is not the one that is wanted')
  return text
}

// A letter repeats those of the letter before, which the row does not have; what the row has must be in it.
function agreedCorrections(wanted: unknown, corrections: readonly Correction[] = []): readonly Correction[] {
  const texts = new Set(corrections.map(textOf))
  if (!Array.isArray(wanted) || !wanted.every((correction) => texts.has(textOf(correction as Correction))))
    throw new UnwantedEvent('the corrections are not those that are wanted')
  return corrections
}

function textOf({ grupoAlterado, campoAlterado, valorAlterado, nroItemAlterado }: Correction): string {
  return JSON.stringify([grupoAlterado, campoAlterado, valorAlterado, nroItemAlterado])
}
