import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sitePolicy } from './headers.ts'

// Addresses of programs: what is not found there is no page of the application.
const ofPrograms = /^\/(v1|docs|metrics|health|notification-hub)(\/|$)/

/** Serves the built web application: its files, and its page for every address that a person can type. */
export async function serveSite(app: FastifyInstance, directory: string, productName: string): Promise<void> {
  const page = (await readFile(join(directory, 'index.html'), 'utf8')).replaceAll(
    '%PRODUCT_NAME%',
    escapeHtml(productName),
  )
  await app.register(async (scope) => {
    scope.addHook('onRequest', (_, reply, done) => {
      void reply.header('content-security-policy', sitePolicy)
      done()
    })
    await scope.register(fastifyStatic, {
      root: directory,
      index: false,
      wildcard: false,
      globIgnore: ['index.html'],
      setHeaders: (reply, path) => {
        void reply.header(
          'cache-control',
          path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
    })
    scope.get('/*', { exposeHeadRoute: true }, (request, reply) => {
      const path = request.url.split('?')[0]!
      const isForPeople = /text\/html|\*\/\*/.test(request.headers.accept ?? '*/*')
      if (!isForPeople || ofPrograms.test(path) || /\.\w+$/.test(path)) return reply.callNotFound()
      return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page)
    })
  })
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
