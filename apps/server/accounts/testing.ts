import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import type { KyselyPlugin } from 'kysely'
import pg from 'pg'
import { createDatabase } from '../../../tests/support/database.ts'
import { quickPasswords } from '../../../tests/support/passwords.ts'
import { type Config, readConfig } from '../config.ts'
import type { Context } from '../platform/context.ts'
import { openDatabase } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { createPublicIds } from '../platform/ids.ts'
import { createLogger } from '../platform/log.ts'
import type { Letter, MailKind } from '../platform/mail/mail.ts'
import { testSigner } from '../platform/signer/testing.ts'
import { noPrinter, roomyStorage } from '../platform/testing.ts'
import { createVault } from '../platform/vault.ts'
import type { FindPublicIds } from './accounts.ts'
import { accountMails } from './mails.ts'
import { accountRoutes } from './routes.ts'
import { findSession } from './sessions.ts'

interface HandlerOptions {
  json?: object
  token?: string
  /** Absent: an unused one. */
  address?: string
  agent?: string
}

export interface TestPerson {
  nome: string
  email: string
  senha: string
}

let people = 0
let addresses = 0

/** A person who has no account yet. */
export function newPerson(change: Partial<TestPerson> = {}): TestPerson {
  return { nome: 'Ana Souza', email: `ana${++people}@exemplo.com.br`, senha: 'segredo-da-ana', ...change }
}

/** An unused address. */
export function newAddress(): string {
  addresses++
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/**
 * The calls about accounts on a database of their own; `owner` sees all of its rows. `smtpUrl`: letters would leave. `routes`, `mails`: those of
 * other slices beside them.
 */
export async function openAccounts({
  ambiente = 'simulado',
  signUp: allowed = 'open',
  smtpUrl,
  findPublicIds = async () => null,
  routes = [],
  mails = {},
}: {
  ambiente?: Config['sefaz']['ambiente']
  signUp?: Config['signUp']
  smtpUrl?: string
  findPublicIds?: FindPublicIds
  routes?: Parameters<typeof serveRoutes>[1]
  mails?: Record<string, MailKind>
} = {}) {
  const database = await createDatabase()
  const db = openDatabase(database.url)
  const owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  const statements = { count: 0 }
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements.count++
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const config = readConfig({ PUBLIC_URL: 'https://vigia.exemplo.com.br', DATA_DIR: tmpdir() }, tmpdir())
  const ctx: Context = {
    db: db.withPlugin(counting),
    config: {
      ...config,
      signUp: allowed,
      sefaz: { ...config.sefaz, ambiente },
      passwordCost: quickPasswords,
      mail: { smtpUrl, from: 'avisos@vigia.exemplo.com.br' },
    },
    log: createLogger('silent'),
    vault: createVault(randomBytes(32)),
    signer: testSigner(database.url),
    ids: createPublicIds(randomBytes(16)),
    printer: noPrinter,
    storage: roomyStorage,
  }
  const app = await serveRoutes(ctx, [...accountRoutes(findPublicIds), ...routes], findSession)
  const writers = { ...accountMails, ...mails }

  const call = async (method: 'GET' | 'POST' | 'PUT', url: string, options: HandlerOptions = {}) => {
    const response = await app.inject({
      method,
      url,
      remoteAddress: options.address ?? newAddress(),
      headers: {
        'user-agent': options.agent ?? 'teste',
        ...(options.token && { authorization: `Bearer ${options.token}` }),
      },
      ...(options.json && { payload: options.json }),
    })
    const { headers } = response
    return { status: response.statusCode, retryAfter: headers['retry-after'], envelope: response.json() }
  }
  const signUp = (person: object, address?: string) => call('POST', '/v1/api/Usuarios', { json: person, address })
  const logIn = (person: object, options: HandlerOptions = {}) =>
    call('POST', '/v1/api/Auth', { json: person, ...options })
  const rows = async <T extends object>(query: string, ...values: unknown[]): Promise<T[]> =>
    (await owner.query<T>(query, values)).rows

  return {
    ctx,
    database,
    owner,
    statements,
    call,
    signUp,
    logIn,
    rows,
    /** Signs up and opens a session. */
    async enter(person = newPerson(), options: HandlerOptions = {}) {
      await signUp(person)
      const { envelope } = await logIn(person, options)
      return { ...person, token: envelope.data.token as string }
    },
    /** Writers of the mails of the kind to the recipient, oldest first; each call is an attempt to send. */
    async attempts(kind: string, recipient: string): Promise<(() => Promise<Letter | null>)[]> {
      const mails = await rows<{ id: string; workspaceId: number | null; payload: unknown }>(
        `select id, workspace_id as "workspaceId", payload from mail where kind = $1 and recipient = $2 order by id`,
        kind,
        recipient,
      )
      return mails.map((mail) => () => writers[kind]!(ctx, { ...mail, id: BigInt(mail.id), recipient }))
    },
    /** The letter of the newest mail of the kind to the recipient, as the one who sends it would have it. */
    async letter(kind: string, recipient: string): Promise<Letter | null> {
      const write = (await this.attempts(kind, recipient)).at(-1)
      if (!write) throw new Error(`no mail ${kind} to ${recipient}`)
      return write()
    },
    auditEntries: (email: string) =>
      rows<{ action: string; actor: string; description: string; address: string; account_id: number | null }>(
        `select action, actor, description, address, account_id from audit
          where workspace_id = (select workspace_id from account where email = $1) order by id`,
        email,
      ),
    async [Symbol.asyncDispose]() {
      await app.close()
      await db.destroy()
      await owner.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

export type Accounts = Awaited<ReturnType<typeof openAccounts>>
