import { Readable } from 'node:stream'
import { writeBrasiliaTime } from '@vigia/contract/text'
import { downloadAudit, type exportAudit } from '@vigia/contract/workspace'
import type { Context } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import type { Caller, Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { createLimiter } from '../../platform/limiter.ts'
import { openLink, sealLink } from '../../platform/vault.ts'
import { endWithHolder, requireHolder } from '../link-holder.ts'
import { recordRead } from './audit.ts'
import { writeAudit } from './csv.ts'

// A browser saves a large file only when it follows a link, and a link carries no token: the ticket says who wanted it.
interface Ticket {
  workspaceId: number
  accountId: number
  accountName: string
  /** Public id of the session that requested the export. */
  publicId: string
  /** Shared accounts: no address is stored. */
  shared: boolean
  validUntil: number
}

const purpose = 'ticket of the audit'
const linkLifeMs = 2 * 60_000

/** A link to the whole audit of the workspace of `session`, for two minutes. */
export function linkAudit(
  { vault }: Pick<Context, 'vault'>,
  { workspaceId, accountId, accountName, publicId, shared }: Session,
): DataOf<typeof exportAudit> {
  const now = Date.now()
  const ticket: Ticket = { workspaceId, accountId, accountName, publicId, shared, validUntil: now + linkLifeMs }
  return {
    endereco: downloadAudit.path.replace('{bilhete}', sealLink(vault, ticket, purpose)),
    validoAte: new Date(ticket.validUntil),
    nome: nameAt(new Date(now)),
  }
}

function nameAt(at: Date): string {
  return `Auditoria ${writeBrasiliaTime(at).slice(0, 16).replace('T', ' às ').replace(':', 'h')}.csv`
}

// A browser that breaks off tries again; a link that leaks is worth nothing afterwards.
const fetches: Limit = { name: 'audit-export', times: 3, withinMs: linkLifeMs }
const takeDownload = createLimiter({
  each: 1,
  waiting: 1,
  full: 'A auditoria desta conta já está sendo baixada. Os registros estão seguros: espere o download terminar e exporte de novo.',
})
const everything = { companies: null, whole: true }

/** The whole audit that a ticket stands for, as CSV, up to the entry that says who took it. */
export async function openAudit(
  ctx: Pick<Context, 'db' | 'vault' | 'log'>,
  ticket: string,
  { address, isHead }: Pick<Caller, 'address' | 'isHead'>,
): Promise<{ content: Readable; fileName: string }> {
  const opened = openLink<Ticket>(ctx.vault, ticket, purpose)
  if (!opened)
    throw new AppError(
      'not-found',
      'Este link não existe. Os registros estão seguros: exporte de novo na página Auditoria.',
    )
  const { workspaceId, accountId, accountName, shared, validUntil } = opened
  if (validUntil <= Date.now())
    throw new AppError(
      'gone',
      'Este link valia por dois minutos, que já passaram. Os registros estão seguros: exporte de novo na página Auditoria.',
    )
  await requireHolder(ctx, opened, everything)
  await countTry(ctx, fetches, ticket)
  await using stack = new AsyncDisposableStack()
  stack.use(await takeDownload(workspaceId))
  const reader = { workspaceId, accountId, accountName, address: shared ? undefined : address }
  await inWorkspace(ctx, workspaceId, ({ db }) => recordRead({ db }, reader, { isHead }, 'Baixou a auditoria inteira.'))
  const content = Readable.from(writeAudit(ctx, workspaceId), { objectMode: false })
  stack.use(endWithHolder(ctx, opened, everything, content))
  const held = stack.move()
  content.once('close', () => void held.disposeAsync())
  return { content, fileName: nameAt(new Date()) }
}
