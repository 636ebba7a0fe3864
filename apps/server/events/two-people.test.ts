import type { MemberRole } from '@vigia/contract/route'
import { nfe } from '@vigia/dfe/families/nfe'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { arrive, resNFe } from '../documents/testing.ts'
import type { Context } from '../platform/context.ts'
import { useContext } from '../platform/database.testing.ts'
import { asOperator, inCapture, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { insertAccount, testSession } from '../platform/testing.ts'
import { manifestationMails } from './announcements.ts'
import { listAsked, reviewAsked, settleAsked } from './approve.ts'
import { prepareBatch } from './prepare.ts'
import { claimBatch } from './queue.ts'
import { requestEvents } from './request.ts'
import { daysAgo, dueDiffers, newOffice, type Office, store } from './testing.ts'
import { readTwoPeople, saveTwoFrom } from './two-people.ts'

const { ctx } = await useContext({ PORT: '0' })
let office: Office
let ana: Session
let bruno: Session

beforeEach(begin)

async function begin(): Promise<void> {
  await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
  office = await newOffice(ctx)
  ana = office.session
  bruno = await another('Bruno Lima')
}

async function another(name: string): Promise<Session> {
  const { id } = await insertAccount(ctx.db, office.workspaceId, { name })
  return { ...testSession(office.workspaceId, id), accountName: name }
}

const inside = <T>(work: (ctx: Context) => Promise<T>) => inWorkspace(ctx, office.workspaceId, work)
const arriveNotes = (...amounts: number[]) =>
  store(
    ctx,
    office,
    'nfe',
    amounts.map((amount, at) =>
      arrive(at + 1, resNFe({ number: at + 1, amount: amount.toFixed(2), issuedAt: daysAgo(2) })),
    ),
  )
const confirmation = 2
async function ask(who: Session, number: number, choice = confirmation) {
  const { rows } = await inside(({ db }) =>
    sql<{
      id: bigint
    }>`select id from document where workspace_id = ${office.workspaceId} and number = ${number}`.execute(db),
  )
  const documents = rows.map(({ id }) => ctx.ids.encode(office.workspaceId, id))
  const kind = nfe.answers.find((one) => one.choice === choice)!
  const request = { service: 'nfe' as const, kind, documents, justification: 'Conferida com o pedido.' }
  const [outcome] = await requestEvents(ctx, who, request, 0)
  return outcome!
}
const waiting = (who: Session) => readWorkspace(ctx, office.workspaceId, (ctx) => listAsked(ctx, who))
async function decide(who: Session, reason: string | null = null) {
  const { answers } = await waiting(who)
  const chosen = answers.map(({ id }) => ctx.ids.encode(office.workspaceId, id))
  return settleAsked(ctx, who, { chosen, reason })
}
const leave = async () => {
  const batch = await claimBatch(ctx)
  const prepared = batch && (await prepareBatch(ctx, batch))
  return prepared?.ready.map(({ event }) => event.id) ?? []
}
const settle = (ids: readonly bigint[]) =>
  inCapture(ctx, ({ db }) =>
    sql`update outgoing_event set state = 'registered', lease_by = null, lease_until = null where id = any (${ids}::bigint[])`.execute(
      db,
    ),
  )
const events = () =>
  inside(({ db }) => db.selectFrom('outgoing_event').select(['id', 'state', 'message', 'why']).orderBy('id').execute())
const setRole = (who: Session, role: MemberRole) =>
  inside(({ db }) => db.updateTable('account').set({ role }).where('id', '=', who.accountId).execute())

describe('an answer from the value on', () => {
  test('leaves when another person has approved it, and says who they were; below it one person is enough', async () => {
    await arriveNotes(999, 1000)
    await saveTwoFrom(ctx, ana, 1000)
    expect(await ask(ana, 1)).toMatchObject({ situacao: 'enviando' })
    expect(await ask(ana, 2)).toMatchObject({
      situacao: 'aguarda-segunda-pessoa',
      mensagem: expect.stringContaining('segunda pessoa'),
    })
    const alone = await leave()
    expect(alone).toHaveLength(1)
    await settle(alone)
    expect(await decide(ana)).toMatchObject({
      impedidas: [{ motivo: expect.stringContaining('quem aprova é outra pessoa') }],
    })
    expect(await decide(bruno)).toMatchObject({ feitas: 1, impedidas: [] })
    const [id] = await leave()
    const row = (await events()).find((event) => event.id === id)
    expect(row?.why).toMatch(/^Pedida por Ana Souza em .+; aprovada por Bruno Lima em .+\.$/)
    const audit = await inside(({ db }) =>
      sql<{
        what: string
      }>`select description as what from audit where workspace_id = ${office.workspaceId} and account_id = ${bruno.accountId}`.execute(
        db,
      ),
    )
    expect(audit.rows).toEqual([
      { what: expect.stringMatching(/^Aprovou .+ de 1 NF-e \(número 2\)\. Pedida por Ana Souza em .+\.$/) },
    ])
  })

  test('that a key asked for is not approved by who made the key, nor once the key is gone', async () => {
    await arriveNotes(1000)
    await saveTwoFrom(ctx, ana, 1000)
    const { rows } = await inside(({ db }) =>
      sql<{ id: number }>`
        insert into api_key (workspace_id, name, start, scopes, token_hash, created_by)
        values (${office.workspaceId}, 'ERP', 'x', '{documentos:responder}', ${Buffer.from(`${office.workspaceId}`)}, ${ana.accountId}) returning id`.execute(
        db,
      ),
    )
    await ask({ ...ana, accountId: rows[0]!.id, accountName: 'Chave ERP' }, 1)
    expect(await decide(ana)).toMatchObject({ impedidas: [{ motivo: expect.stringContaining('chave de API sua') }] })
    await inside(({ db }) => sql`update api_key set token_hash = null where id = ${rows[0]!.id}`.execute(db))
    expect(await decide(bruno)).toMatchObject({
      impedidas: [{ motivo: expect.stringContaining('não pode mais responder') }],
    })
    await inside(({ db }) =>
      sql`update api_key set token_hash = ${Buffer.from(`${office.workspaceId}`)} where id = ${rows[0]!.id}`.execute(
        db,
      ),
    )
    expect(await decide(bruno)).toMatchObject({ feitas: 1, impedidas: [] })
  })

  test.each([
    ['who approved it may not answer any more', () => setRole(bruno, 'leitura')],
    ['who asked for it may not answer any more', () => setRole(ana, 'leitura')],
  ])('waits again when, before it leaves, %s', async (_, change) => {
    await arriveNotes(1000)
    await saveTwoFrom(ctx, ana, 1000)
    await ask(ana, 1)
    await decide(bruno)
    await change()
    expect(await leave()).toEqual([])
    expect(await events()).toMatchObject([{ state: 'asked', why: expect.not.stringContaining('aprovada') }])
    const { rows } = await inside(({ db }) =>
      sql`select from happening where what = 'resposta-aguarda' and (payload ->> 'again')::boolean`.execute(db),
    )
    expect(rows).toHaveLength(1)
  })

  test('ends when another was asked for after it, or its document is cancelled while it waits', async () => {
    await arriveNotes(1000, 1000)
    await ask(ana, 1)
    await saveTwoFrom(ctx, ana, 500)
    await ask(bruno, 1, 3)
    await ask(ana, 2)
    expect(await leave()).toEqual([])
    await inside(({ db }) =>
      sql`update document set status = 3 where workspace_id = ${office.workspaceId} and number = 2`.execute(db),
    )
    await reviewAsked(ctx, office.workspaceId)
    expect(await events()).toMatchObject([
      { state: 'rejected', message: 'Outra resposta foi pedida depois desta: nada foi enviado.' },
      { state: 'asked' },
      { state: 'rejected', message: expect.stringContaining('foi cancelado enquanto a resposta esperava') },
    ])
  })

  test('waits when the value becomes lower before it leaves, and goes on waiting when nothing needs two any more', async () => {
    await arriveNotes(1000)
    await ask(ana, 1)
    await saveTwoFrom(ctx, ana, 500)
    expect(await leave()).toEqual([])
    await saveTwoFrom(ctx, ana, null)
    expect(await leave()).toEqual([])
    expect(await events()).toMatchObject([{ state: 'asked' }])
    // An answer counts from its approval.
    expect(await dueDiffers(ctx, office.workspaceId)).toEqual([])
    expect(await decide(bruno)).toMatchObject({ feitas: 1, impedidas: [] })
    expect(await dueDiffers(ctx, office.workspaceId)).toEqual([])
  })

  test('is refused with a reason, or taken back by who asked, and another answer takes its place', async () => {
    await arriveNotes(1000)
    await saveTwoFrom(ctx, ana, 1000)
    await ask(ana, 1)
    await decide(bruno, 'O pedido foi de outra loja.')
    await ask(ana, 1)
    await decide(ana, 'Engano.')
    await ask(ana, 1)
    await ask(bruno, 1, 3)
    expect((await events()).map(({ state, message }) => [state, message])).toEqual([
      [
        'rejected',
        expect.stringMatching(/^Recusada por Bruno Lima em .+: O pedido foi de outra loja\. Nada foi enviado\.$/),
      ],
      ['rejected', expect.stringMatching(/^Retirada por Ana Souza/)],
      ['rejected', expect.stringContaining('Outra resposta foi pedida depois, por Bruno Lima')],
      ['asked', expect.any(String)],
    ])
    expect(await leave()).toEqual([])
  })

  test('is told three days before its deadline ends, once, and ends with it', async () => {
    await arriveNotes(1000)
    await saveTwoFrom(ctx, ana, 1000)
    await ask(ana, 1)
    const told = () =>
      inside(async ({ db }) => {
        const { rows } = await sql<{
          what: string
        }>`select what from happening where what = 'resposta-aguarda-prazo'`.execute(db)
        return rows.length
      })
    const authorized = (days: number) =>
      inside(({ db }) =>
        sql`update document set authorized_at = now() - ${days} * interval '1 day' where workspace_id = ${office.workspaceId}`.execute(
          db,
        ),
      )
    await reviewAsked(ctx, office.workspaceId)
    expect(await told()).toBe(0)
    await authorized(88)
    for (const _ of [1, 2]) await reviewAsked(ctx, office.workspaceId)
    expect(await told()).toBe(1)
    await authorized(91)
    await reviewAsked(ctx, office.workspaceId)
    expect(await events()).toMatchObject([{ state: 'rejected', message: expect.stringContaining('O prazo terminou') }])
  })
})

test('the value is not set where only one person may answer for a company: nothing would leave any more', async () => {
  await setRole(bruno, 'leitura')
  await expect(saveTwoFrom(ctx, ana, 1000)).rejects.toThrow(AppError)
  expect(await inside((ctx) => readTwoPeople(ctx, ana))).toMatchObject({ setting: null, alone: [expect.any(String)] })
  await setRole(bruno, 'fiscal')
  await saveTwoFrom(ctx, ana, 1000)
})

test('everybody who administers is written who changed the value, and what it was', async () => {
  for (const one of [ana, bruno]) await setRole(one, 'administrador')
  await inside(({ db }) => db.updateTable('account').set({ entered_at: new Date() }).execute())
  await setRole(await another('Carla Dias'), 'fiscal')
  await saveTwoFrom(ctx, ana, 1000)
  await saveTwoFrom(ctx, ana, null)
  const { rows: letters } = await asOperator(ctx, ({ db }) =>
    sql<{ recipient: string; payload: object }>`
      select recipient, payload from mail where workspace_id = ${office.workspaceId} and kind = 'duas-pessoas-mudou' order by id`.execute(
      db,
    ),
  )
  const emails = await inside(({ db }) => db.selectFrom('account').select(['id', 'email']).execute())
  const written = letters.map(({ recipient }) => emails.find(({ email }) => email === recipient)?.id)
  expect(written.toSorted()).toEqual([ana, bruno, ana, bruno].map(({ accountId }) => accountId).toSorted())
  const last = letters.at(-1)!.payload
  expect(last).toMatchObject({ from: null, before: 1000, by: 'Ana Souza' })
  const letter = await manifestationMails['duas-pessoas-mudou']!(
    { config: { productName: 'Vigia', publicUrl: 'https://v' } } as Context,
    { payload: last } as never,
  )
  expect(letter!.paragraphs[0]).toMatch(
    /Ana Souza desligou a aprovação .+ Antes precisavam as respostas a partir de R\$\s1\.000,00\.$/,
  )
})

test('nothing leaves that nobody asked for, and nothing from the value on without two who may answer, whatever happens in between', async () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        who: fc.nat(2),
        note: fc.nat(2),
        choice: fc.constantFrom(2, 3),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('approve' as const), who: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), who: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('set' as const), from: fc.constantFrom(null, 100, 1000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('role' as const), who: fc.nat(2), may: fc.boolean() }) },
    // Somebody claims what is due and dies.
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const) }) },
  )
  let left = 0
  let leftOfTwo = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      await begin()
      const people = [ana, bruno, await another('Carla Dias')]
      const amounts = [50, 500, 5000]
      await arriveNotes(...amounts)
      let from: number | null = null
      const may = new Set(people.map(({ accountId }) => accountId))
      const askers = new Map<bigint, number>()
      const approvers = new Map<bigint, Set<number>>()
      const all = () =>
        inside(({ db }) =>
          sql<{ id: bigint; state: string; number: number }>`
          select o.id, o.state, d.number::int from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
           where o.workspace_id = ${office.workspaceId}`.execute(db),
        )
      for (const one of [...steps, { do: 'leave' as const }]) {
        if (one.do === 'ask') {
          if (!may.has(people[one.who]!.accountId)) continue
          const before = new Set((await all()).rows.map(({ id }) => id))
          await ask(people[one.who]!, one.note + 1, one.choice)
          for (const { id } of (await all()).rows) if (!before.has(id)) askers.set(id, people[one.who]!.accountId)
        } else if (one.do === 'approve' || one.do === 'refuse') {
          const who = people[one.who]!
          if (!may.has(who.accountId)) continue
          const { answers } = await waiting(who)
          const { impedidas } = await decide(who, one.do === 'approve' ? null : 'Não.')
          const barred = impedidas.map(({ idPedido }) => ctx.ids.decode(office.workspaceId, String(idPedido)))
          for (const { id } of answers)
            if (one.do === 'approve' && !barred.includes(id))
              approvers.set(id, (approvers.get(id) ?? new Set()).add(who.accountId))
        } else if (one.do === 'set') {
          const set = await saveTwoFrom(ctx, ana, one.from).then(
            () => true,
            () => false,
          )
          if (set) from = one.from
        } else if (one.do === 'role') {
          await setRole(people[one.who]!, one.may ? 'fiscal' : 'leitura')
          may[one.may ? 'add' : 'delete'](people[one.who]!.accountId)
        } else if (one.do === 'crash') {
          await claimBatch(ctx)
          await inCapture(ctx, ({ db }) =>
            sql`update outgoing_event set lease_until = now() - interval '1 s' where lease_until is not null`.execute(
              db,
            ),
          )
        } else {
          const ids = await leave()
          const { rows } = await all()
          for (const { id, number } of rows.filter((row) => ids.includes(row.id))) {
            left++
            const asker = askers.get(id)
            expect(asker, `who asked for note ${number}`).toBeDefined()
            if (from === null || amounts[number - 1]! < from) continue
            leftOfTwo++
            expect(may.has(asker!), `who asked for note ${number} may answer`).toBe(true)
            const others = [...(approvers.get(id) ?? [])].filter((person) => person !== asker && may.has(person))
            expect(others, `who approved note ${number}`).not.toEqual([])
          }
          await settle(ids)
        }
      }
    }),
    {
      numRuns: runs(60),
      endOnFailure: true,
      examples: [
        [
          [
            { do: 'set', from: 100 },
            { do: 'ask', who: 0, note: 2, choice: 2 },
            { do: 'approve', who: 1 },
            { do: 'leave' },
          ],
        ],
      ],
    },
  )
  expect(left).toBeGreaterThan(0)
  expect(leftOfTwo).toBeGreaterThan(0)
})
