import { dacte } from '@vigia/print/dacte'
import { danfe, PrintError } from '@vigia/print/danfe'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { readHiding, shownConditions } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { type Service, serviceCodes } from '../platform/service.ts'

const printers = {
  nfe: { print: danfe, name: 'o DANFE' },
  cte: { print: dacte, name: 'o DACTE' },
}

/** The printed form of a document of the workspace. Refuses unknown ids, documents that its company hides, and notes of which only the summary arrived. */
export async function printDocument(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  publicId: string,
  kind: Service,
): Promise<Uint8Array> {
  const id = ids.decode(workspaceId, publicId)
  const found =
    id === null ? undefined : await readWorkspace({ db }, workspaceId, ({ db }) => findForPrinting(db, workspaceId, id))
  if (!found || found.type !== serviceCodes[kind]) throw new AppError('not-found', 'Documento não encontrado.')
  if (!found.complete) {
    throw new AppError(
      'conflict',
      'Só o resumo desta nota chegou até agora. O DANFE fica disponível quando o XML completo for liberado pela SEFAZ.',
    )
  }
  try {
    const cancelled =
      found.status === 3
        ? { protocol: found.cancelProtocol ?? undefined, at: found.cancelledAt?.toISOString() }
        : undefined
    return printers[kind].print(unzipDocument(found.content), { cancelled })
  } catch (cause) {
    if (!(cause instanceof PrintError)) throw cause
    throw new AppError(
      'conflict',
      `Não conseguimos montar ${printers[kind].name} deste documento. O XML original está guardado e íntegro.`,
      { cause },
    )
  }
}

async function findForPrinting(db: Context['db'], workspaceId: number, id: bigint) {
  const hiding = await readHiding({ db }, workspaceId)
  return db
    .selectFrom('document as d')
    .innerJoin('receipt as r', (join) =>
      join
        .onRef('r.workspace_id', '=', 'd.workspace_id')
        .onRef('r.company_id', '=', 'd.company_id')
        .onRef('r.service', '=', 'd.type')
        .onRef('r.nsu', '=', 'd.nsu'),
    )
    .leftJoin('document_event as e', (join) =>
      join
        .onRef('e.workspace_id', '=', 'd.workspace_id')
        .onRef('e.company_id', '=', 'd.company_id')
        .onRef('e.chave', '=', 'd.chave')
        .on('e.status', '=', 3),
    )
    .select([
      'd.type',
      'd.complete',
      'd.status',
      'r.content',
      'e.protocol as cancelProtocol',
      'e.registered_at as cancelledAt',
    ])
    .where('d.workspace_id', '=', workspaceId)
    .where('d.id', '=', id)
    .where((where) => where.and(shownConditions(hiding, 'd')))
    .orderBy('e.registered_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}
