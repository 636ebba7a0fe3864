import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { exampleSite, fillPage, type SiteSettings } from '@vigia/contract/site'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import { type KeptBytes, keepBytes, keepText, sendKept } from './encoding.ts'
import { permissionsPolicy, sitePolicy } from './headers.ts'

// Addresses of programs: what is not found there is no page of the application.
const ofPrograms = /^\/(v1|docs|metrics|health|notification-hub)(\/|$)/

// Pages that stand in files of their own, complete before any script; without its file an address is one of the application.
const ownPages = {
  '/': 'landing.html',
  '/termos': 'termos.html',
  '/privacidade': 'privacidade.html',
  '/cookies': 'cookies.html',
}

/**
 * Serves the built web application from memory: its files, compressed where a compressed one stands beside them, and a page for every address
 * that a person can type.
 */
export async function serveSite(app: FastifyInstance, directory: string, settings: SiteSettings): Promise<void> {
  const application = await readPage(join(directory, 'index.html'), settings)
  if (!application) throw new Error(`there is no index.html in ${directory}`)
  const pages = new Map<string, KeptBytes>()
  for (const [path, file] of Object.entries(ownPages))
    pages.set(path, (await readPage(join(directory, file), settings)) ?? application)
  const policy = sitePolicy(settings.pesquisa && new URL(settings.pesquisa.endereco).origin)
  await app.register(async (scope) => {
    scope.addHook('onRequest', (_, reply, done) => {
      void reply.header('content-security-policy', policy)
      done()
    })
    for (const [path, { type, bytes }] of await readFiles(directory)) {
      const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
      scope.get(path, (request, reply) => sendKept(request, reply.type(type).header('cache-control', caching), bytes))
    }
    scope.get('/site.webmanifest', (_, reply) =>
      reply.type('application/manifest+json').header('cache-control', 'no-cache').send(manifest(settings)),
    )
    scope.get('/.well-known/security.txt', (_, reply) => {
      if (settings.contactEmail === null) return reply.callNotFound()
      return reply.type('text/plain; charset=utf-8').header('cache-control', 'no-cache').send(securityText(settings))
    })
    scope.get('/*', { exposeHeadRoute: true }, (request, reply) => {
      const path = request.url.split('?')[0]!
      const isForPeople = /text\/html|\*\/\*/.test(request.headers.accept ?? '*/*')
      if (!isForPeople || ofPrograms.test(path) || /\.\w+$/.test(path)) return reply.callNotFound()
      const page = pages.get(path.replace(/(?<=.)\/$/, '')) ?? application
      // It reads bar codes of printed forms.
      if (page === application) void reply.header('permissions-policy', permissionsPolicy(['camera']))
      return sendKept(request, reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache'), page)
    })
  })
}

const monthMs = 30 * 24 * 3_600_000

// RFC 9116. Whoever reads it later than a month from now reads it again.
function securityText({ contactEmail, publicUrl }: SiteSettings): string {
  const lines = {
    Contact: `mailto:${contactEmail}`,
    Expires: new Date(Date.now() + monthMs).toISOString(),
    'Preferred-Languages': 'pt-BR, en',
    Canonical: `${publicUrl}/.well-known/security.txt`,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

// Null: there is no such file.
async function readPage(file: string, settings: SiteSettings): Promise<KeptBytes | null> {
  const text = (await readIfThere(file))?.toString()
  return text === undefined ? null : keepText(fillPage(text, settings))
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

// The files of these types by their addresses, each with the compressed ones beside it.
async function readFiles(directory: string): Promise<Map<string, { type: string; bytes: KeptBytes }>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries.map(async (entry) => {
      const type = types[extname(entry.name)]
      if (!type || !entry.isFile()) return []
      const file = join(entry.parentPath, entry.name)
      const [identity, br, gzip] = await Promise.all([
        readFile(file),
        readIfThere(`${file}.br`),
        readIfThere(`${file}.gz`),
      ])
      const path = `/${relative(directory, file).split(sep).join('/')}`
      return [[path, { type, bytes: keepBytes({ identity, ...(br && { br }), ...(gzip && { gzip }) }) }] as const]
    }),
  )
  return new Map(files.flat())
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

// Web app manifest for phones. The colours are the paper and the ground of `.dark` in ui/tokens.css.
function manifest({ productName }: SiteSettings) {
  return {
    id: '/dashboard',
    name: productName,
    short_name: productName,
    lang: 'pt-BR',
    start_url: '/dashboard',
    scope: '/',
    display: 'standalone',
    background_color: '#0d1b2a',
    theme_color: '#0d1b2a',
    icons: [
      { src: '/favicon.svg', type: 'image/svg+xml', sizes: 'any' },
      { src: '/icon-192.png', type: 'image/png', sizes: '192x192' },
      { src: '/icon-512.png', type: 'image/png', sizes: '512x512' },
      { src: '/icon-maskable-512.png', type: 'image/png', sizes: '512x512', purpose: 'maskable' },
    ],
  }
}

/** Part of the configuration that the pages get: every visitor reads it. */
export function siteSettings(config: Config): SiteSettings {
  const { productName, publicUrl, sefaz, contactEmail, contactWhatsapp, demo, site, survey, simulator } = config
  return {
    productName,
    publicUrl,
    ambiente: sefaz.ambiente,
    contactEmail: contactEmail ?? null,
    whatsapp: contactWhatsapp ?? null,
    cadastroAberto: config.signUp === 'open',
    planos: config.plans,
    demo: demo && { email: demo.email, senha: demo.password },
    ...exampleSite,
    ...site,
    exemplos: { numeros: !site.numeros, depoimentos: !site.depoimentos },
    senhaDoCertificadoDeTeste: simulator?.certificatePassword ?? null,
    demonstracaoAberta: simulator?.open ?? false,
    pesquisa: survey && { endereco: survey.url, ambiente: survey.environmentId },
    privacidade: { responsavel: null, encarregado: null, incidentes: null, ...site.privacidade },
  }
}
