import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { keepText, sendKept } from './encoding.ts'
import { docsPolicy } from './headers.ts'
import type { OpenApiDocument } from './openapi.ts'

/**
 * Shows the description of the API at `/docs`, for people, and at `/docs/json` and `/docs/yaml`, for programs. The library writes each of its
 * responses once, when it is first asked for.
 */
export async function serveDocs(app: FastifyInstance, document: OpenApiDocument): Promise<void> {
  const library = Fastify()
  app.addHook('onClose', () => library.close())
  await library.register(swagger, { mode: 'static', specification: { document } })
  await library.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: document.info.title },
    // Closed: the library stops in the middle of a hundred and thirty calls that are opened at once.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'none', defaultModelsExpandDepth: 0 },
  })
  const { body } = await library.inject('/docs')
  const files = [...body.matchAll(/(?:href|src)="([^"]+)"/g)].map(
    ([, file]) => new URL(file!, 'http://x/docs').pathname,
  )
  for (const path of ['/docs', '/docs/', '/docs/json', '/docs/yaml', ...files])
    app.get(path, keptResponse(library, path))
}

function keptResponse(library: FastifyInstance, path: string) {
  const make = async () => {
    const { rawPayload, headers } = await library.inject(path)
    const type = String(headers['content-type'])
    // The page of the library says that it is English; what it shows is not.
    const isPage = type.startsWith('text/html')
    const bytes = isPage ? rawPayload.toString().replace('<html lang="en">', '<html lang="pt-BR">') : rawPayload
    return { type, kept: await keepText(bytes) }
  }
  let made: ReturnType<typeof make> | undefined
  return async (request: FastifyRequest, reply: FastifyReply) => {
    made ??= make()
    const { type, kept } = await made
    void reply.headers({ 'content-security-policy': docsPolicy, 'cache-control': 'no-cache' }).type(type)
    return sendKept(request, reply, kept)
  }
}
