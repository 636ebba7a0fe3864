import { type ExportItem, type exportDocuments, exportMax } from '@vigia/contract/document-files'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { companiesShown, countRows, inWorkspace, jsonTime, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { requireRecentProof } from '../../platform/http/proof.ts'
import { isAdministrator, type Session } from '../../platform/http/session.ts'
import { all, type Criteria } from '../list/filter.ts'
import { countDocuments } from '../list/list.ts'
import {
  findKept,
  isKept,
  isLeaving,
  type Kept,
  keptMax,
  makeRoom,
  newSecret,
  queueExport,
  readRunning,
} from './keeping.ts'
import { contentsText, criteriaText, type ExportContents } from './texts.ts'
import { type Form, type Link, linkTo, notThere } from './tickets.ts'

/** Documents for one file: by their public ids, or all that criteria find. */
interface ExportRequest {
  documents: string[] | Criteria
  /** Contents of the ZIP; null: the printed forms as one PDF. */
  contents: ExportContents | null
}

const waitingMax = 10

export async function prepareExport(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  session: Session,
  { documents, contents }: ExportRequest,
): Promise<RouteData<typeof exportDocuments>> {
  const { workspaceId } = session
  const now = new Date()
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const { total, filter, kinds, ...choice } = Array.isArray(documents)
      ? await ofIds(ctx, workspaceId, documents)
      : await ofCriteria(ctx, workspaceId, documents)
    requireRoom(total, contents)
    const form: Form = contents ? 'zip' : 'pdf'
    const made = writeBrasiliaTime(now).slice(0, 16).replace('T', ' às ').replace(':', 'h')
    const fileName = `${contents ? kinds : `${kinds} para imprimir`} ${made}.${form}`
    const { accountName: requestedBy, shared } = session
    const kept: Kept = { ...choice, contents, filter, fileName, requestedBy, shared, secret: newSecret() }
    const { db } = ctx
    await requireTurn(db, workspaceId)
    const { rows } = await sql<{ id: bigint }>`
      insert into document_export (workspace_id, account_id, form, total, request, company_ids)
      values (${workspaceId}, ${session.accountId}, ${form}, ${total}, ${JSON.stringify(kept)}, ${companiesShown(ctx)})
      returning id`.execute(db)
    const { id } = rows[0]!
    await queueExport({ db }, { workspaceId, id, queue: form })
    const count = formatCount(total, 'documento', 'documentos')
    await recordAudit(
      { db },
      session,
      'exportacao',
      contents
        ? `Exportou ${count} (${contentsText(contents)}): ${filter}.`
        : `Pediu a impressão de ${count}: ${filter}.`,
    )
    return {
      ...linkTo(ctx, session, { id, form }),
      idExportacao: ctx.ids.encode(workspaceId, id),
      nome: fileName,
      totalDeItens: total,
    }
  })
}

async function requireTurn(db: Context['db'], workspaceId: number): Promise<void> {
  await makeRoom({ db }, workspaceId, 1)
  const waiting = sql`from document_export where workspace_id = ${workspaceId} and state = 'waiting' and not ${isLeaving}`
  if ((await countRows(db, waiting)) >= waitingMax)
    throw new AppError(
      'too-many',
      'Já há dez exportações e impressões desta conta na fila. Seus documentos estão seguros: espere uma delas ficar pronta e peça de novo.',
      { retryAfterMs: 30_000 },
    )
}

const situations = { waiting: 'na-fila', ready: 'pronta', failed: 'falhou' } as const

// Files of everything stand beside them.
const listedMax = 2 * keptMax

