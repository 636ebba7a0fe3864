import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { auditActions } from '@vigia/contract/workspace'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import type { Context } from '../../platform/context.ts'
import { useDatabase, useOwner } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { createLogger } from '../../platform/log.ts'
import { newWorkspace, openTestSession, testCaller, testSession } from '../../platform/testing.ts'
import { createVault } from '../../platform/vault.ts'
import { type AuditQuery, auditPageSize, recordAudit, recordRead, searchAudit, searchedMax } from './audit.ts'
import { linkAudit, openAudit } from './export.ts'
import { auditRoutes } from './routes.ts'

const { db, url } = await useDatabase()
const owner = await useOwner(url)
let workspaceId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(db)
})

const record = (action: (typeof auditActions)[number], description: string, accountName = 'Ana Souza') =>
  inWorkspace({ db }, workspaceId, ({ db }) => recordAudit({ db }, { workspaceId, accountName }, action, description))

/** Only the owner of the tables may move an entry in time. */
const moveTo = (description: string, at: string) =>
  owner.query('update audit set at = $1 where workspace_id = $2 and description = $3', [at, workspaceId, description])

const found = async (query: Partial<AuditQuery>) =>
  (await searchAudit({ db }, workspaceId, { PaginaAtual: 1, ...query })).entries.map(({ descricao }) => descricao)

test('what was done last comes first', async () => {
  await record('login', 'Entrou.')
  await record('empresa', 'Cadastrou a empresa.')
  await newWorkspace(db)
  expect(await searchAudit({ db }, workspaceId, { PaginaAtual: 1 })).toEqual({
    entries: [
      {
        quando: expect.any(Date),
        usuario: 'Ana Souza',
        acao: 'empresa',
        descricao: 'Cadastrou a empresa.',
        endereco: null,
        times: 1,
      },
      { quando: expect.any(Date), usuario: 'Ana Souza', acao: 'login', descricao: 'Entrou.', endereco: null, times: 1 },
    ],
    total: 2,
    cutOff: false,
  })
})

test.each(['MANIFESTACAO', 'manifestação', 'joão', '100%', 'açÃO de 100% em', '12abc34501de35', '12.ABC.345/01DE-35'])(
  '%s finds it, whatever the accents and the case',
  async (text) => {
    await record('manifestacao', 'Manifestação de 100% em 12.ABC.345/01DE-35', 'João')
    await record('login', 'Entrou.')
    expect(await found({ CampoPesquisa: text })).toHaveLength(1)
  },
)

test.each(['%', '_', '100\\%', 'manifestacao do joao'])('%s is looked for letter by letter', async (text) => {
  await record('manifestacao', 'Manifestação', 'João')
  expect(await found({ CampoPesquisa: text })).toEqual([])
})

test('days are those of São Paulo, both included', async () => {
  const instants = {
    before: '2026-03-01T02:59:59.999Z',
    first: '2026-03-01T03:00:00Z',
    last: '2026-04-01T02:59:59.999Z',
    after: '2026-04-01T03:00:00Z',
  }
  for (const [name, at] of Object.entries(instants)) {
    await record('login', name)
    await moveTo(name, at)
  }
  const march = { DataDe: '2026-03-01T00:00:00', DataAte: '2026-03-31T23:59:59' }
  expect(await found(march)).toEqual(['last', 'first'])
  expect(await found({ DataDe: march.DataDe })).toEqual(['after', 'last', 'first'])
  expect(await found({ DataAte: march.DataAte })).toEqual(['last', 'first', 'before'])
})

test('pages are those of a list that is filtered and cut', async () => {
  const entries: { n: number; action: (typeof auditActions)[number] }[] = []
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    // One transaction: all at the same instant.
    for (let n = 0; n < 180; n++) {
      const action = auditActions[(n * 7) % auditActions.length]!
      await recordAudit({ db }, { workspaceId, accountName: 'Ana Souza' }, action, `${n % 3 === 0 ? 'Três' : 'x'} ${n}`)
      entries.unshift({ n, action })
    }
  })
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        page: fc.integer({ min: 1, max: 6 }),
        action: fc.option(fc.constantFrom(...auditActions), { nil: undefined }),
        text: fc.option(fc.constantFrom('tres', 'souza', '17'), { nil: undefined }),
      }),
      async ({ page, action, text }) => {
        const matches = entries.filter(
          (entry) =>
            (action === undefined || entry.action === action) &&
            (text !== 'tres' || entry.n % 3 === 0) &&
            (text !== '17' || String(entry.n).includes('17')),
        )
        const answer = await searchAudit({ db }, workspaceId, { PaginaAtual: page, Acao: action, CampoPesquisa: text })
        expect(answer.total).toBe(matches.length)
        expect(answer.entries.map(({ descricao }) => Number(descricao.split(' ')[1]))).toEqual(
          matches.slice((page - 1) * auditPageSize, page * auditPageSize).map(({ n }) => n),
        )
      },
    ),
    { numRuns: runs(60) },
  )
})

