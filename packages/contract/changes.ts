import { z } from 'zod'
import { changeKinds } from './codes.ts'
import { flag, idOf } from './fields.ts'
import { WebhookForm } from './forms.ts'
import { route } from './route.ts'

// Change feed and webhooks for other programs. All of it is ours.

const badVersion = 'desde deve ser a versao de uma chamada anterior, ou agora'

/** Lists changes of the workspace after a version, in order, at most 500 at a time; ours. */
export const listChanges = route({
  method: 'GET',
  path: '/v1/api/Alteracoes',
  atLeast: 'leitura',
  scope: 'documentos:ler',
  summary: 'O que mudou no workspace depois de uma versão, em ordem, até 500 alterações de cada vez.',
  refusals: [410],
  query: z.object({
    desde: z
      .union(
        [
          z.literal('agora'),
          z
            .string()
            .regex(/^\d{1,15}$/)
            .transform(Number),
        ],
        { error: badVersion },
      )
      .optional(),
  }),
  data: z.object({
    alteracoes: z.array(
      z.object({
        versao: z.number(),
        tipo: z.enum(changeKinds),
        quando: z.string(),
        idDfe: z.string(),
        chave: z.string(),
        tipoDFe: z.number(),
        idEmpresa: z.string(),
        /** Only for `resposta`; null while the event is sent again. */
        resposta: z
          .object({
            tpEvento: z.number(),
            situacao: z.enum(['registrada', 'recusada', 'sem-confirmacao']),
            mensagem: z.string(),
          })
          .nullable(),
      }),
    ),
    /** To be sent as `desde` of the next call. */
    versao: z.number(),
    temMais: z.boolean(),
  }),
})

const idWebhook = idOf('o webhook')

/** The addresses of the workspace; ours. */
export const listWebhooks = route({
  method: 'GET',
  path: '/v1/api/Webhooks',
  atLeast: 'administrador',
  summary: 'Os webhooks do workspace: endereços de outros sistemas que recebem o que muda.',
  data: z.object({
    webhooks: z.array(
      z.object({
        idWebhook: z.string(),
        endereco: z.string(),
        tipos: z.array(z.string()),
        /** Null: all. */
        idsEmpresas: z.array(z.string()).nullable(),
        criadoEm: z.string(),
        ativo: z.boolean(),
        pausadoEm: z.string().nullable(),
        problema: z.string().nullable(),
        segredoAnteriorAte: z.string().nullable(),
        entregasEsperando: z.number(),
      }),
    ),
  }),
})

/** Adds an address; the secret is shown this once. Ours. */
export const addWebhook = route({
  method: 'POST',
  path: '/v1/api/Webhooks',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Cria um webhook, que recebe o que mudar a partir de agora. O segredo só aparece nesta resposta.',
  refusals: [404, 409],
  body: WebhookForm,
  data: z.object({ idWebhook: z.string(), segredo: z.string() }),
})

/** Changes, pauses or resumes one; ours. */
export const changeWebhook = route({
  method: 'PUT',
  path: '/v1/api/Webhooks',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Muda um webhook, pausa ou reativa. Reativado, o que esperava sai na hora.',
  refusals: [404, 409],
  body: z.object({
    ...WebhookForm.shape,
    idWebhook,
    ativo: flag('ativo'),
  }),
})

/** Removes one with its deliveries; ours. */
export const removeWebhook = route({
  method: 'POST',
  path: '/v1/api/Webhooks/apagar',
  atLeast: 'administrador',
  summary: 'Apaga um webhook, com as entregas.',
  refusals: [404, 409],
  body: z.object({ idWebhook }),
})

/** Replaces the secret of a webhook; ours. */
export const replaceWebhookSecret = route({
  method: 'POST',
  path: '/v1/api/Webhooks/trocar-segredo',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Troca o segredo de um webhook. O anterior também assina por 24 horas; o novo só aparece nesta resposta.',
  refusals: [404, 409],
  body: z.object({ idWebhook }),
  data: z.object({ segredo: z.string() }),
})

/** Sends a test message to a webhook; ours. */
export const testWebhook = route({
  method: 'POST',
  path: '/v1/api/Webhooks/testar',
  atLeast: 'administrador',
  summary: 'Envia uma mensagem de teste ao webhook, mesmo pausado. O resultado fica nas entregas.',
  refusals: [404, 409, 429],
  body: z.object({ idWebhook }),
  data: z.object({ idEntrega: z.string() }),
})

/** Lists past and scheduled deliveries of a webhook, newest first, fifty at a time; ours. */
export const listWebhookDeliveries = route({
  method: 'GET',
  path: '/v1/api/Webhooks/entregas',
  atLeast: 'administrador',
  summary: 'As entregas de um webhook dos últimos 30 dias, da mais nova à mais antiga, 50 de cada vez.',
  refusals: [404],
  query: z.object({ idWebhook, antesDe: z.string().optional() }),
  data: z.object({
    entregas: z.array(
      z.object({
        idEntrega: z.string(),
        tipo: z.string(),
        situacao: z.enum(['esperando', 'entregue', 'falhou']),
        /** As it was sent, or will be. */
        corpo: z.string(),
        criadaEm: z.string(),
        proximaTentativa: z.string().nullable(),
        tentativas: z.number(),
        tentadaEm: z.string().nullable(),
        duracaoMs: z.number().nullable(),
        status: z.number().nullable(),
        /** Its first thousand bytes. */
        respostaRecebida: z.string().nullable(),
        problema: z.string().nullable(),
      }),
    ),
    temMais: z.boolean(),
  }),
})

/** Delivers something again; ours. */
export const deliverWebhookAgain = route({
  method: 'POST',
  path: '/v1/api/Webhooks/reenviar',
  atLeast: 'administrador',
  summary: 'Envia uma entrega outra vez, a mesma mensagem com o mesmo idEntrega.',
  refusals: [404, 409, 429],
  body: z.object({ idEntrega: idOf('a entrega') }),
})
