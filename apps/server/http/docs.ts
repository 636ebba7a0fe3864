import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { docsPolicy } from './headers.ts'
import type { OpenApiDocument } from './openapi.ts'

/** Shows the description of the API at `/docs`, for people, and at `/docs/json`, for programs. */
export async function serveDocs(app: FastifyInstance, document: OpenApiDocument): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRequest', (_, reply, done) => {
      void reply.headers({ 'content-security-policy': docsPolicy, 'cache-control': 'no-cache' })
      done()
    })
    // The page of the library says that it is English; what it shows is not.
    scope.addHook('onSend', async (_, __, payload) =>
      typeof payload === 'string' ? payload.replace('<html lang="en">', '<html lang="pt-BR">') : payload,
    )
    await scope.register(swagger, { mode: 'static', specification: { document } })
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: document.info.title },
      // Closed: the library stops in the middle of a hundred and thirty calls that are opened at once.
      uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'none', defaultModelsExpandDepth: 0 },
    })
  })
}
