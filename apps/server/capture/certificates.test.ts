import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newCertificate } from '../../../tests/support/certificates.ts'
import { noneAccepted, noteCertificateAnswer } from '../companies/certificates.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { authorityFile, testSigner } from '../platform/signer/testing.ts'
import { requestSync, resume } from './capture.ts'
import { findCertificate } from './certificate.ts'
import { noCertificate } from './decide.ts'
import { type CaptureLine, claimLine } from './lease.ts'
import * as testing from './testing.ts'
import { addCertificate, newCompany, ours, retireLines, type TestContext, useInstallation } from './testing.ts'
import { runTurn } from './turn.ts'

// Reaction of the authority to each certificate, by the name in it.
type Reaction = number | 'forbidden' | 'reset' | 'page' | 'redirect'
type Scene = (name: string) => Reaction | Promise<Reaction>

const names = ['real', 'other'] as const
const certificates = Object.fromEntries(names.map((name) => [name, newCertificate(name)]))
const identity = newCertificate('localhost')
const stop = new AbortController().signal
const { url: databaseUrl, ctx: opened } = await useInstallation()
let ctx: TestContext
let authority: Server
let scene: Scene
let asked: string[]

beforeAll(async () => {
  // It looks at the certificates by itself, as the authority's hosts do.
  authority = createServer(
    { key: identity.key, cert: identity.pem, requestCert: true, rejectUnauthorized: false },
    (request, response) => void react(request, response),
  )
  await new Promise<void>((resolve) => authority.listen(0, resolve))
  const url = `https://localhost:${(authority.address() as AddressInfo).port}/dist`
  const { sefaz } = opened.config
  const endpoints = { ...sefaz.endpoints, distribution: { nfe: url, cte: url } }
  const caFiles = [await authorityFile(identity.pem)]
  const config = { ...opened.config, sefaz: { ...sefaz, endpoints, caFiles, pagePauseMs: 20 } }
  ctx = { ...opened, config, signer: testSigner(databaseUrl, { config }) }
})
afterAll(() => {
  authority.closeAllConnections()
  authority.close()
})
beforeEach(async () => {
  await retireLines(ctx)
  asked = []
  scene = () => 137
})

async function react(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!(request.socket instanceof TLSSocket)) throw new Error('TLS only')
  const name = String(request.socket.getPeerCertificate().subject.CN)
  asked.push(name)
  for await (const _ of request);
  const reaction = await scene(name)
  if (reaction === 'reset') request.socket.destroy()
  else if (reaction === 'forbidden') response.writeHead(403).end('<html/>')
  else if (reaction === 'redirect') response.writeHead(302, { location: '/' }).end()
  else response.end(reaction === 'page' ? '<html>Access denied</html>' : answer(reaction))
}

function answer(cStat: number): string {
  const text = `<cStat>${cStat}</cStat><xMotivo>motivo</xMotivo><ultNSU>${'0'.repeat(15)}</ultNSU><maxNSU>${'0'.repeat(15)}</maxNSU>`
  return `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><r><retDistDFeInt xmlns="http://www.portalfiscal.inf.br/nfe">${text}</retDistDFeInt></r></s:Body></s:Envelope>`
}

type Company = Awaited<ReturnType<typeof newCompany>>

async function owner(name: (typeof names)[number], { proved = true, validTo = '2090-01-01' } = {}) {
  const company = await newCompany(ctx, { proved })
  const certificateId = await give(company, name, validTo)
  return { ...company, certificateId }
}

const give = (company: Company, name: (typeof names)[number], validTo = '2090-01-01', of = ctx) =>
  addCertificate(of, company, { holder: ours, key: certificates[name]!.key, pem: certificates[name]!.pem, validTo })

// The NF-e line, one of the two lines of the company.
async function due(): Promise<CaptureLine> {
  const lines = [await claimLine(ctx), await claimLine(ctx)]
  await inCapture(ctx, ({ db }) =>
    sql`update capture_line set next_at = null, lease_until = null where service = 2`.execute(db),
  )
  return lines.find((line) => line?.service === 0)!
}

