import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

// The proxies of deploy/, as they are shipped but for names, paths and ports; besides TLS they listen without it, for clients that trust no
// certificate of this moment.

export const proxies = ['nginx', 'caddy'] as const
export type ProxyKind = (typeof proxies)[number]

const programs = { nginx: process.env.NGINX ?? 'nginx', caddy: process.env.CADDY ?? 'caddy' }

/** Whether there is one on this machine. */
export const hasProxy = (kind: ProxyKind) =>
  spawnSync(programs[kind], kind === 'nginx' ? ['-v'] : ['version']).status === 0

export interface ProxyPorts {
  /** Without TLS. */
  port: number
  securePort: number
}

interface Proxy {
  /** Log of calls. */
  readLog(): Promise<string>
  /** Log of failed calls, and of the proxy itself. */
  readErrors(): Promise<string>
  /** The certificate that it shows, of localhost. */
  certificate: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A file of deploy/ with replacements, each of which must match. */
export function adapt(shipped: string, changes: Record<string, string>): string {
  return Object.entries(changes).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`there is no "${from}"`)
    return text.replaceAll(from, to)
  }, shipped)
}

const read = (file: string) => readFile(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8')

// Without its server of port 80.
async function nginxSettings(folder: string, { port, securePort }: ProxyPorts, backend: string): Promise<string> {
  const shipped = await read('nginx.conf')
  const [head = '', , site = ''] = shipped.split(/^server \{$/m)
  const own = adapt(`${head}server {${site}`, {
    '127.0.0.1:3000': new URL(backend).host,
    'listen 443 ssl http2;': `listen 127.0.0.1:${port}; listen 127.0.0.1:${securePort} ssl http2;`,
    'server_name vigia.exemplo.com.br;': 'server_name localhost;',
    '/etc/ssl/vigia/fullchain.pem': `${folder}/certificate.pem`,
    '/etc/ssl/vigia/privkey.pem': `${folder}/key.pem`,
    '/var/log/nginx/vigia.log': `${folder}/access.log`,
    '/var/log/nginx/vigia-error.log': `${folder}/site-error.log`,
  })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const user = process.getuid?.() === 0 ? 'user root; ' : ''
  return `${user}daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp { ${temporary.join(' ')}\n${own}\n}`
}

async function caddySettings(folder: string, { port, securePort }: ProxyPorts, backend: string): Promise<string> {
  const own = adapt(await read('Caddyfile'), {
    '\n{\n': `\n{\nadmin off\nauto_https off\nstorage file_system ${folder}\n`,
    'vigia.exemplo.com.br {': '(site) {',
    '127.0.0.1:3000': new URL(backend).host,
    '/var/log/caddy/vigia.log': `${folder}/access.log`,
  })
  const site = 'bind 127.0.0.1\nimport site'
  return `${own}
http://localhost:${port} {\n${site}\n}
https://localhost:${securePort} {\ntls ${folder}/certificate.pem ${folder}/key.pem\n${site}\n}\n`
}

/** Starts one in front of the product at `backend`. */
export async function startProxy(kind: ProxyKind, ports: ProxyPorts, backend: string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'vigia-proxy-'))
  const certificate = makeCertificate(folder)
  const settings = join(folder, 'settings')
  await writeFile(settings, await (kind === 'nginx' ? nginxSettings : caddySettings)(folder, ports, backend))
  const ways = {
    nginx: ['-p', folder, '-c', settings, '-e', join(folder, 'error.log')],
    caddy: ['run', '--config', settings, '--adapter', 'caddyfile'],
  }
  const child = spawn(programs[kind], ways[kind], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const readLog = (name: string) => readFile(join(folder, name), 'utf8')
  const owned = {
    readLog: () => readLog('access.log'),
    readErrors: async () =>
      kind === 'caddy' ? complaints : (await readLog('error.log')) + (await readLog('site-error.log')),
    certificate,
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, 'close')
      if (child.exitCode === null) {
        // Caddy would wait for connections that clients keep; nginx has processes of its own to end.
        child.kill(kind === 'caddy' ? 'SIGKILL' : 'SIGTERM')
        await closed
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
  const isUp = () =>
    fetch(`http://localhost:${ports.port}/health`).then(
      () => true,
      () => false,
    )
  await reached(isUp).catch(async (cause: unknown) => {
    await owned[Symbol.asyncDispose]()
    throw new Error(`${kind} does not start: ${complaints}`, { cause })
  })
  return owned
}

/** Waits until `test` holds; of Vitest there is nothing here, because programs use it that are no tests. */
export async function reached(test: () => boolean | Promise<boolean>): Promise<void> {
  for (let times = 0; times < 400; times++) {
    if (await test()) return
    await setTimeout(50)
  }
  throw new Error('not within 20 s')
}

function makeCertificate(folder: string): string {
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')],
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`openssl: ${stderr}`)
  return join(folder, 'certificate.pem')
}
