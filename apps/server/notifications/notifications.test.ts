import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { warn } from '../accounts/warn.ts'
import { useContext } from '../platform/database.testing.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { insertAccount, newWorkspace } from '../platform/testing.ts'

const { ctx } = await useContext()

async function workspaceOf(...emails: string[]): Promise<number> {
  const workspaceId = await newWorkspace(ctx.db)
  for (const email of emails) await insertAccount(ctx.db, workspaceId, { email })
  return workspaceId
}
const mailsOf = (workspaceId: number) =>
  asOperator(ctx, ({ db }) =>
    db
      .selectFrom('mail')
      .select(['recipient', 'kind', 'payload', 'useless_at'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('id')
      .execute(),
  )

test('a warning goes to every account of the workspace, once', async () => {
  const office = await workspaceOf('ana@um.example', 'beto@um.example')
  const other = await workspaceOf('carla@dois.example')
  const warning = { key: 'teste/3', kind: 'teste-acaba', payload: { days: 3 }, usefulMs: 86_400_000 }
  // At the same moment, as two workers may.
  const told = await Promise.all(Array.from({ length: 6 }, () => warn(ctx, office, warning)))
  expect(told.filter(Boolean)).toHaveLength(1)
  expect(await warn(ctx, office, warning)).toBe(false)
  const mail = { kind: 'teste-acaba', payload: { days: 3 }, useless_at: expect.any(Date) }
  expect(await mailsOf(office)).toEqual([
    { recipient: 'ana@um.example', ...mail },
    { recipient: 'beto@um.example', ...mail },
  ])
  expect(await mailsOf(other)).toEqual([])
  expect(await warn(ctx, other, { key: 'teste/3', kind: 'teste-acaba' })).toBe(true)
  expect(await mailsOf(other)).toMatchObject([{ payload: {}, useless_at: null }])
})

test('a warning goes to who may act on it, and names no company to who must not see it', async () => {
  const office = await workspaceOf(
    'adm@um.example',
    'fis@um.example',
    'uma@um.example',
    'lei@um.example',
    'aud@um.example',
    'ex@um.example',
  )
  await inWorkspace(ctx, office, ({ db }) =>
    sql`update account set role = case when email = 'adm@um.example' then 'administrador' when email = 'lei@um.example' then 'leitura'
                         when email = 'aud@um.example' then 'auditor' else 'fiscal' end,
               all_companies = email not in ('uma@um.example', 'aud@um.example'),
               access_until = case when email = 'ex@um.example' then timestamptz '-infinity' end
         where workspace_id = ${office}`.execute(db),
  )
  expect(await warn(ctx, office, { key: 'teste/3', kind: 'teste-acaba' })).toBe(true)
  expect((await mailsOf(office)).map(({ recipient }) => recipient)).toEqual(['adm@um.example', 'fis@um.example'])
})

test('nobody is told whose e-mail somebody only signed up with', async () => {
  const office = await workspaceOf()
  await insertAccount(ctx.db, office, { email: 'estranha@um.example', enteredAt: null })
  const warning = { key: 'teste/3', kind: 'teste-acaba' }
  expect(await warn(ctx, office, warning)).toBe(false)
  expect(await mailsOf(office)).toEqual([])
  // It is told once somebody is there, and then to them alone.
  await insertAccount(ctx.db, office, { email: 'eva@um.example', enteredAt: new Date() })
  expect(await warn(ctx, office, warning)).toBe(true)
  expect(await warn(ctx, office, warning)).toBe(false)
  expect(await mailsOf(office)).toMatchObject([{ recipient: 'eva@um.example' }])
})
