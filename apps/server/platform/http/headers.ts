import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'

/** Policy of responses that are no page: nothing of them is loaded, run or framed. */
export const closedPolicy = policy({ 'default-src': "'none'", 'frame-ancestors': "'none'" })

/** The policy of a PDF that a page of ours shows in a frame, for the viewer of the browser. */
export const framedPolicy = policy({
  'default-src': "'none'",
  'object-src': "'self'",
  'style-src': "'unsafe-inline'",
  'frame-ancestors': "'self'",
})

/** Policy of the web application: all comes from here, and a survey from the origin `survey`. */
export function sitePolicy(survey: string | null): string {
  const withSurvey = ["'self'", ...(survey ? [survey] : [])].join(' ')
  return policy({
    'default-src': "'self'",
    'script-src': withSurvey,
    // Dialogs, menus and toasts of the libraries put <style> elements into the page; attributes of the page's own text are not styles.
    'style-src': "'self' 'unsafe-inline'",
    'style-src-attr': "'none'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'connect-src': withSurvey,
    'worker-src': "'self' blob:",
    'object-src': "'none'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'self'",
  })
}

/** Policy of the page of the API's description: as for the site, with images inside its style sheet. */
export const docsPolicy = policy({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
})

function policy(directives: Record<string, string>): string {
  return Object.entries(directives)
    .map((directive) => directive.join(' '))
    .join('; ')
}

const permissions = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'display-capture', 'midi']

/** Permissions-Policy that denies all of `permissions` but the `allowed` ones. */
export function permissionsPolicy(allowed: readonly string[] = []): string {
  return permissions.map((name) => `${name}=(${allowed.includes(name) ? 'self' : ''})`).join(', ')
}
const yearSeconds = 365 * 24 * 3600

/** Headers of every response. */
export async function addHeaders(app: FastifyInstance, { publicUrl }: Pick<Config, 'publicUrl'>): Promise<void> {
  await app.register(helmet, {
    // Each part of the product has its own, below and in its scope.
    contentSecurityPolicy: false,
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    // Over HTTP a browser ignores it, and a trial runs on http://localhost.
    strictTransportSecurity: publicUrl.startsWith('https:') ? { maxAge: yearSeconds, includeSubDomains: false } : false,
  })
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({
      'content-security-policy': closedPolicy,
      'permissions-policy': permissionsPolicy(),
      'x-request-id': request.id,
    })
    done()
  })
}

/** CORS for the configured origins only. */
export async function addCors(app: FastifyInstance, { corsOrigins }: Pick<Config, 'corsOrigins'>): Promise<void> {
  if (corsOrigins.length === 0) return
  await app.register(cors, {
    origin: [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Accept'],
    exposedHeaders: [
      ...['x-request-id', 'retry-after', 'www-authenticate'],
      ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
    ],
    maxAge: 600,
    strictPreflight: false,
  })
}
