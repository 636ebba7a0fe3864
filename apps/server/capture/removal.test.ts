import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { takeCertificate } from '../companies/certificates.ts'
import { withoutCertificate } from '../companies/companies.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import * as captures from './capture.ts'
import { findCertificate } from './certificate.ts'
import { claimLine } from './lease.ts'
import {
  addCertificate,
  call,
  changeLines,
  linesOf,
  newCompany,
  ours,
  pause,
  retireLines,
  useInstallation,
} from './testing.ts'

// A person takes the certificate of a company away.
const filial = '44555666000262'
const valid = '2090-01-01'
const use = { service: 'teste', purpose: 'teste' }
const { url, ctx } = await useInstallation()

beforeEach(() => retireLines(ctx))

type Company = Awaited<ReturnType<typeof newCompany>>

const inside = <T>({ workspaceId }: Company, work: (db: Context['db']) => Promise<T>) =>
  inWorkspace(ctx, workspaceId, ({ db }) => work(db))

const remove = async (company: Company, session = {}) =>
  (await call<{ message: string }>(ctx, 'remover-certificado', company, { session })).message

const give = (company: Company, { holder = ours, key = 'a', validTo = valid } = {}) =>
  addCertificate(ctx, company, { holder, key, validTo })

// The application cannot read sealed keys.
async function kept(company: Company) {
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  const { rows } = await owner.query<{ pem: string; key_id: string; sealed: string; current: boolean }>(
    `select certificate_pem as pem, key_id, encode(key_encrypted, 'hex') as sealed, replaced_at is null as current
       from certificate where workspace_id = $1 and company_id = $2 order by id`,
    [company.workspaceId, company.companyId],
  )
  await owner.end()
  return rows
}

interface Told {
  estado: string
  mensagem: string
}
const told = async (company: Company) =>
  (await call<{ data: { captura: Told[]; certificado: object | null } }>(ctx, 'obter-empresa', company)).data

const alone =
  /^Certificado removido e chave privada apagada\. Sem outro certificado válido da mesma raiz de CNPJ, nada mais/

describe('the certificate of a company', () => {
  test('stays on record without its key, and so do those before it', async () => {
    const company = await newCompany(ctx)
    await give(company, { key: 'old' })
    await inside(company, (db) => sql`update certificate set replaced_at = '2026-01-01'`.execute(db))
    await give(company, { key: 'new' })
    expect(await remove(company)).toMatch(alone)
    expect(await kept(company)).toEqual([
      { pem: 'certificate of old', current: false, sealed: '', key_id: '' },
      { pem: 'certificate of new', current: false, sealed: '', key_id: '' },
    ])
    const times = await inside(company, (db) =>
      sql<{ old: boolean }>`select replaced_at = '2026-01-01' as old from certificate order by id`.execute(db),
    )
    expect(times.rows).toEqual([{ old: true }, { old: false }])
  })

  test('is named in the audit by holder and validity', async () => {
    const company = await newCompany(ctx)
    await give(company, { validTo: '2077-03-09T12:00:00Z' })
    await remove(company)
    const entries = await inside(company, (db) =>
      db.selectFrom('audit').select(['action', 'actor', 'description']).execute(),
    )
    expect(entries).toEqual([
      {
        action: 'certificado',
        actor: 'Ana Souza',
        description:
          'Removeu o certificado digital de EMPRESA (44.555.666/0001-81), válido até 09/03/2077, da empresa EMPRESA (44.555.666/0001-81); a chave privada foi apagada.',
      },
    ])
  })

  test('is not removed from a shared account', async () => {
    const company = await newCompany(ctx)
    await give(company)
    await expect(remove(company, { shared: true })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Esta conta é compartilhada: .*Nada foi alterado\./),
    })
    expect(await kept(company)).toMatchObject([{ current: true, key_id: expect.stringMatching(/^\w{16}$/) }])
  })

  test('of the matriz is not removed at the filial; the refusal says whose it is', async () => {
    const matriz = await newCompany(ctx)
    await inside(matriz, (db) => sql`update company set name = 'MATRIZ LTDA'`.execute(db))
    const branch = await newCompany(ctx, { workspaceId: matriz.workspaceId, cnpj: filial })
    await give(matriz)
    await expect(remove(branch)).rejects.toMatchObject({
      code: 'conflict',
      message:
        'Esta empresa não tem um certificado próprio: usa o de MATRIZ LTDA (44.555.666/0001-81), que tem a mesma raiz de CNPJ. Nada foi alterado. Para removê-lo, abra a edição daquela empresa.',
    })
    expect(await kept(matriz)).toMatchObject([{ current: true }])
  })

  test('is removed once', async () => {
    const company = await newCompany(ctx)
    await give(company)
    await remove(company)
    await expect(remove(company)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Esta empresa não tem um certificado digital para remover\. Nada foi alterado\./),
    })
  })
})