test('a text is looked for among the newest only, and that is said', async () => {
  await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`insert into audit (workspace_id, at, actor, action, description, search)
        select ${workspaceId}::int, now() - n * interval '1 minute', 'Ana', 'login', n::text, 'ana ' || n
          from generate_series(1, ${searchedMax + 1}::int) n
        returning 1`.execute(db),
  )
  const oldest = String(searchedMax + 1)
  expect(await searchAudit({ db }, workspaceId, { PaginaAtual: 1, CampoPesquisa: oldest })).toMatchObject({
    total: 0,
    cutOff: true,
  })
  const request = {
    params: undefined,
    query: { PaginaAtual: 1, CampoPesquisa: oldest },
    body: undefined,
    form: undefined,
  }
  expect(await auditRoutes[0]!.run({ db } as Context, request, testSession(workspaceId), testCaller)).toMatchObject({
    message: expect.stringMatching(/^A busca olhou os 100\.000 registros mais recentes do período/),
  })
  const { quando } = (
    await searchAudit({ db }, workspaceId, { PaginaAtual: Math.ceil((searchedMax + 1) / auditPageSize) })
  ).entries.at(-1)!
  const to = new Date(quando.getTime() + 60_000 - 3 * 3_600_000).toISOString().slice(0, 19)
  expect(await searchAudit({ db }, workspaceId, { PaginaAtual: 1, CampoPesquisa: oldest, DataAte: to })).toMatchObject({
    total: 1,
    cutOff: false,
  })
})

test('the same file taken again within an hour is counted, and a HEAD takes nothing', async () => {
  const read = (accountName: string, file: string, from: { isHead?: true; address?: string } = {}) =>
    inWorkspace({ db }, workspaceId, ({ db }) => recordRead({ db }, { ...from, workspaceId, accountName }, from, file))
  const told = async () =>
    (await searchAudit({ db }, workspaceId, { PaginaAtual: 1 })).entries.map(
      ({ usuario, descricao, times }) => `${usuario} ${descricao} ${times}`,
    )
  await read('Ana', 'Baixou um.', { isHead: true })
  await Promise.all([1, 2, 3].map(() => read('Ana', 'Baixou um.')))
  await read('Bia', 'Baixou um.')
  await read('Ana', 'Baixou dois.')
  await read('Ana', 'Baixou dois.', { isHead: true })
  expect(await told()).toEqual(['Ana Baixou dois. 1', 'Bia Baixou um. 1', 'Ana Baixou um. 3'])
  await owner.query(
    `update audit set at = (at at time zone 'UTC' - interval '61 minutes') at time zone 'UTC' where workspace_id = $1`,
    [workspaceId],
  )
  await read('Ana', 'Baixou um.')
  expect((await told())[0]).toBe('Ana Baixou um. 1')
  // Somebody else may have the link or the token.
  await read('Ana', 'Baixou um.', { address: '192.0.2.1' })
  expect((await told())[0]).toBe('Ana Baixou um. 1')
  expect(await told()).toHaveLength(5)
})

test('nobody changes what was written down', async () => {
  await record('login', 'Entrou.')
  const change = inWorkspace({ db }, workspaceId, ({ db }) => db.updateTable('audit').set({ actor: 'x' }).execute())
  await expect(change).rejects.toThrow(/permission denied/)
  const remove = inWorkspace({ db }, workspaceId, ({ db }) => db.deleteFrom('audit').execute())
  await expect(remove).rejects.toThrow(/permission denied/)
})