async function again(line: CaptureLine): Promise<CaptureLine> {
  await inCapture(ctx, ({ db }) =>
    sql`update capture_line set next_at = now(), allowed_at = now() where id = ${line.id}`.execute(db),
  )
  return (await claimLine(ctx))!
}

const run = (line: CaptureLine, signal = stop) => runTurn(ctx, line, signal)

const rowOf = (line: CaptureLine) => testing.rowOf(ctx, line)

const subscriptionOf = (line: CaptureLine, { workspaceId }: Company) =>
  inCapture(ctx, ({ db }) =>
    db
      .selectFrom('capture_subscription')
      .select(['refused', sql<boolean>`proved_at is not null`.as('proved')])
      .where('line_id', '=', line.id)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow(),
  )

describe('a certificate of one workspace that is not accepted', () => {
  test.each([284, 'forbidden'] as const)('makes way for that of another, proved or not: %s', async (reaction) => {
    const refused = await owner('other', { validTo: '2099-01-01' })
    const good = await owner('real')
    scene = (name) => (name === 'other' ? reaction : 137)
    const line = await due()
    await run(line)
    expect(asked).toEqual(['other', 'real'])
    expect(await rowOf(line)).toMatchObject({ state: 'waiting', message: expect.stringMatching(/^Em dia/) })
    expect(await subscriptionOf(line, good)).toMatchObject({ refused: null })
    expect((await subscriptionOf(line, refused)).refused).toEqual(expect.stringMatching(/certificado/))
    await run(await again(line))
    expect(asked).toEqual(['other', 'real', 'real'])
  })

  test.each(['reset', 'page', 'redirect'] as const)(
    'without a word (%s) is not asked with first again',
    async (reaction) => {
      await owner('real')
      const stranger = await owner('other', { proved: false })
      scene = (name) => (name === 'other' ? reaction : 137)
      const line = await due()
      await run(line)
      const circuits = await inCapture(ctx, ({ db }) => db.selectFrom('circuit').select('failures').execute())
      expect(circuits.filter(({ failures }) => failures > 0)).toEqual([])
      for (let turn = 2; turn <= 5; turn++) await run(await again(line))
      expect(asked).toEqual(['other', 'real', 'real', 'real', 'real'])
      expect(await subscriptionOf(line, stranger)).toEqual({ refused: null, proved: false })
    },
  )

  test('is the last choice for other lines too', async () => {
    const good = await owner('real')
    const stranger = await owner('other', { proved: false, validTo: '2099-01-01' })
    const line = await due()
    const find = () => findCertificate(ctx, line, 'Consultar documentos')
    expect(await find()).toMatchObject({ companyId: stranger.companyId })
    await noteCertificateAnswer(ctx, stranger.workspaceId, stranger.certificateId, 'refused')
    expect(await find()).toMatchObject({ companyId: good.companyId })
  })

  test('leaves nothing stopped when the process ends right then', async () => {
    await owner('real')
    await owner('other', { proved: false })
    const end = new AbortController()
    scene = (name) => {
      if (name === 'real') return 137
      end.abort()
      return 593
    }
    const line = await due()
    await run(line, end.signal)
    expect(asked).toEqual(['other'])
    expect(await rowOf(line)).toMatchObject({
      state: 'waiting',
      message: expect.stringMatching(/^A primeira/),
      failures: 0,
    })
    expect((await rowOf(line)).nextIn).toBeLessThan(1)
    await run(await again(line))
    expect(asked).toEqual(['other', 'real'])
  })

  test('stops the line only when it is the last, shows its reason to its owner only, and not for ever', async () => {
    const [first, second] = [await owner('real'), await owner('other')]
    scene = (name) => (name === 'real' ? 284 : 280)
    const line = await due()
    await run(line)
    expect([...asked].sort()).toEqual(['other', 'real'])
    const row = await rowOf(line)
    expect(row).toMatchObject({ state: 'stopped', message: noneAccepted })
    expect(row.nextIn / 60).toBeCloseTo(24, 0)
    expect((await subscriptionOf(line, first)).refused).toMatch(/revogado/)
    expect((await subscriptionOf(line, second)).refused).toMatch(/não aceitou o certificado/)
    // Both certificates rest: no query leaves.
    await run(await again(line))
    expect(asked).toHaveLength(2)
    expect(await rowOf(line)).toMatchObject({ state: 'stopped', message: noneAccepted })
    expect((await rowOf(line)).nextIn / 60).toBeCloseTo(24, 0)
  })

  test('that is not proved and was turned away for a moment is retried within the hour', async () => {
    const company = await owner('real', { proved: false })
    scene = () => 'forbidden'
    const line = await due()
    await run(line)
    expect(await rowOf(line)).toMatchObject({ state: 'failed', message: noneAccepted })
    expect((await rowOf(line)).nextIn).toBeGreaterThan(25)
    expect((await rowOf(line)).nextIn).toBeLessThan(75)
    await inCapture(ctx, ({ db }) => sql`update capture_refusal set rests_until = now()`.execute(db))
    scene = () => 137
    await run(await again(line))
    expect(await rowOf(line)).toMatchObject({ state: 'waiting' })
    expect(await subscriptionOf(line, company)).toEqual({ refused: null, proved: true })
  })

  test('takes a renewed one of its own company with it that arrives meanwhile', async () => {
    const company = await owner('real')
    scene = async (name) => {
      if (name === 'other') return 137
      await inWorkspace(ctx, company.workspaceId, async (ctx) => {
        await sql`update certificate set replaced_at = now() where workspace_id = ${company.workspaceId}`.execute(
          ctx.db,
        )
        await give(company, 'other', '2090-01-01', ctx)
        await resume(ctx, company.workspaceId, ours, { proved: true })
      })
      return 284
    }
    const line = await due()
    await run(line)
    expect(asked).toEqual(['real', 'other'])
    expect(await rowOf(line)).toMatchObject({ state: 'waiting', message: expect.stringMatching(/^Em dia/) })
  })
})

