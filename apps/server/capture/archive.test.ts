import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Context } from '../platform/context.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { noCertificate } from './decide.ts'
import { claimLine } from './lease.ts'
import { followPlan } from './plan.ts'
import {
  addCertificate,
  call,
  changeLines,
  linesOf,
  newCompany,
  ours,
  retireLines,
  useInstallation,
} from './testing.ts'

// An archived company is not captured, and continues when it is reactivated.
const { ctx } = await useInstallation()

beforeEach(() => retireLines(ctx))

type Company = Awaited<ReturnType<typeof newCompany>>

const inside = <T>({ workspaceId }: Company, work: (db: Context['db']) => Promise<T>) =>
  inWorkspace(ctx, workspaceId, ({ db }) => work(db))

const ask = <T>(path: string, company: Company, session = {}) => call<T>(ctx, path, company, { session })

interface Told {
  data: { ativa: boolean; captura: { estado: string; mensagem: string; proximaConsulta: string | null }[] }
}

const entries = (company: Company) =>
  inside(company, (db) => db.selectFrom('audit').select(['action', 'description']).orderBy('id').execute())

async function capturable(): Promise<Company> {
  const company = await newCompany(ctx)
  await addCertificate(ctx, company, { holder: ours, key: 'a', validTo: '2090-01-01' })
  return company
}

test('nothing is asked for it, and its people are told why; back in use it goes on', async () => {
  const company = await capturable()
  await ask('arquivar', company)
  expect(await linesOf(ctx)).toMatchObject([{ paused: true }, { paused: true }])
  expect(await claimLine(ctx, [])).toBeNull()
  const { data } = await ask<Told>('obter-empresa', company)
  expect(data).toMatchObject({ ativa: false, captura: [{ estado: 'parada', proximaConsulta: null }, {}] })
  expect(data.captura[0]!.mensagem).toMatch(/^Esta empresa está arquivada desde .* reative-a para a captura continuar/)
  await expect(ask('sincronizar', company)).rejects.toMatchObject({ code: 'conflict' })

  await ask('reativar', company)
  expect(await linesOf(ctx)).toMatchObject([{ paused: false }, { paused: false }])
  expect(await claimLine(ctx, [])).not.toBeNull()
  expect((await ask<Told>('obter-empresa', company)).data.ativa).toBe(true)
  expect((await entries(company)).map(({ description }) => description.split(':')[0])).toEqual([
    'Arquivou a empresa EMPRESA (44.555.666/0001-81)',
    'Reativou a empresa EMPRESA (44.555.666/0001-81)',
  ])
})

test('another workspace with the same CNPJ is captured on, and the review of plans changes nothing', async () => {
  const [one, other] = [await capturable(), await capturable()]
  await ask('arquivar', one)
  for (const { workspaceId } of [one, other]) await followPlan(ctx, workspaceId)
  expect(await linesOf(ctx)).toMatchObject([{ paused: false }, { paused: false }])
  expect((await ask<Told>('obter-empresa', other)).data.captura[0]!.estado).not.toBe('parada')
  expect((await ask<Told>('obter-empresa', one)).data.captura[0]!.estado).toBe('parada')
})

test('other companies of the workspace are left as they are', async () => {
  const archived = await capturable()
  const other = '11222333000181'
  await newCompany(ctx, { cnpj: other, workspaceId: archived.workspaceId })
  await changeLines(ctx, `state = 'stopped', message = '${noCertificate}', next_at = null`, other)
  const before = await linesOf(ctx, other)
  await ask('arquivar', archived)
  await ask('reativar', archived)
  expect(await linesOf(ctx, other)).toEqual(before)
})

test('it learns nothing of what others receive meanwhile, and automatic Ciência is off when it comes back', async () => {
  const company = await capturable()
  await inside(company, (db) => db.updateTable('company').set({ acknowledges_since: new Date() }).execute())
  await ask('arquivar', company)
  const line = (await linesOf(ctx))[0]!
  await inCapture(ctx, ({ db }) =>
    sql`insert into capture_call (line_id, query, answer, nsu_before, nsu_after, c_stat, at)
        values (${line.id}, 'page', 'page', 0, 50, 138, now() + interval '1 minute')`.execute(db),
  )
  interface Completeness {
    data: { meses: { consultas: number }[] }[]
  }
  const { data } = await ask<Completeness>('completude', company)
  expect(data.flatMap(({ meses }) => meses.map(({ consultas }) => consultas)).filter((n) => n > 0)).toEqual([])
  await ask('reativar', company)
  const { switches } = await inside(company, (db) =>
    db.selectFrom('company').select('acknowledges_since as switches').executeTakeFirstOrThrow(),
  )
  expect(switches).toBeNull()
})

test('asked for twice it happens once, and the shared account does not do it', async () => {
  const company = await capturable()
  await ask('arquivar', company)
  await ask('arquivar', company)
  expect(await entries(company)).toHaveLength(1)
  await expect(ask('reativar', company, { shared: true })).rejects.toMatchObject({ code: 'conflict' })
})

test('it makes room in the plan, and comes back only where there is some', async () => {
  const company = await capturable()
  await inside(company, (db) => sql`update workspace set plan = 1`.execute(db))
  await ask('arquivar', company)
  // The plan Básico has room for one.
  await inside(company, (db) =>
    sql`insert into company (workspace_id, cnpj, name, search, uf)
        values (${company.workspaceId}, '11222333000181', 'OUTRA', 'outra', 35)`.execute(db),
  )
  await expect(ask('reativar', company)).rejects.toMatchObject({
    code: 'plan-limit',
    message: expect.stringContaining('arquive uma que não usa'),
  })
  expect((await ask<Told>('obter-empresa', company)).data.ativa).toBe(false)
})
