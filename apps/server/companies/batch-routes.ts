import { addToBatch, getBatch, listBatches, startBatch } from '@vigia/contract/companies'
import { requireProvedEmail } from '../accounts/email-proof.ts'
import { handle } from '../platform/http/http.ts'
import * as batches from './batches.ts'

/** The calls of batches of certificates; a worker does what they ask for. */
export const batchRoutes = [
  handle(startBatch, async (ctx, { body, session }) => {
    await requireProvedEmail(ctx, session)
    const idLote = await batches.startBatch(ctx, session, { list: body.senhas, total: body.totalDeArquivos })
    return { data: { idLote } }
  }),

  handle(addToBatch, async (ctx, { params, body, session }) => {
    const files = body.arquivos.map(({ nome, conteudo, senha }) => ({
      name: nome,
      bytes: new Uint8Array(Buffer.from(conteudo, 'base64')),
      password: senha,
    }))
    const recebidos = await batches.addFiles(ctx, session, params.id, { files, last: body.ultimos })
    return { data: { recebidos } }
  }),

  handle(listBatches, async (ctx, { session: { workspaceId } }) => ({
    data: await batches.listBatches(ctx, workspaceId),
  })),

  handle(getBatch, async (ctx, { params, session: { workspaceId } }) => ({
    data: await batches.getBatch(ctx, workspaceId, params.id),
  })),
]
