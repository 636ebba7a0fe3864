import {
  addWebhook as add,
  changeWebhook as change,
  deliverWebhookAgain,
  listWebhooks as list,
  listWebhookDeliveries,
  removeWebhook as remove,
  replaceWebhookSecret,
  testWebhook,
} from '@vigia/contract/changes'
import { requireProvedEmail } from '../../accounts/email-proof.ts'
import { handle } from '../../platform/http/http.ts'
import { deliverAgain, deliverTest, listDeliveries } from './deliveries.ts'
import { addWebhook, changeWebhook, listWebhooks, removeWebhook, replaceSecret } from './webhooks.ts'

export const webhookRoutes = [
  handle(list, async (ctx, { session }) => ({ data: { webhooks: await listWebhooks(ctx, session.workspaceId) } })),
  handle(add, async (ctx, { body, session }) => {
    await requireProvedEmail(ctx, session, outside)
    const { publicId, secret } = await addWebhook(ctx, session, body)
    return { data: { idWebhook: publicId, segredo: secret } }
  }),
  handle(change, async (ctx, { body, session }) => {
    await changeWebhook(ctx, session, body)
    return { data: null }
  }),
  handle(remove, async (ctx, { body, session }) => {
    await removeWebhook(ctx, session, body.idWebhook)
    return { data: null, message: 'Webhook apagado.' }
  }),
  handle(replaceWebhookSecret, async (ctx, { body, session }) => ({
    data: { segredo: await replaceSecret(ctx, session, body.idWebhook) },
  })),
  handle(testWebhook, async (ctx, { body, session }) => {
    await requireProvedEmail(ctx, session, outside)
    return { data: { idEntrega: await deliverTest(ctx, session, body.idWebhook) } }
  }),
  handle(listWebhookDeliveries, async (ctx, { query, session }) => ({
    data: await listDeliveries(ctx, session.workspaceId, query.idWebhook, query.antesDe),
  })),
  handle(deliverWebhookAgain, async (ctx, { body, session }) => {
    await deliverAgain(ctx, session, body.idEntrega)
    return { data: null }
  }),
]

// Accounts without a proved e-mail send nothing to outside addresses.
const outside = { deed: 'enviar avisos a outros sistemas', nothing: 'Nada foi enviado, e nenhum webhook foi criado.' }
