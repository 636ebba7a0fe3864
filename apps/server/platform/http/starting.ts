import type { AddressInfo } from 'node:net'
import type { Envelope } from '@vigia/contract/route'
import Fastify from 'fastify'
import type { Config } from '../../config.ts'
import { addHeaders } from './headers.ts'

const message =
  'O sistema está iniciando e ainda não atende. Os documentos guardados estão seguros; tente de novo em instantes.'
const envelope: Envelope<null> = { success: false, message, data: null, errors: [message], statusCode: 503 }

/** Refuses requests with a message until disposed: a migration of much data takes minutes. */
export async function refuseWhileStarting(
  config: Pick<Config, 'port' | 'listenHost' | 'publicUrl'>,
): Promise<AsyncDisposable & { port: number }> {
  const app = Fastify({ logger: false, forceCloseConnections: true, requestTimeout: 5_000 })
  await addHeaders(app, config)
  app.addHook('onRequest', (_, reply) =>
    reply
      .status(503)
      .type('application/json; charset=utf-8')
      .headers({ 'cache-control': 'no-store', 'retry-after': '5', connection: 'close' })
      .send(JSON.stringify(envelope)),
  )
  await app.listen({ port: config.port, host: config.listenHost })
  return { port: (app.server.address() as AddressInfo).port, [Symbol.asyncDispose]: () => app.close() }
}
