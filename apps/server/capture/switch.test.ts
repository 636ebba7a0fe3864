import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { insertCompany, newWorkspace } from '../platform/testing.ts'
import { followSwitch, requestSync, resume, subscribe } from './capture.ts'

const matriz = '12ABC34501DE35'
const filial = '12ABC345000269'
const stranger = '44555666000181'
const { db } = await useDatabase()

beforeEach(() =>
  inCapture({ db }, async ({ db }) => {
    await db.deleteFrom('capture_subscription').execute()
    await db.deleteFrom('capture_line').execute()
  }),
)

async function register(workspaceId: number, cnpj: string, { proved = true } = {}): Promise<number> {
  const company = await insertCompany(db, workspaceId, { cnpj })
  await subscribe({ db }, workspaceId, company, { proved })
  return company.id
}

const turn = (workspaceId: number, companyId: number, automatic: boolean) =>
  inWorkspace({ db }, workspaceId, async ({ db }) => {
    await db.updateTable('company').set({ automatic }).where('id', '=', companyId).execute()
    await followSwitch({ db }, workspaceId, companyId)
    // The transaction is where it was.
    const { rows } = await sql<{ id: number }>`select current_ws() as id`.execute(db)
    expect(rows[0]!.id).toBe(workspaceId)
  })

const lines = (cnpj: string) =>
  inCapture({ db }, ({ db }) =>
    db.selectFrom('capture_line').selectAll().where('cnpj', '=', cnpj).orderBy('service').execute(),
  )
const automatic = async (cnpj: string) => (await lines(cnpj)).map((line) => line.automatic)
const change = (cnpj: string, set: string) =>
  inCapture({ db }, ({ db }) => sql`update capture_line set ${sql.raw(set)} where cnpj = ${cnpj}`.execute(db))
const subscriptions = (workspaceId: number) =>
  inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .selectFrom('capture_subscription as s')
      .innerJoin('company as c', (join) =>
        join.onRef('c.workspace_id', '=', 's.workspace_id').onRef('c.id', '=', 's.company_id'),
      )
      .select(['c.cnpj', 's.refused'])
      .select(sql<boolean>`s.proved_at is not null`.as('proved'))
      .where('s.workspace_id', '=', workspaceId)
      .orderBy('s.line_id')
      .execute(),
  )

test('a CNPJ is captured automatically while any company wants it so, proved or not', async () => {
  const [mine, theirs] = [await newWorkspace(db), await newWorkspace(db)]
  const [own, other] = [await register(mine, matriz), await register(theirs, matriz, { proved: false })]
  expect(await automatic(matriz)).toEqual([true, true])
  await turn(mine, own, false)
  expect(await automatic(matriz)).toEqual([true, true])
  await turn(theirs, other, false)
  expect(await automatic(matriz)).toEqual([false, false])
  await turn(mine, own, true)
  expect(await automatic(matriz)).toEqual([true, true])
  await turn(mine, own, false)
  await register(await newWorkspace(db), matriz)
  expect(await automatic(matriz)).toEqual([true, true])
})

test('two companies that turn it off at the same moment leave it off', async () => {
  const [mine, theirs] = [await newWorkspace(db), await newWorkspace(db)]
  const [own, other] = [await register(mine, matriz), await register(theirs, matriz)]
  for (let round = 0; round < 10; round++) {
    await Promise.all([turn(mine, own, true), turn(theirs, other, true)])
    await Promise.all([turn(mine, own, false), turn(theirs, other, false)])
    expect(await automatic(matriz)).toEqual([false, false])
  }
})

test('asking by hand is noted besides the time', async () => {
  const workspaceId = await newWorkspace(db)
  const company = await register(workspaceId, matriz)
  await turn(workspaceId, company, false)
  expect((await lines(matriz)).map((line) => line.wanted)).toEqual([false, false])
  await requestSync({ db, config: readConfig({}, process.cwd()) }, workspaceId, company)
  expect((await lines(matriz)).map((line) => line.wanted)).toEqual([true, true])
})

