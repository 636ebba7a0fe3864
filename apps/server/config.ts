import { isIP } from 'node:net'
import { join, relative, resolve } from 'node:path'
import { endpoints, simulatedEndpoints } from '@vigia/sefaz/endpoints'
import { z } from 'zod'
import { doorLimits } from './platform/http/door-limits.ts'
import { readSiteFile, type SiteFile } from './platform/http/site-file.ts'

/** Everything the program takes from its environment, read once and frozen. */
export type Config = ReturnType<typeof toConfig>

/** The environment is not usable; `problems` holds one sentence each. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: string[]

  constructor(problems: string[]) {
    super(`A configuração tem ${problems.length === 1 ? 'um problema' : 'problemas'}:\n- ${problems.join('\n- ')}`)
    this.problems = problems
  }
}

const port = (fallback: number) =>
  z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65535, 'deve ser um número de porta, de 0 a 65535')
    .default(String(fallback))
    .transform(Number)

const url = (protocols: string[], example: string) =>
  z
    .string()
    .refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''), `deve ser um endereço como ${example}`)

const list = (isItem: (text: string) => boolean, message: string) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').map((item) => item.trim()))
    .transform((items) => items.filter(Boolean))
    .refine((items) => items.every(isItem), message)

const isHost = (text: string) => URL.parse(`http://${text}`)?.host === text
const isOrigin = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && URL.parse(text)?.origin === text

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const width = { 4: 32, 6: 128, 0: -1 }[isIP(address)] ?? -1
  return width > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width))
}

const flag = z
  .enum(['true', 'false', '1', '0'], { error: 'deve ser true ou false' })
  .default('false')
  .transform((text) => text === 'true' || text === '1')

const secretKey = z
  .string()
  .refine(
    (text) => /^[A-Za-z0-9+/]{43}=$/.test(text),
    'deve ser a base64 de 32 bytes (faça uma com: openssl rand -base64 32)',
  )
  .transform((text) => Buffer.from(text, 'base64'))

const absolutePath = z.string().refine((text) => text.startsWith('/'), 'deve ser um caminho que começa por /')

const whole = (max: number, fallback: number) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= max,
      `deve ser um número inteiro de 1 a ${max}`,
    )
    .default(String(fallback))
    .transform(Number)

// People are told that a session lasts thirty days at most.
const sessionSecondsMax = 30 * 86_400

// The names by which only this machine reaches itself.
const ownNames = ['localhost', '127.0.0.1', '[::1]']

// Reasons to refuse production, unless ACCEPTED_RISKS names them.
const risks = ['demo', 'http', 'key-on-disk', 'no-mail', 'no-proxies'] as const
type Risk = (typeof risks)[number]

const environment = z.object({
  PORT: port(3000),
  LISTEN_HOST: z
    .string()
    .refine(
      (text) => text === 'localhost' || isIP(text) !== 0,
      'deve ser localhost ou um endereço IP desta máquina (:: para todos)',
    )
    .default('localhost'),
  ACCEPTED_RISKS: list(
    (text) => risks.some((risk) => risk === text),
    `deve ter nomes separados por vírgula, destes: ${risks.join(', ')}`,
  ),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://usuario:senha@servidor:5432/vigia').optional(),
  PUBLIC_URL: url(['http:', 'https:'], 'https://vigia.exemplo.com.br').optional(),
  PRODUCT_NAME: z.string().max(60, 'deve ter no máximo 60 caracteres').default('Vigia Fiscal'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'deve ser debug, info, warn, error ou silent' })
    .default('warn'),
  SEFAZ_AMBIENTE: z
    .enum(['simulado', 'homologacao', 'producao'], { error: 'deve ser simulado, homologacao ou producao' })
    .default('simulado'),
  CADASTRO: z.enum(['aberto', 'convite'], { error: 'deve ser aberto ou convite' }).default('aberto'),
  PLANOS: z.enum(['ligados', 'desligados'], { error: 'deve ser ligados ou desligados' }).default('ligados'),
  SEFAZ_CA_FILE: z.string().optional(),
  MASTER_KEY: secretKey.optional(),
  NEW_MASTER_KEY: secretKey.optional(),
  BACKUP_DIR: z.string().optional(),
  BACKUP_KEY: secretKey.optional(),
  SIGNER_SOCKET: absolutePath.refine((text) => Buffer.byteLength(text) <= 100, 'deve ter até 100 bytes').optional(),
  DEMO_EMAIL: z.email('deve ser um e-mail').optional(),
  DEMO_PASSWORD: z
    .string()
    .refine((text) => text.length >= 6 && text.length <= 100, 'deve ter entre 6 e 100 caracteres')
    .optional(),
  SMTP_URL: url(['smtp:', 'smtps:'], 'smtps://usuario:senha@servidor:465').optional(),
  MAIL_FROM: z.email('deve ser um e-mail').optional(),
  CONTACT_EMAIL: z.email('deve ser um e-mail').optional(),
  OPERATOR_EMAIL: z.email('deve ser um e-mail').optional(),
  CONTACT_WHATSAPP: z
    .string()
    .regex(/^\d{10,15}$/, 'deve ter só dígitos, com o código do país e o DDD: 5511912345678')
    .optional(),
  SITE_FILE: z.string().optional(),
  SURVEY_URL: url(['https:'], 'https://pesquisa.exemplo.com.br/pesquisa.js').optional(),
  SURVEY_ENVIRONMENT_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'deve ter só letras, números, ponto e hífen')
    .optional(),
  CORS_ORIGINS: list(isOrigin, 'deve ter endereços como https://erp.exemplo.com.br, separados por vírgula'),
  WEBHOOK_HOSTS: list(isHost, 'deve ter nomes como erp.interno:8443, separados por vírgula'),
  TRUSTED_PROXIES: list(isNetwork, 'deve ter endereços IP ou redes como 10.0.0.0/8, separados por vírgula'),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\w.~+/-]{16,200}$/, 'deve ter pelo menos 16 letras e números')
    .optional(),
  PROBE_PORT: port(0).optional(),
  SESSION_SECONDS: whole(sessionSecondsMax, sessionSecondsMax),
  SESSION_IDLE_SECONDS: whole(sessionSecondsMax, 7 * 86_400),
  SIMULATOR_PORT: port(3443),
  SIMULATOR_ARCHIVE: z.string().optional(),
  SIMULATOR_ARCHIVE_ANSWERED: flag,
})

type Environment = z.infer<typeof environment>

/**
 * The configuration that `env` asks for; paths are relative to `cwd`. `isSigner`: of the process of the signer alone, which has no page, no
 * mail and no people. Throws `ConfigError` with every problem at once.
 */
