import { listChanges } from '@vigia/contract/workspace'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { newestVersion, readChanges } from './changes.ts'
import { wireOf } from './wire.ts'

export const changeRoutes = [
  handle(listChanges, async (ctx, { query: { desde }, session }) => {
    const workspaceId = readableBy(session)
    if (desde === 'agora')
      return { data: { alteracoes: [], versao: await newestVersion(ctx, workspaceId), temMais: false } }
    const { changes, version, more } = await readChanges(ctx, workspaceId, desde ?? null)
    return { data: { alteracoes: changes.map((one) => wireOf(ctx, workspaceId, one)), versao: version, temMais: more } }
  }),
]

// Who may follow a workspace: every session of it.
const readableBy = ({ workspaceId }: Session) => workspaceId