describe('a certificate that rests', () => {
  const wish = async (company: Company) => {
    await inCapture(ctx, ({ db }) => sql`update capture_line set allowed_at = now() where cnpj = ${ours}`.execute(db))
    for (const line of await requestSync(ctx, company.workspaceId, company.companyId))
      expect(line).toMatchObject({ allowed: true })
    return due()
  }

  test('is used once when a person requests a query and all others rest', async () => {
    const company = await owner('real')
    scene = () => 284
    const line = await due()
    await run(line)
    await run(await again(line))
    expect(asked).toHaveLength(1)
    await run(await wish(company))
    expect(asked).toHaveLength(2)
    expect(await rowOf(line)).toMatchObject({ state: 'stopped', wanted: false })
    scene = () => 137
    await run(await wish(company))
    expect(asked).toHaveLength(3)
    expect(await rowOf(line)).toMatchObject({ state: 'waiting', wanted: false })
    expect((await subscriptionOf(line, company)).refused).toBeNull()
  })

  test('and does not open is not tried for ever after a request', async () => {
    const company = await newCompany(ctx)
    await addCertificate(ctx, company, { holder: ours, key: 'nothing', validTo: '2098-01-01' })
    await inWorkspace(ctx, company.workspaceId, ({ db }) =>
      sql`update certificate set key_encrypted = decode('00', 'hex') where workspace_id = ${company.workspaceId}`.execute(
        db,
      ),
    )
    const line = await wish(company)
    await run(line)
    await run(await wish(company))
    expect(asked).toEqual([])
    expect(await rowOf(line)).toMatchObject({ state: 'stopped', wanted: false })
  })
})

const aDayLater = () =>
  inCapture(ctx, ({ db }) =>
    sql`update capture_refusal set at = at - interval '25 hours', rests_until = rests_until - interval '25 hours'`.execute(
      db,
    ),
  )

