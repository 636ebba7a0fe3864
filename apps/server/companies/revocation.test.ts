import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCertificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { order, startAuthority } from '../../../tests/support/authority.ts'
import { createDatabase } from '../../../tests/support/database.ts'
import { withTestKeys } from '../../../tests/support/keys.ts'
import { readConfig } from '../config.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { insertCompany, newWorkspace } from '../platform/testing.ts'
import { findCertificateOwner, listCertificates } from './companies.ts'
import { createRevocationReview, revocationProblemText } from './revocation.ts'

const [cnpj, filial] = ['44555666000181', '44555666000262']
let database: Awaited<ReturnType<typeof createDatabase>>
let dataDir: string
let simulator: Awaited<ReturnType<typeof startAuthority>>
let ctx: Pick<Context, 'db' | 'config' | 'log'>
let workspaceId: number
let review: ReturnType<typeof createRevocationReview>

beforeAll(async () => {
  database = await createDatabase()
  ctx = { db: openDatabase(database.url), config: readConfig({}, '/'), log: createLogger('silent') }
})
afterAll(async () => {
  await ctx.db.destroy()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vigia-revocation-'))
  simulator = await startAuthority(withTestKeys(join(dataDir, 'simulator')))
  ctx = { ...ctx, config: readConfig({ DATA_DIR: dataDir, SIMULATOR_PORT: String(simulator.port) }, '/') }
  workspaceId = await newWorkspace(ctx.db)
  review = createRevocationReview(new AbortController().signal)
})
afterEach(async () => {
  await simulator[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const inside = <T>(work: (ctx: Pick<Context, 'db'>) => Promise<T>) => inWorkspace(ctx, workspaceId, work)

async function addCertificate(holder: string, issuer = simulator, { alone = false } = {}): Promise<number> {
  const company = await insertCompany(ctx.db, workspaceId, { cnpj: holder })
  const pfx = await issuer.issueCertificate({ cnpj: holder, nome: 'EMPRESA', senha: 'segredo', alone })
  const { certificate, chain, serialNumber, validFrom, validTo } = await readCertificate(pfx, 'segredo')
  const values = {
    workspace_id: workspaceId,
    company_id: company.id,
    holder_cnpj: holder,
    holder_name: 'EMPRESA',
    issuer: 'AC',
    serial_number: serialNumber,
    valid_from: validFrom,
    valid_to: validTo,
    certificate_pem: certificate,
    chain_pem: chain,
    key_encrypted: Buffer.alloc(1),
    key_id: 'key',
    uploaded_by: 1,
  }
  const row = await inside(({ db }) =>
    db.insertInto('certificate').values(values).returning('id').executeTakeFirstOrThrow(),
  )
  return row.id
}

const stateOf = (id: number) =>
  inside(({ db }) =>
    db
      .selectFrom('certificate')
      .select(['revocation_tried_at', 'revocation_checked_at', 'revoked_at', 'revocation_problem'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow(),
  )
const later = (interval: string) =>
  inside(({ db }) =>
    sql`update certificate set revocation_tried_at = (revocation_tried_at at time zone 'UTC' - ${interval}::interval) at time zone 'UTC'`.execute(
      db,
    ),
  )
const revoke = (holder: string) => order(simulator, 'revocations', { cnpj: holder })
const usable = () => inside(({ db }) => listCertificates({ db }, workspaceId, cnpj))
const owner = () => inside(({ db }) => findCertificateOwner({ db }, workspaceId, cnpj))

test('a certificate that was not revoked is looked up once a day', async () => {
  const id = await addCertificate(cnpj)
  await review(ctx, workspaceId)
  const first = await stateOf(id)
  expect(first).toEqual({
    revocation_tried_at: expect.any(Date),
    revocation_checked_at: first.revocation_tried_at,
    revoked_at: null,
    revocation_problem: null,
  })
  await later('22 hours')
  const before = await stateOf(id)
  await review(ctx, workspaceId)
  expect(await stateOf(id)).toEqual(before)
  await later('2 hours')
  await review(ctx, workspaceId)
  expect((await stateOf(id)).revocation_tried_at!.getTime()).toBeGreaterThan(first.revocation_tried_at!.getTime() - 1)
  expect(await usable()).toHaveLength(1)
})

test('a revoked one is used no more, and another of the same base takes its place', async () => {
  const id = await addCertificate(cnpj)
  await revoke(cnpj)
  await review(ctx, workspaceId)
  const { revoked_at, revocation_checked_at, revocation_problem } = await stateOf(id)
  expect(Math.abs(revoked_at!.getTime() - Date.now())).toBeLessThan(60_000)
  expect(revocation_checked_at).not.toBeNull()
  expect(revocation_problem).toBeNull()
  expect(await usable()).toEqual([])
  expect(await owner()).toMatchObject({ cnpj, valid: false })
  const other = await addCertificate(filial)
  expect(await usable()).toMatchObject([{ id: other }])
  expect(await owner()).toMatchObject({ cnpj: filial, valid: true })
})

test('many certificates of one authority need its lists once, in whatever workspace', async () => {
  await addCertificate(cnpj)
  await review(ctx, workspaceId)
  workspaceId = await newWorkspace(ctx.db)
  const id = await addCertificate(cnpj)
  await simulator[Symbol.asyncDispose]()
  await review(ctx, workspaceId)
  expect(await stateOf(id)).toMatchObject({ revocation_problem: null, revocation_checked_at: expect.any(Date) })
})

test('a list that cannot be reached is told, looked for again after an hour, and changes nothing that was known', async () => {
  const [id, fresh] = [await addCertificate(cnpj), await addCertificate(filial)]
  await revoke(cnpj)
  await review(ctx, workspaceId)
  const { revoked_at } = await stateOf(id)
  await later('1 day')
  await simulator[Symbol.asyncDispose]()
  review = createRevocationReview(new AbortController().signal)
  await review(ctx, workspaceId)
  const failed = await stateOf(id)
  expect(failed).toMatchObject({ revocation_problem: 'unreachable', revoked_at })
  expect(failed.revocation_checked_at!.getTime()).toBeLessThan(failed.revocation_tried_at!.getTime())
  expect(await stateOf(fresh)).toMatchObject({ revocation_problem: 'unreachable', revoked_at: null })
  expect(await usable()).toMatchObject([{ id: fresh }])
  await later('10 minutes')
  const before = await stateOf(id)
  await review(ctx, workspaceId)
  expect(await stateOf(id)).toEqual(before)
  await later('1 hour')
  await review(ctx, workspaceId)
  expect((await stateOf(id)).revocation_tried_at).not.toEqual(before.revocation_tried_at)
})

test('nobody is asked about a certificate of an authority that is not trusted, and people are told', async () => {
  await using foreign = await startAuthority(join(dataDir, 'foreign'))
  const id = await addCertificate(cnpj, foreign)
  await review(ctx, workspaceId)
  expect(await stateOf(id)).toMatchObject({ revocation_problem: 'unknown-authority', revocation_checked_at: null })
  expect(await usable()).toHaveLength(1)
})

test('a file without its intermediates is told as such', async () => {
  const id = await addCertificate(cnpj, simulator, { alone: true })
  await review(ctx, workspaceId)
  const { revocation_problem } = await stateOf(id)
  expect(revocationProblemText(revocation_problem!)).toMatch(/^o arquivo não traz as autoridades intermediárias/)
})

test('an authority elsewhere on this machine than the simulated one is not asked', async () => {
  const id = await addCertificate(cnpj)
  const { config } = ctx
  const moved = readConfig({ DATA_DIR: dataDir, SIMULATOR_PORT: '1' }, '/')
  await review(
    { ...ctx, config: { ...config, sefaz: { ...config.sefaz, endpoints: moved.sefaz.endpoints } } },
    workspaceId,
  )
  expect(await stateOf(id)).toMatchObject({ revocation_problem: 'unreachable' })
})
