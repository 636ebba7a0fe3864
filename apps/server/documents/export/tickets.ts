import { downloadExport, downloadPrint, type linkExport } from '@vigia/contract/document-files'
import type { RouteData } from '@vigia/contract/route'
import type { Holder } from '../../accounts/link-holder.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { openLink, sealLink } from '../../platform/vault.ts'

export type Form = 'zip' | 'pdf'

export type Link = RouteData<typeof linkExport>

export interface Ticket extends Holder {
  id: bigint
  validUntil: Date
}

const purpose = 'ticket of an export'
const linkLifeMs = 10 * 60_000

/** The address of a file, with a ticket that only this installation can make. */
export function linkTo(
  { vault }: Pick<Context, 'vault'>,
  { workspaceId, publicId }: Holder,
  { id, form }: { id: bigint; form: Form },
): Link {
  const validUntil = new Date(Date.now() + linkLifeMs)
  const { path } = form === 'zip' ? downloadExport : downloadPrint
  const ticket = sealLink(vault, { workspaceId, publicId, id: String(id), validUntil }, purpose)
  return { endereco: path.replace('{bilhete}', ticket), validoAte: validUntil.toISOString() }
}

/** Opens a ticket; null: it is not ours. */
export function openTicket({ vault }: Pick<Context, 'vault'>, ticket: string): Ticket | null {
  const opened = openLink<Holder & { id: string; validUntil: string }>(vault, ticket, purpose)
  return opened && { ...opened, id: BigInt(opened.id), validUntil: new Date(opened.validUntil) }
}

export const notThere = () =>
  new AppError(
    'not-found',
    'Exportação não encontrada, ou já apagada: um arquivo fica um dia. Seus documentos estão seguros: exporte de novo.',
  )
