import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** Serves the built web application: its files, and its page for every address that a person can type. */
export async function serveSite(app: FastifyInstance, directory: string, productName: string): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        workerSrc: ["'self'", 'blob:'],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    // The product is also run on http://localhost; a proxy in front of it decides about HTTPS.
    strictTransportSecurity: false,
  })
  const page = (await readFile(join(directory, 'index.html'), 'utf8')).replaceAll(
    '%PRODUCT_NAME%',
    escapeHtml(productName),
  )
  await app.register(fastifyStatic, {
    root: directory,
    index: false,
    wildcard: false,
    setHeaders: (reply, path) => {
      void reply.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  app.get('/*', { exposeHeadRoute: true }, (request, reply) => {
    if (request.url.startsWith('/v1/') || /\.\w+$/.test(request.url.split('?')[0]!)) return reply.callNotFound()
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page)
  })
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
