import { addKey as add, listKeys as list, removeKey as remove, renameKey as rename } from '@vigia/contract/keys'
import { requireProvedEmail } from '../../accounts/email-proof.ts'
import type { WithConfig } from '../../platform/context.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { addKey, listKeys, removeKey, renameKey } from './keys.ts'

export const keyRoutes = [
  handle(list, async (ctx, { session }) => ({ data: { chaves: await listKeys(ctx, session.workspaceId) } })),
  handle(add, async (ctx, { body, session }) => {
    await requireKeeper(ctx, session)
    const { publicId, key } = await addKey(ctx, session, body)
    return { data: { idChave: publicId, chave: key } }
  }),
  handle(rename, async (ctx, { body, session }) => {
    await requireKeeper(ctx, session)
    await renameKey(ctx, session, body.idChave, body.nome)
    return { data: null }
  }),
  handle(remove, async (ctx, { body, session }) => {
    await requireKeeper(ctx, session)
    await removeKey(ctx, session, body.idChave)
    return { data: null, message: 'Chave de API apagada: ninguém entra mais com ela.' }
  }),
]

const deed = { deed: 'criar ou mudar chaves de API', nothing: 'Nada foi alterado.' }

// A person with an own account and a confirmed e-mail may open the workspace to programs.
const requireKeeper = (ctx: WithConfig, session: Session) => requireProvedEmail(ctx, session, deed)