export function readConfig(env: Record<string, string | undefined>, cwd: string, { isSigner = false } = {}): Config {
  // A line "NAME=" of a .env file means: not set.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
  const result = environment.safeParse(given)
  const problems = result.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`) ?? []
  problems.push(...combinations(given, result.data, isSigner))
  if (
    given.BACKUP_DIR &&
    !relative(resolve(cwd, given.DATA_DIR ?? './data'), resolve(cwd, given.BACKUP_DIR)).startsWith('..')
  )
    problems.push(
      'BACKUP_DIR fica dentro de DATA_DIR: quem perde uma perde a outra. Use uma pasta em outro disco ou outra máquina.',
    )
  const siteFile = given.SITE_FILE && resolve(cwd, given.SITE_FILE)
  const { site, problems: ofSite } = siteFile ? readSiteFile(siteFile) : { site: {}, problems: [] }
  problems.push(...ofSite.map((problem) => `SITE_FILE (${siteFile}): ${problem}.`))
  if (!result.success || problems.length > 0) throw new ConfigError(problems)
  return deepFreeze(toConfig(result.data, site, cwd))
}

// Looks at the raw values, so that these problems are reported together with those of single variables.
function combinations(
  given: Record<string, string | undefined>,
  env: Environment | undefined,
  isSigner: boolean,
): string[] {
  const problems: string[] = []
  const ambiente = given.SEFAZ_AMBIENTE ?? 'simulado'
  if (ambiente === 'producao') problems.push(...risksOfProduction(given, isSigner))
  if (!isSigner) problems.push(...choicesOfOperator(given, ambiente))
  if (ambiente !== 'simulado' && !given.DEMO_EMAIL !== !given.DEMO_PASSWORD)
    problems.push('DEMO_EMAIL e DEMO_PASSWORD vão juntas: informe as duas ou nenhuma.')
  if (!given.SURVEY_URL !== !given.SURVEY_ENVIRONMENT_ID)
    problems.push('SURVEY_URL e SURVEY_ENVIRONMENT_ID vão juntas: informe as duas ou nenhuma.')
  if (!given.BACKUP_DIR !== !given.BACKUP_KEY)
    problems.push('BACKUP_DIR e BACKUP_KEY vão juntas: informe as duas ou nenhuma.')
  if (given.BACKUP_KEY && given.BACKUP_KEY === given.MASTER_KEY)
    problems.push('BACKUP_KEY deve ser outra que MASTER_KEY: quem abre uma cópia não deve abrir os certificados.')
  if (given.SMTP_URL && !given.MAIL_FROM)
    problems.push('MAIL_FROM é obrigatória com SMTP_URL: é o endereço de quem envia os e-mails.')
  if (env && ambiente === 'simulado' && env.PORT !== 0 && env.PORT === env.SIMULATOR_PORT)
    problems.push(`PORT e SIMULATOR_PORT são a mesma porta (${env.PORT}): escolha outra para uma delas.`)
  return problems
}

// With the real authority, nobody else can say for whom the installation is.
function choicesOfOperator(given: Record<string, string | undefined>, ambiente: string): string[] {
  if (ambiente === 'simulado')
    return ['CADASTRO', 'PLANOS']
      .filter((name) => given[name])
      .map((name) => `${name} só vale em homologacao e producao: em simulado o cadastro é aberto e os planos existem.`)
  if (ambiente !== 'homologacao' && ambiente !== 'producao') return []
  const choices = {
    CADASTRO:
      'CADASTRO deve ser escolhido: aberto (qualquer pessoa que alcança o endereço cria uma conta) ou convite (a primeira conta é feita por npm run admin -- conta criar, e as outras entram por convite).',
    PLANOS:
      'PLANOS deve ser escolhido: ligados (7 dias de teste; depois a captura para até que você ative um plano) ou desligados (a captura nunca para por causa de um plano, e nenhuma tela fala disso).',
  }
  return Object.entries(choices).flatMap(([name, sentence]) => (given[name] ? [] : sentence))
}

// Each can be accepted by its name, so that nobody runs it without having read what it means.
function risksOfProduction(given: Record<string, string | undefined>, isSigner: boolean): string[] {
  const accepted = given.ACCEPTED_RISKS?.split(',').map((risk) => risk.trim()) ?? []
  const found: [Risk, boolean, string][] = [
    [
      'http',
      !given.PUBLIC_URL?.startsWith('https:'),
      'PUBLIC_URL deve começar por https em producao: senhas e certificados passam por esse endereço',
    ],
    [
      'no-proxies',
      !given.TRUSTED_PROXIES,
      'TRUSTED_PROXIES é obrigatória em producao: sem o endereço do proxy que serve o https, quem erra a senha muitas vezes bloqueia o login de todos',
    ],
    [
      'no-mail',
      !given.SMTP_URL,
      'SMTP_URL é obrigatória em producao: sem ela ninguém recebe avisos nem recupera a senha',
    ],
    [
      'key-on-disk',
      !given.MASTER_KEY && (isSigner || !given.SIGNER_SOCKET),
      'MASTER_KEY (ou SIGNER_SOCKET) é obrigatória em producao: sem ela a chave dos certificados fica no mesmo disco e nas mesmas cópias que eles, e com um banco externo se perde com este disco (faça uma com: openssl rand -base64 32)',
    ],
    [
      'demo',
      Boolean(given.DEMO_EMAIL || given.DEMO_PASSWORD),
      'DEMO_EMAIL e DEMO_PASSWORD abrem para qualquer pessoa uma conta nesta instalação: deixe-as vazias em producao',
    ],
  ]
  return found
    .filter(([risk, applies]) => applies && !accepted.includes(risk) && (!isSigner || risk === 'key-on-disk'))
    .map(([risk, , sentence]) => `${sentence}. Para aceitar esse risco: ACCEPTED_RISKS=${risk}.`)
}

function toConfig(env: Environment, site: SiteFile, cwd: string) {
  const dataDir = resolve(cwd, env.DATA_DIR)
  const simulated = env.SEFAZ_AMBIENTE === 'simulado'
  const publicUrl = (env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).replace(/\/+$/, '')
  const publicName = new URL(publicUrl).hostname
  const signUp: 'open' | 'invitation' = env.CADASTRO === 'convite' ? 'invitation' : 'open'
  const contactEmail = env.CONTACT_EMAIL ?? (simulated ? 'contato@vigiafiscal.example' : undefined)
  return {
    port: env.PORT,
    /** The address that the port is opened on. */
    listenHost: env.LISTEN_HOST,
    dataDir,
    /** Set: an external PostgreSQL instead of the embedded one. */
    databaseUrl: env.DATABASE_URL,
    publicUrl,
    /** The names by which it may be called: that of `publicUrl`, and those by which only this machine reaches itself. */
    hostNames: [...ownNames, publicName],
    productName: env.PRODUCT_NAME,
    logLevel: env.LOG_LEVEL,
    /** 32 bytes; absent: `ensureMasterKey` of the signer keeps one in the data directory. */
    masterKey: env.MASTER_KEY,
    /** The key that a rotation puts in place of `masterKey`. */
    newMasterKey: env.NEW_MASTER_KEY,
    /** Unix socket of a separate signer; absent: this process, or the launcher, has one. */
    signerSocket: env.SIGNER_SOCKET,
    /** Folder for copies of the embedded database, and the key that encrypts them; null: no copies. */
    backup: env.BACKUP_DIR && env.BACKUP_KEY ? { directory: resolve(cwd, env.BACKUP_DIR), key: env.BACKUP_KEY } : null,
    /** People who may make an account: anybody, or only those who were invited. */
    signUp,
    /** False: no trial, plan or limit exists, and nothing speaks of one. */
    plans: env.PLANOS === 'ligados',
    /** The shared login that the landing page offers. */
    demo: demoLogin(env, simulated),
    /** Without `smtpUrl` letters become files in `dataDir/outbox`. */
    mail: { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM ?? 'nao-responda@vigiafiscal.example' },
    /** Address for messages of visitors; absent: they are only stored. */
    contactEmail,
    /** Address for problems of this installation; absent: only the log and `/metrics` report them. */
    operatorEmail: env.OPERATOR_EMAIL ?? contactEmail,
    /** Digits with country and area code. */
    contactWhatsapp: env.CONTACT_WHATSAPP,
    /** Texts of the landing page about this installation; absent: examples. */
    site,
    /** A script of somebody else that asks visitors for their opinion; null: there is none. */
    survey:
      env.SURVEY_URL && env.SURVEY_ENVIRONMENT_ID
        ? { url: env.SURVEY_URL, environmentId: env.SURVEY_ENVIRONMENT_ID }
        : null,
    /** Pages of these origins may call the API. */
    corsOrigins: env.CORS_ORIGINS,
    /** Hosts, with their ports, to which a webhook may lead although they are not public. */
    webhookHosts: env.WEBHOOK_HOSTS,
    /** Proxies (addresses or networks) that tell the truth about where a call comes from. */
    trustedProxies: env.TRUSTED_PROXIES,
    /** Opens `/metrics`; absent: there is none. */
    metricsToken: env.METRICS_TOKEN,
    /** The port of this machine alone on which a process tells how it is (`/live`, `/ready`, `/metrics`); absent: there is none. */
    probePort: env.PROBE_PORT,
    /** How long a login lasts. */
    sessionMs: env.SESSION_SECONDS * 1000,
    /** How long it lasts without being used. */
    sessionIdleMs: env.SESSION_IDLE_SECONDS * 1000,
    /** Work of one Argon2id hash, as OWASP recommends: memory in KiB and passes over it. */
    passwordCost: { memoryCost: 19_456, timeCost: 2 },
    /** Limits for one address. */
    door: doorLimits,
    /** `Times` of packages/signalr. The client gives up after thirty seconds of silence, and abandons a poll after a hundred. */
    hub: {
      sweepMs: 1_000,
      pingMs: 15_000,
      clientSilenceMs: 30_000,
      handshakeMs: 15_000,
      pollMs: 50_000,
      detachedMs: 15_000,
      expiryGraceMs: 5_000,
    },
    /** Between two messages about the same kind of thing to one workspace. */
    announcementPauseMs: 60_000,
    sefaz: sefazConfig(env, dataDir, cwd),
    simulator: simulated
      ? {
          port: env.SIMULATOR_PORT,
          archive: env.SIMULATOR_ARCHIVE && resolve(cwd, env.SIMULATOR_ARCHIVE),
          archiveAnswered: env.SIMULATOR_ARCHIVE_ANSWERED,
          /** Password of the certificates of made-up companies that people download to try the product. */
          certificatePassword: 'teste-123',
          /** People other than the operator can reach this demonstration. */
          open: !ownNames.includes(publicName),
        }
      : null,
  }
}

function demoLogin(env: Environment, simulated: boolean) {
  const email = env.DEMO_EMAIL ?? (simulated ? 'demo@vigiafiscal.example' : undefined)
  const password = env.DEMO_PASSWORD ?? (simulated ? 'notas-em-dia' : undefined)
  return email && password ? { email, password } : null
}

function sefazConfig(env: Environment, dataDir: string, cwd: string) {
  const ambiente = env.SEFAZ_AMBIENTE
  // The simulated authority counts a minute as an hour; everything that the rules measure in hours shrinks with it.
  const hourMs = ambiente === 'simulado' ? 60_000 : 3_600_000
  const tpAmb: 1 | 2 = ambiente === 'homologacao' ? 2 : 1
  return {
    ambiente,
    tpAmb,
    endpoints:
      ambiente === 'simulado' ? simulatedEndpoints(`https://localhost:${env.SIMULATOR_PORT}`) : endpoints[ambiente],
    /** Folder for fetched authorities (PEM). */
    caFolder: join(dataDir, 'authorities'),
    /** PEM files trusted besides the default roots. */
    caFiles: [
      ...(ambiente === 'simulado' ? [join(dataDir, 'simulator', 'ca', 'root.pem')] : []),
      ...(env.SEFAZ_CA_FILE ? [resolve(cwd, env.SEFAZ_CA_FILE)] : []),
    ],
    /** The hour of the tax authority's rules. */
    hourMs,
    /** Pause between two pages of documents. */
    pagePauseMs: hourMs / 1800,
    /** Added to the hour, because the two clocks differ. */
    marginMs: hourMs / 12,
    /** Maximum wait for a response. */
    answerMs: 60_000,
    /** Maximum of conversations with the authority, over all processes. */
    conversations: 12,
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}
