import type { DocumentDetail } from '@vigia/contract/documents'
import { familyById, keyOf, parseKey } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { Session } from '../../platform/http/session.ts'
import { createThreads, defaultThreads, ThreadError } from '../../platform/threads.ts'
import { getFile, readEventFiles } from '../files.ts'
import { missingText } from '../list/missing.ts'
import { type DocumentListRow, readRows, toRow } from '../list/rows.ts'
import { listRemarks } from '../workflow/remarks.ts'
import { toldEvents } from './event-texts.ts'
import type { Files, Said } from './said.ts'
import { numberText } from './texts.ts'
import { type ReadSent, readTimeline } from './timeline.ts'

type RelatedDocument = DocumentDetail['relacionados'][number]

/** Contents, history and related documents of a document. Refuses ids like `getFile`. */
export async function getDetails(
  ctx: Pick<Context, 'db' | 'ids'>,
  session: Session,
  publicId: string,
  readSent: ReadSent,
): Promise<DocumentDetail> {
  const { workspaceId } = session
  const file = await getFile(ctx, workspaceId, publicId)
  // No connection waits for a thread. Documents stay, so what follows finds it again.
  const events = await readWorkspace(ctx, workspaceId, ({ db }) => readEventFiles(db, workspaceId, file, toldEvents))
  const { sections, items, references, names, protocol, reform, ...said } = await readDocument({
    content: file.content,
    events,
  })
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const [row] = await readRows(ctx.db, workspaceId, [file.id])
    names.set(row!.issuer_tax_id, row!.issuer_name)
    names.set(row!.company_cnpj, row!.company_name)
    return {
      documento: toRow(row!, workspaceId, ctx.ids),
      nome: nameOf(row!),
      secoes: sections,
      itens: items,
      relacionados: await readRelated(ctx, workspaceId, row!, references),
      anotacoes: await listRemarks(ctx, session, row!.id),
      historico: await readTimeline(ctx.db, workspaceId, {
        row: row!,
        receivedAt: file.received_at,
        names,
        protocol,
        sent: await readSent(ctx.db, workspaceId, row!),
        texts: said.events,
      }),
      falta: missingText(row!, new Date()),
      reforma: reform,
    }
  })
}

const threads = createThreads<Files, Said>({
  file: new URL('./reader-worker.ts', import.meta.url),
  threads: defaultThreads,
  waitingMax: 50,
  timeoutMs: 10_000,
  memoryMb: 256,
  idleMs: 60_000,
})

async function readDocument({ content, events }: Files): Promise<Said> {
  try {
    // A view into a larger buffer would be sent with the whole buffer.
    const files = {
      content: new Uint8Array(content),
      events: events.map(([id, xml]) => [id, new Uint8Array(xml)] as const),
    }
    return await threads.run(files)
  } catch (cause) {
    if (!(cause instanceof ThreadError)) throw cause
    throw new AppError(
      cause.reason === 'full' ? 'too-many' : 'unavailable',
      cause.reason === 'full' || cause.reason === 'closed'
        ? 'Há documentos demais desta conta sendo abertos neste momento. Seus documentos estão seguros; tente de novo em instantes.'
        : 'Ler este documento demorou demais ou foi interrompido. O XML original está guardado e íntegro, e pode ser baixado.',
      { cause, retryAfterMs: cause.reason === 'full' ? 5_000 : 60_000 },
    )
  }
}

const modelNames: Record<string, string> = { 64: 'GTV-e', 65: 'NFC-e', 67: 'CT-e OS' }

// People have the article of nobody: "da" is for companies.
function nameOf({ chave, number, issuer_name, issuer_tax_id }: DocumentListRow): string {
  const { model, family } = keyOf(chave)
  const name = modelNames[model ?? ''] ?? familyById(family).name
  return `${name} ${numberText(number)} ${issuer_tax_id.length === 11 ? 'de' : 'da'} ${issuer_name}`
}

// A chave of 44 positions may be of a kind of document that the authority does not deliver: MDF-e, NFC-e, CF-e.
function familyCited(chave: string): RelatedDocument['tipo'] {
  const key = parseKey(chave)
  if (!key || (key.model !== null && !familyById(key.family).models.includes(key.model))) return 'outro'
  return key.family
}

async function readRelated(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  { company_id, chave }: DocumentListRow,
  named: Said['references'],
): Promise<RelatedDocument[]> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const find = async (condition: RawBuilder<boolean>) => {
    const conditions = sql.join([sql`d.workspace_id = ${workspaceId}`, condition, ...shown], sql` and `)
    const { rows } = await sql<{ id: bigint; chave: string; company_id: number; tp_cte: number | null }>`
      select d.id, d.chave, d.company_id, d.tp_cte from document d
       where ${conditions} order by d.chave, d.id limit ${relatedMax}`.execute(db)
    return rows
  }
  const later = await find(sql`d.corrects = ${chave}`)
  const cited = named.filter((reference) => reference.chave !== chave)
  const found = cited.length > 0 ? await find(sql`d.chave = any (${cited.map((one) => one.chave)}::text[])`) : []
  const related = (relacao: string, chave: string, here: typeof found): RelatedDocument => {
    // Prefer the copy of the same company when several have the document.
    const best = here.find((one) => one.company_id === company_id) ?? here[0]
    return { relacao, chave, tipo: familyCited(chave), idDfe: best ? ids.encode(workspaceId, best.id) : null }
  }
  const corrections = Map.groupBy(later, (one) => one.chave)
  return [
    ...[...corrections].map(([chave, here]) => related(correctedHow(here[0]!.tp_cte), chave, here)),
    ...cited.map(({ relation, chave }) =>
      related(
        relation,
        chave,
        found.filter((one) => one.chave === chave),
      ),
    ),
  ]
}

// A CT-e carries up to some thousand notes, each of which several companies may have.
const relatedMax = 10_000

// tpCTe (MOC CT-e 4.00, Anexo I).
function correctedHow(tpCTe: number | null): string {
  if (tpCTe === 1) return 'CT-e que complementa este'
  return tpCTe === 2 ? 'CT-e que anula este' : 'CT-e que substitui este'
}
