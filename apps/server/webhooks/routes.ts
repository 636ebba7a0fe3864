import {
  addWebhook as add,
  changeWebhook as change,
  deliverWebhookAgain,
  listWebhooks as list,
  listWebhookDeliveries,
  removeWebhook as remove,
  replaceWebhookSecret,
  testWebhook,
} from '@vigia/contract/workspace'
import { requireProvedEmail } from '../accounts/accounts.ts'
import { handle, type Session } from '../http/http.ts'
import { AppError } from '../platform/errors.ts'
import { type Delivery, deliverAgain, deliverTest, listDeliveries } from './deliveries.ts'
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  removeWebhook,
  replaceSecret,
  type Webhook,
  type WebhookChoice,
} from './webhooks.ts'

export const webhookRoutes = [
  handle(list, async (ctx, { session }) => ({
    data: { webhooks: (await listWebhooks(ctx, session.workspaceId)).map(toWebhook) },
  })),
  handle(add, async (ctx, { body, session }) => {
    const keeper = keeperOf(session)
    await requireProvedEmail(ctx, keeper, outside)
    const { publicId, secret } = await addWebhook(ctx, keeper, toChoice(body))
    return { data: { idWebhook: publicId, segredo: secret } }
  }),
  handle(change, async (ctx, { body, session }) => {
    await changeWebhook(ctx, keeperOf(session), body.idWebhook, { ...toChoice(body), active: body.ativo })
    return { data: null }
  }),
  handle(remove, async (ctx, { body, session }) => {
    await removeWebhook(ctx, keeperOf(session), body.idWebhook)
    return { data: null, message: 'Webhook apagado.' }
  }),
  handle(replaceWebhookSecret, async (ctx, { body, session }) => ({
    data: { segredo: await replaceSecret(ctx, keeperOf(session), body.idWebhook) },
  })),
  handle(testWebhook, async (ctx, { body, session }) => {
    const keeper = keeperOf(session)
    await requireProvedEmail(ctx, keeper, outside)
    return { data: { idEntrega: await deliverTest(ctx, keeper, body.idWebhook) } }
  }),
  handle(listWebhookDeliveries, async (ctx, { query, session }) => {
    const { deliveries, more } = await listDeliveries(ctx, session.workspaceId, query.idWebhook, query.antesDe)
    return { data: { entregas: deliveries.map(toDelivery), temMais: more } }
  }),
  handle(deliverWebhookAgain, async (ctx, { body, session }) => {
    await deliverAgain(ctx, keeperOf(session), body.idEntrega)
    return { data: null }
  }),
]

const ofEverybody =
  'Esta conta é compartilhada: não envia nada a outros sistemas. Nada foi alterado. Para ter os seus webhooks, crie uma conta.'

// Whoever that is who wrote the e-mail, has nothing sent to addresses of others.
const outside = { deed: 'enviar avisos a outros sistemas', nothing: 'Nada foi enviado, e nenhum webhook foi criado.' }

// Who may have a workspace tell other programs: whoever has a session of their own.
function keeperOf(session: Session): Session {
  if (session.shared) throw new AppError('conflict', ofEverybody)
  return session
}

interface WireChoice {
  endereco: string
  tipos: readonly string[]
  idsEmpresas?: readonly string[] | null | undefined
}
const toChoice = ({ endereco, tipos, idsEmpresas }: WireChoice): WebhookChoice => ({
  url: endereco,
  kinds: tipos,
  companies: idsEmpresas ?? null,
})

const toWebhook = ({ publicId, url, kinds, companies, createdAt, pausedAt, problem, oldUntil, waiting }: Webhook) => ({
  idWebhook: publicId,
  endereco: url,
  tipos: kinds,
  idsEmpresas: companies,
  criadoEm: createdAt.toISOString(),
  ativo: pausedAt === null,
  pausadoEm: pausedAt?.toISOString() ?? null,
  problema: problem,
  segredoAnteriorAte: oldUntil?.toISOString() ?? null,
  entregasEsperando: waiting,
})

const states = { waiting: 'esperando', delivered: 'entregue', failed: 'falhou' } as const

const toDelivery = (one: Delivery) => ({
  idEntrega: one.publicId,
  tipo: one.kind,
  situacao: states[one.state],
  corpo: one.body,
  criadaEm: one.createdAt.toISOString(),
  proximaTentativa: one.nextAt?.toISOString() ?? null,
  tentativas: one.attempts,
  tentadaEm: one.triedAt?.toISOString() ?? null,
  duracaoMs: one.durationMs,
  status: one.status,
  respostaRecebida: one.answer,
  problema: one.problem,
})