test.each(['real', 'other'] as const)('the refusal of a certificate ends when %s is accepted later', async (name) => {
  const company = await owner('real')
  scene = () => 284
  const line = await due()
  await run(line)
  expect((await subscriptionOf(line, company)).refused).toMatch(/revogado/)
  if (name === 'real') await aDayLater()
  else {
    await inWorkspace(ctx, company.workspaceId, ({ db }) =>
      sql`update certificate set replaced_at = now() where workspace_id = ${company.workspaceId}`.execute(db),
    )
    await give(company, 'other')
  }
  scene = () => 137
  await run(await again(line))
  expect(asked).toEqual(['real', name])
  expect((await subscriptionOf(line, company)).refused).toBeNull()
})

test('of many unproved certificates one at most costs the line an hour in a day, and each has its turn', async () => {
  const real = await owner('real')
  const strangers = [await owner('other', { proved: false }), await owner('other', { proved: false })]
  const reactions: Reaction[] = ['reset', 'reset', 137]
  scene = () => reactions.shift() ?? 137
  const line = await due()
  const first = await findCertificate(ctx, line, 'Consultar documentos')
  await run(line)
  for (let turn = 2; turn <= 4; turn++) await run(await again(line))
  expect(asked).toEqual(['other', 'real', 'real', 'real'])
  await aDayLater()
  const next = await findCertificate(ctx, line, 'Consultar documentos')
  const companyIds = [first, next].map((holder) => holder?.companyId)
  expect(companyIds.toSorted()).toEqual(strangers.map(({ companyId }) => companyId).toSorted())
  expect(companyIds).not.toContain(real.companyId)
})

test('a line without a certificate stops until one is uploaded', async () => {
  const company = await newCompany(ctx)
  const line = await due()
  await run(line)
  expect(await rowOf(line)).toMatchObject({ state: 'stopped', message: noCertificate })
  expect((await rowOf(line)).nextIn).toBeCloseTo(60, 0)
  await give(company, 'real')
  await run(await again(line))
  expect(await rowOf(line)).toMatchObject({ state: 'waiting' })
})

test('a key that does not open, and one that is no key, make way for another', async () => {
  const [sealed, broken] = [await owner('other', { validTo: '2099-01-01' }), await newCompany(ctx)]
  await addCertificate(ctx, broken, { holder: ours, key: 'nothing', validTo: '2098-01-01' })
  await owner('real')
  await inWorkspace(ctx, sealed.workspaceId, ({ db }) =>
    sql`update certificate set key_encrypted = decode('00', 'hex') where workspace_id = ${sealed.workspaceId}`.execute(
      db,
    ),
  )
  const line = await due()
  await run(line)
  expect(asked).toEqual(['real'])
  expect(await rowOf(line)).toMatchObject({ state: 'waiting' })
  for (const company of [sealed, broken])
    expect((await subscriptionOf(line, company)).refused).toMatch(/não pôde ser aberto/)
})

test('gaps are queried with a proved certificate when there is one', async () => {
  const stranger = await owner('other', { proved: false })
  const line = await due()
  const purpose = 'Buscar documentos que faltam'
  expect(await findCertificate(ctx, line, purpose)).toMatchObject({ companyId: stranger.companyId })
  const real = await owner('real')
  expect(await findCertificate(ctx, line, purpose)).toMatchObject({ companyId: real.companyId })
  expect(await findCertificate(ctx, line, 'Consultar documentos')).toMatchObject({
    companyId: stranger.companyId,
  })
})

test('a workspace without a proved certificate does not learn when others query, nor that they are blocked', async () => {
  const real = await owner('real')
  const stranger = await owner('other', { proved: false })
  await inCapture(ctx, ({ db }) =>
    sql`update capture_line set state = 'blocked', allowed_at = now() + interval '1 hour' where cnpj = ${ours}`.execute(
      db,
    ),
  )
  for (const line of await requestSync(ctx, stranger.workspaceId, stranger.companyId))
    expect(line).toMatchObject({ at: null, allowed: false, blocked: false })
  for (const line of await requestSync(ctx, real.workspaceId, real.companyId))
    expect(line).toMatchObject({ at: expect.any(Date), allowed: false, blocked: true })
})