/** Kept exports and prints, newest first; only administrators see archives of everything. */
export async function readExports(ctx: Pick<Context, 'db' | 'ids'>, session: Session): Promise<ExportItem[]> {
  const { workspaceId } = session
  const { found, running } = await readWorkspace(ctx, workspaceId, async ({ db }) => ({
    running: await readRunning({ db }, workspaceId),
    found: await sql<Omit<ExportItem, 'id' | 'situacao'> & { id: bigint; state: keyof typeof situations }>`
      select id, state, request ->> 'fileName' as nome, form as formato, done as feitos, total, bytes::float8 as bytes,
             request ->> 'requestedBy' as "pedidaPor", ${jsonTime(sql`requested_at`)} as "pedidaEm", problem as problema, ${isLeaving} as tudo
        from document_export
       where workspace_id = ${workspaceId} and ${isKept} and (${isAdministrator(session)} or not ${isLeaving})
       order by id desc limit ${listedMax}`.execute(db),
  }))
  return found.rows.map(({ id, state, ...row }) => ({
    ...row,
    id: ctx.ids.encode(workspaceId, id),
    situacao: state === 'waiting' && running.has(String(id)) ? 'em-andamento' : situations[state],
  }))
}

/** New link to an export, for anyone in the workspace; for everything, after a recent proof only. */
export async function renewLink(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  session: Session,
  publicId: string,
): Promise<Link> {
  const { workspaceId } = session
  const id = ctx.ids.decode(workspaceId, publicId)
  const found = id !== null && (await findKept(ctx, { workspaceId, id }))
  if (!found) throw notThere()
  if (found.request.leaving && !isAdministrator(session)) throw notThere()
  if (found.request.leaving) requireRecentProof(session)
  return linkTo(ctx, session, { id, form: found.form })
}

async function ofCriteria(ctx: WithDatabase, workspaceId: number, criteria: Criteria) {
  const { rows } = await sql<{ name: string; cnpj: string }>`
    select name, cnpj from company where workspace_id = ${workspaceId} and id = ${criteria.companyId ?? null}`.execute(
    ctx.db,
  )
  return {
    criteria,
    total: await countDocuments(ctx, workspaceId, criteria),
    filter: criteriaText(criteria, rows[0]),
    kinds: familyOf(criteria.TipoDFe).name,
  }
}

async function ofIds({ db, ids }: Pick<Context, 'db' | 'ids'>, workspaceId: number, documents: string[]) {
  const decoded = [...new Set(documents)].map((id) => ids.decode(workspaceId, id))
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const known = decoded.filter((id) => id !== null)
  const { rows } = await sql<{ id: bigint; type: number }>`
    select d.id, d.type from document d
     where ${all([sql`d.workspace_id = ${workspaceId}`, sql`d.id = any (${known}::bigint[])`, ...shown])}
     order by d.issued_at desc, d.id desc`.execute(db)
  if (rows.length < decoded.length) throw new AppError('not-found', 'Documento não encontrado.')
  const kinds = new Set(rows.map(({ type }) => familyOf(type).name))
  return {
    ids: rows.map(({ id }) => String(id)),
    total: rows.length,
    filter: formatCount(rows.length, 'documento escolhido', 'documentos escolhidos'),
    kinds: [...kinds].sort().reverse().join(' e '),
  }
}

function requireRoom(total: number, contents: ExportContents | null): void {
  if (total === 0) throw new AppError('conflict', 'Nenhum documento corresponde a este filtro: não há o que exportar.')
  const [documents, withPdf] = [exportMax.documents, exportMax.withPdf].map(formatInteger)
  const are = `são ${formatInteger(total)}. Nada foi exportado`
  if (total > exportMax.documents)
    throw new AppError(
      'conflict',
      `Uma exportação alcança até ${documents} documentos, e ${are}: escolha um período menor.`,
    )
  if (contents === null && total > exportMax.printed)
    throw new AppError(
      'conflict',
      `Uma impressão alcança até ${formatInteger(exportMax.printed)} documentos, e são ${formatInteger(total)}. Nada foi impresso: escolha um período menor, ou exporte os PDF.`,
    )
  if (contents?.pdf && total > exportMax.withPdf)
    throw new AppError(
      'conflict',
      `Com PDF, uma exportação alcança até ${withPdf} documentos, e ${are}: escolha um período menor ou exporte sem PDF.`,
    )
}
