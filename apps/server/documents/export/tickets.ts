import { downloadExport, downloadPrint, type linkExport } from '@vigia/contract/document-files'
import type { RouteData } from '@vigia/contract/route'
import type { Holder } from '../../accounts/link-holder.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'

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
  const plain = `${workspaceId}/${id}/${validUntil.getTime()}/${publicId}`
  const { path } = form === 'zip' ? downloadExport : downloadPrint
  const ticket = vault.encrypt(plain, purpose).toString('base64url')
  return { endereco: path.replace('{bilhete}', ticket), validoAte: validUntil.toISOString() }
}

/** Opens a ticket; null: it is not ours. */
export function openTicket({ vault }: Pick<Context, 'vault'>, ticket: string): Ticket | null {
  if (!/^[\w-]{40,200}$/.test(ticket)) return null
  let plain: string
  try {
    plain = vault.decrypt(Buffer.from(ticket, 'base64url'), purpose)
  } catch {
    return null
  }
  const [workspaceId = '', id = '', validUntil = '', publicId = ''] = plain.split('/')
  return { workspaceId: Number(workspaceId), publicId, id: BigInt(id), validUntil: new Date(Number(validUntil)) }
}

export const notThere = () =>
  new AppError(
    'not-found',
    'Exportação não encontrada, ou já apagada: um arquivo fica um dia. Seus documentos estão seguros: exporte de novo.',
  )