test('a new certificate wakes what stopped for want of one, of all companies of its base, and not before its time', async () => {
  const workspaceId = await newWorkspace(db)
  for (const cnpj of [matriz, filial, stranger]) {
    await register(workspaceId, cnpj, { proved: false })
    await change(cnpj, "state = 'stopped', next_at = null, allowed_at = now() + interval '1 hour', message = 'venceu'")
  }
  await inCapture({ db }, ({ db }) => sql`update capture_subscription set refused = 'não aceito'`.execute(db))
  await resume({ db }, workspaceId, filial, { proved: true })
  for (const cnpj of [matriz, filial]) {
    for (const line of await lines(cnpj)) {
      expect(line).toMatchObject({ state: 'waiting', next_at: line.allowed_at })
      expect(line.message).toBe('Há um certificado novo: a captura continua assim que a SEFAZ permitir.')
    }
  }
  for (const line of await lines(stranger)) expect(line).toMatchObject({ state: 'stopped', next_at: null })
  expect(await subscriptions(workspaceId)).toEqual([
    ...[matriz, matriz, filial, filial].map((cnpj) => ({ cnpj, proved: true, refused: null })),
    ...[stranger, stranger].map((cnpj) => ({ cnpj, proved: false, refused: 'não aceito' })),
  ])
})

test('a new certificate writes nothing to lines for which it changes nothing', async () => {
  const workspaceId = await newWorkspace(db)
  for (const cnpj of [matriz, filial]) await register(workspaceId, cnpj)
  await change(filial, "state = 'stopped', next_at = null")
  const written = async () => {
    const { rows } = await inCapture({ db }, ({ db }) =>
      sql<{ cnpj: string; line: string; subscription: string }>`
        select l.cnpj, l.xmin::text as line, s.xmin::text as subscription
          from capture_line l join capture_subscription s on s.line_id = l.id
         where s.workspace_id = ${workspaceId} order by l.id`.execute(db),
    )
    return rows
  }
  const before = await written()
  await resume({ db }, workspaceId, matriz, { proved: true })
  const after = await written()
  const changed = after.filter((row, index) => row.line !== before[index]!.line)
  expect(changed.map(({ cnpj }) => cnpj)).toEqual([filial, filial])
  expect(after.map(({ subscription }) => subscription)).toEqual(before.map(({ subscription }) => subscription))
})

test('a new certificate brings a failed line forward as far as its pause allows, and says when the capture is not automatic', async () => {
  const workspaceId = await newWorkspace(db)
  const company = await register(workspaceId, matriz)
  const failing =
    "state = 'failed', next_at = now() + interval '1 hour', allowed_at = now() + interval '5 minutes', message = '403'"
  await change(matriz, failing)
  await resume({ db }, workspaceId, matriz, { proved: true })
  for (const line of await lines(matriz)) {
    // Its pause may be that of an answer that was lost: nothing that is missing is asked for either.
    expect(line).toMatchObject({ state: 'failed', next_at: line.allowed_at })
    expect(line.message).toMatch(/^Há um certificado novo: a captura continua assim/)
  }
  await turn(workspaceId, company, false)
  await change(matriz, failing)
  await resume({ db }, workspaceId, matriz, { proved: true })
  for (const { message } of await lines(matriz))
    expect(message).toBe('Há um certificado novo: a captura continua quando a sincronização for pedida ou ligada.')
})

test('a certificate that its chain does not prove proves nothing, and takes no earlier proof away', async () => {
  const workspaceId = await newWorkspace(db)
  await register(workspaceId, matriz)
  await register(workspaceId, filial, { proved: false })
  await resume({ db }, workspaceId, matriz, { proved: false })
  expect((await subscriptions(workspaceId)).map(({ cnpj, proved }) => [cnpj, proved])).toEqual([
    [matriz, true],
    [matriz, true],
    [filial, false],
    [filial, false],
  ])
})

test('a company that a new certificate proves catches up with the others, whose line goes on', async () => {
  const [owner, late] = [await newWorkspace(db), await newWorkspace(db)]
  await register(owner, matriz)
  await register(late, matriz, { proved: false })
  await change(matriz, 'last_nsu = 7')
  const before = await lines(matriz)
  expect(before.map((line) => line.catch_up)).toEqual([false, false])
  await resume({ db }, late, matriz, { proved: true })
  expect(await lines(matriz)).toEqual(before.map((line) => ({ ...line, catch_up: true })))
})