test('waits for nobody who is about to write something else, and is written only with what was done', async () => {
  // Were the lock held from here on, each of the two would wait for the other.
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const both = [first, second].map((mine, n) =>
    inWorkspace({ db }, workspaceId, async ({ db }) => {
      await recordAudit({ db }, { workspaceId, accountName: 'Ana' }, 'login', `${n}`)
      mine.resolve()
      await Promise.all([first.promise, second.promise])
    }),
  )
  await Promise.all(both)
  const undone = inWorkspace({ db }, workspaceId, async ({ db }) => {
    await recordAudit({ db }, { workspaceId, accountName: 'Ana' }, 'login', 'nunca')
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await found({})).toHaveLength(2)
})

describe('the CSV', () => {
  const vault = createVault(randomBytes(32))
  const log = createLogger('silent')
  let session: Session
  beforeEach(async () => {
    session = await openTestSession(db, workspaceId)
  })
  const ticketOf = ({ endereco }: ReturnType<typeof linkAudit>) => String(endereco).split('/').at(-1)!
  const tickets = () => ticketOf(linkAudit({ vault }, session))
  const download = async (ticket = tickets()) =>
    (await buffer((await openAudit({ db, vault, log }, ticket, testCaller)).content)).toString()

  test('has every entry, in cells that no spreadsheet calculates with', async () => {
    const texts = ['=1+1', "'=1", '@SUM(A1)', '\t-1', '＝1', 'um "texto"; de\r\nduas linhas', '"\r\n"']
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      for (const one of texts)
        await recordAudit({ db }, { workspaceId, accountId: 7, accountName: one, address: '::1' }, 'empresa', one)
    })
    // More than one page of the stream.
    await inWorkspace({ db }, workspaceId, ({ db }) =>
      sql`select append_audit(${workspaceId}, null, 'Ana', 'login', n::text, null, '') from generate_series(1, 1100) n`.execute(
        db,
      ),
    )
    const csv = await download()
    expect(csv.replace(/"(?:[^"]|"")*"/g, 'x')).toMatch(/^\ufeff(x(;x){5}\r\n)+$/)
    const cells = csv.match(/"(?:[^"]|"")*"/g)!
    expect(cells.filter((cell) => /^"[=+\-@\t\r\n＝]/.test(cell))).toEqual([])
    expect(cells).toHaveLength((1 + texts.length + 1100 + 1) * 6)
    expect(csv).toContain(`;"'=1+1";"empresa";"'=1+1";"::1"\r\n`)
    expect(csv).toContain('"leitura";"Baixou a auditoria inteira."')
    expect(await download()).toContain('"leitura";"Baixou a auditoria inteira. (2 vezes em uma hora)"')
  })

  test('comes for who has a link, three times within two minutes, and is of one workspace', async () => {
    await record('login', 'Entrou.')
    const ticket = tickets()
    workspaceId = await newWorkspace(db)
    await record('login', 'De outros.')
    const csv = await download(ticket)
    expect(csv).toContain('Entrou.')
    expect(csv).not.toContain('De outros.')
    await download(ticket)
    await download(ticket)
    await expect(download(ticket)).rejects.toMatchObject({ code: 'too-many' })
    await expect(download(ticket.slice(0, -2))).rejects.toMatchObject({ code: 'not-found' })
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const early = linkAudit({ vault }, session)
      vi.setSystemTime(early.validoAte)
      await expect(download(ticketOf(early))).rejects.toMatchObject({ code: 'gone' })
    } finally {
      vi.useRealTimers()
    }
  })

  test('is for as long as the login lasts that asked for it', async () => {
    const ticket = tickets()
    await owner.query('delete from session where workspace_id = $1', [workspaceId])
    await expect(download(ticket)).rejects.toMatchObject({ code: 'gone' })
  })

  test('is not begun a third time while two people take it, and a reader who leaves makes room', async () => {
    await record('login', 'Entrou.')
    const { content } = await openAudit({ db, vault, log }, tickets(), testCaller)
    const waiting = [tickets(), tickets()].map((ticket) => openAudit({ db, vault, log }, ticket, testCaller))
    await expect(Promise.race(waiting)).rejects.toMatchObject({ code: 'too-many' })
    content.destroy()
    const next = await Promise.any(waiting)
    expect((await buffer(next.content)).toString()).toContain('Entrou.')
  })
})