describe('the captures', () => {
  test('stop at once and say what to do, and the button does too', async () => {
    const company = await newCompany(ctx)
    await give(company)
    await changeLines(ctx, "message = 'Em dia.', next_at = now() + interval '1 hour', wanted = true")
    await remove(company)
    for (const line of await linesOf(ctx))
      expect(line).toMatchObject({ state: 'stopped', next_at: null, wanted: false })
    expect(await told(company)).toMatchObject({
      certificado: null,
      captura: [
        { estado: 'parada', mensagem: withoutCertificate },
        { estado: 'parada', mensagem: withoutCertificate },
      ],
    })
    const response = await call(ctx, 'sincronizar', company)
    expect(response).toEqual({ data: { proximaConsulta: null }, message: withoutCertificate })
  })

  test('go on with a new certificate, and not before the authority allows it', async () => {
    const company = await newCompany(ctx)
    await give(company)
    await changeLines(ctx, "state = 'blocked', allowed_at = now() + interval '40 minutes', next_at = allowed_at")
    await remove(company)
    await give(company, { key: 'new' })
    await captures.resume(ctx, company.workspaceId, ours, { proved: true })
    for (const line of await linesOf(ctx)) {
      expect(line.state).toBe('waiting')
      expect(line.next_at).toEqual(line.allowed_at)
    }
  })

  test('go on with another certificate of the same base, which the response names', async () => {
    const company = await newCompany(ctx)
    const branch = await newCompany(ctx, { workspaceId: company.workspaceId, cnpj: filial })
    await inside(branch, (db) =>
      sql`update company set name = 'FILIAL LTDA' where id = ${branch.companyId}`.execute(db),
    )
    await give(company)
    await give(branch, { holder: filial, key: 'b', validTo: '2080-01-01' })
    await changeLines(ctx, "message = 'Em dia.', next_at = now() + interval '1 hour'")
    expect(await remove(company)).toBe(
      'Certificado removido e chave privada apagada. A captura continua com o certificado de FILIAL LTDA (44.555.666/0002-62), que tem a mesma raiz de CNPJ.',
    )
    for (const line of await linesOf(ctx)) expect(line).toMatchObject({ state: 'waiting', message: 'Em dia.' })
    expect(await told(company)).toMatchObject({ certificado: { cnpj: filial, deOutraEmpresa: true } })
  })

  test('stop when the other certificate of the base has ended', async () => {
    const company = await newCompany(ctx)
    const branch = await newCompany(ctx, { workspaceId: company.workspaceId, cnpj: filial })
    await give(company)
    await give(branch, { holder: filial, key: 'b', validTo: '2021-01-01' })
    expect(await remove(company)).toMatch(alone)
    for (const line of await linesOf(ctx)) expect(line.state).toBe('stopped')
  })

  test('that another workspace holds too go on with its certificate', async () => {
    const company = await newCompany(ctx)
    const other = await newCompany(ctx)
    await give(company)
    await give(other, { key: 'b' })
    await changeLines(ctx, "message = 'Em dia.', next_at = now() + interval '1 hour'")
    await remove(company)
    for (const line of await linesOf(ctx)) expect(line).toMatchObject({ state: 'waiting', message: 'Em dia.' })
    expect(await kept(other)).toMatchObject([{ current: true, key_id: expect.stringMatching(/^\w{16}$/) }])
  })

  test('under way end their turn, and those that the plan rests stay as they are', async () => {
    const company = await newCompany(ctx)
    await give(company)
    await changeLines(ctx, "message = 'Em dia.'")
    const line = (await claimLine(ctx))!
    await remove(company)
    const [held, free] = (await linesOf(ctx)).sort((one) => (one.id === line.id ? -1 : 1))
    expect(held).toMatchObject({ state: 'waiting', lease_by: line.leaseBy })
    expect(free).toMatchObject({ state: 'stopped' })

    const resting = await newCompany(ctx, { cnpj: '11222333000181' })
    await give(resting, { holder: '11222333000181' })
    await pause(ctx, resting.workspaceId)
    await remove(resting)
    for (const line of await linesOf(ctx, '11222333000181'))
      expect(line).toMatchObject({ state: 'waiting', paused: true })
  })

  test('no longer tell that the certificate was not accepted', async () => {
    const company = await newCompany(ctx)
    const branch = await newCompany(ctx, { workspaceId: company.workspaceId, cnpj: filial })
    await give(company)
    await give(branch, { holder: filial, key: 'b' })
    await changeLines(ctx, "message = 'Em dia.'")
    await inside(company, (db) => sql`update capture_subscription set refused = 'Foi revogado.'`.execute(db))
    await remove(company)
    expect((await told(company)).captura).toMatchObject([{ mensagem: 'Em dia.' }, { mensagem: 'Em dia.' }])
  })
})

test('a destroyed key is never opened, and the next certificate is used', async () => {
  const company = await newCompany(ctx)
  const branch = await newCompany(ctx, { workspaceId: company.workspaceId, cnpj: filial })
  const removed = await give(company)
  await give(branch, { holder: filial, key: 'b', validTo: '2080-01-01' })
  await remove(company)
  expect(await ctx.signer.open(company.workspaceId, removed, use)).toBeNull()
  const taken = await inside(company, (db) => takeCertificate({ ...ctx, db }, company.workspaceId, ours, use))
  expect(taken?.pem).toBe('certificate of b')
  const [line] = await linesOf(ctx)
  const holder = await findCertificate(ctx, { ...line!, service: 0 }, 'Consultar documentos')
  expect(holder?.certificate.pem).toBe('certificate of b')
  const uses = await inside(company, (db) =>
    db.selectFrom('certificate_use').select('certificate_id').where('certificate_id', '=', removed).execute(),
  )
  expect(uses).toEqual([])
})
