import { listChanges } from '@vigia/contract/workspace'
import type { Session } from '../http/http.ts'
import { handle } from '../http/http.ts'
import type { Context } from '../platform/context.ts'
import { type Change, type ChangeKind, newestVersion, readChanges } from './changes.ts'

export const changeRoutes = [
  handle(listChanges, async (ctx, { query: { desde }, session }) => {
    const workspaceId = readableBy(session)
    if (desde === 'agora')
      return { data: { alteracoes: [], versao: await newestVersion(ctx, workspaceId), temMais: false } }
    const { changes, version, more } = await readChanges(ctx, workspaceId, desde ?? null)
    return { data: { alteracoes: changes.map((one) => toWire(ctx, workspaceId, one)), versao: version, temMais: more } }
  }),
]

// Who may follow a workspace: every session of it.
const readableBy = ({ workspaceId }: Session) => workspaceId

const kindNames = {
  new: 'documento-novo',
  completed: 'xml-completo',
  standing: 'situacao',
  cancelled: 'cancelamento',
  answered: 'resposta',
} as const satisfies Record<ChangeKind, string>

function toWire({ ids }: Pick<Context, 'ids'>, workspaceId: number, change: Change) {
  const { version, kind, at, documentId, chave, type, companyPublicId, answer } = change
  return {
    versao: version,
    tipo: kindNames[kind],
    quando: at.toISOString(),
    idDfe: ids.encode(workspaceId, documentId),
    chave,
    tipoDFe: type,
    idEmpresa: companyPublicId,
    resposta: answer && {
      tpEvento: answer.tpEvento,
      situacao: answer.registered ? ('registrada' as const) : ('recusada' as const),
      mensagem: answer.message,
    },
  }
}
