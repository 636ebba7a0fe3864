import { listChanges } from '@vigia/contract/changes'
import { sql } from 'kysely'
import { isShown } from '../../companies/switches.ts'
import { type ChangeKind, changeCodes } from '../../documents/changes.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { asOperator, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { type DataOf, handle } from '../../platform/http/http.ts'

export const changeRoutes = [
  handle(listChanges, async (ctx, { query: { desde }, session: { workspaceId } }) => {
    if (desde === 'agora')
      return { data: { alteracoes: [], versao: await newestVersion(ctx, workspaceId), temMais: false } }
    const { changes, version, more } = await readChanges(ctx, workspaceId, desde ?? null)
    return { data: { alteracoes: changes.map(({ told }) => told), versao: version, temMais: more } }
  }),
]

/** A change as other programs get it. */
type Told = DataOf<typeof listChanges>['alteracoes'][number]

/** A change with the columns by which webhooks are chosen. */
export interface Change {
  documentId: bigint
  companyId: number
  told: Told
}

const kindNames = {
  new: 'documento-novo',
  completed: 'xml-completo',
  standing: 'situacao',
  cancelled: 'cancelamento',
  answered: 'resposta',
} as const satisfies Record<ChangeKind, string>
const kinds = new Map(Object.entries(changeCodes).map(([kind, code]) => [code, kindNames[kind as ChangeKind]]))

interface ChangePage {
  changes: Change[]
  /** Up to where this page goes. */
  version: number
  more: boolean
}

const atOnce = 500
const keptDays = 90

/**
 * Changes after version `since`, oldest first; null: from the oldest that is kept. Reads at most
 * 500 and leaves out those of hidden or removed documents: a page may be short or empty without
 * being the last. Refuses a version that was never given, or after which something was forgotten.
 */
export async function readChanges(
  ctx: WithDatabase & Pick<Context, 'ids'>,
  workspaceId: number,
  since: number | null,
): Promise<ChangePage> {
  return readWorkspace(ctx, workspaceId, async ({ db, ids }) => {
    const { newest, forgotten } = await readPosition({ db }, workspaceId)
    if (since !== null && since < forgotten) throw new AppError('gone', tooOld)
    if (since !== null && since > newest) throw new AppError('gone', neverGiven)
    const { rows } = await sql<
      Omit<Change, 'told'> & Omit<Told, 'tipo' | 'idDfe'> & { versao: number; kind: number; shown: boolean }
    >`
      select c.document_id as "documentId", d.company_id as "companyId", c.kind, d.id is not null and ${isShown(workspaceId, 'd')} as shown,
             c.version::float8 as versao, c.at as quando, d.chave, d.type as "tipoDFe", co.public_id as "idEmpresa",
             case when o.state in ('registered', 'rejected', 'unconfirmed') then json_build_object(
               'tpEvento', o.tp_evento,
               'situacao', case o.state when 'registered' then 'registrada' when 'rejected' then 'recusada' else 'sem-confirmacao' end,
               'mensagem', coalesce(o.message, '')) end as resposta
        from (select * from document_change
               where workspace_id = ${workspaceId} and version > ${since ?? 0} order by version limit ${atOnce + 1}) c
        left join document d on d.workspace_id = ${workspaceId} and d.id = c.document_id
        left join company co on co.workspace_id = ${workspaceId} and co.id = d.company_id
        left join outgoing_event o on o.workspace_id = ${workspaceId} and o.id = c.event_id
       order by c.version`.execute(db)
    const page = rows.slice(0, atOnce)
    const more = rows.length > atOnce
    return {
      changes: page.flatMap(({ documentId, companyId, kind, shown, versao, quando, ...document }) => {
        const idDfe = ids.encode(workspaceId, documentId)
        return shown
          ? { documentId, companyId, told: { versao, tipo: kinds.get(kind)!, quando, idDfe, ...document } }
          : []
      }),
      version: more ? page.at(-1)!.versao : Math.max(newest, page.at(-1)?.versao ?? 0),
      more,
    }
  })
}

/** The newest version of a workspace: what changes from now on comes after it. */
export async function newestVersion(ctx: WithDatabase, workspaceId: number): Promise<number> {
  const { newest } = await readWorkspace(ctx, workspaceId, (ctx) => readPosition(ctx, workspaceId))
  return newest
}

async function readPosition({ db }: WithDatabase, workspaceId: number): Promise<{ newest: number; forgotten: number }> {
  const { rows } = await sql<{ newest: number; forgotten: number }>`
    select version::float8 as newest, forgotten::float8 as forgotten from change_position where workspace_id = ${workspaceId}`.execute(
    db,
  )
  return rows[0] ?? { newest: 0, forgotten: 0 }
}

const beginAnew =
  'Nenhum documento se perdeu. Comece de novo: chame com desde=agora, guarde a versao, leia os documentos pelas listas e siga a partir dela.'
const tooOld = `As alterações são guardadas por ${keptDays} dias, e as seguintes a esta versão já não estão completas. ${beginAnew}`
const neverGiven = `Esta versão não é deste workspace. ${beginAnew}`

/** Forgets changes older than the retention period. */
export async function forgetChanges(ctx: WithDatabase): Promise<void> {
  const old = await asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<{ workspaceId: number; version: bigint }>`
      select workspace_id as "workspaceId", max(version) as version from document_change
       where at < now() - ${keptDays} * interval '1 day' group by 1`.execute(db)
    return rows
  })
  for (const { workspaceId, version } of old)
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      await sql`delete from document_change where workspace_id = ${workspaceId} and version <= ${version}`.execute(db)
      // Last, because everyone who changes a document waits for this row.
      await sql`
        update change_position set forgotten = greatest(forgotten, ${version}) where workspace_id = ${workspaceId}`.execute(
        db,
      )
    })
}
