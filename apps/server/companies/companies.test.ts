import { randomBytes } from 'node:crypto'
import type { Certificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Context } from '../platform/context.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import type { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { testSigner } from '../platform/signer/testing.ts'
import { newWorkspace, testSession } from '../platform/testing.ts'
import { noteCertificateAnswer, takeCertificate } from './certificates.ts'
import { type CompanyChange, createCompany, getCompany, listCompanies, updateCompany } from './companies.ts'
import { readHiding } from './switches.ts'

const all = 0x7fff
const matriz = '12ABC34501DE35'
const filial = '12ABC345000269'
const stranger = '44555666000181'
const { url, ctx: context } = await useContext()
const { db, config } = context
const year = 365 * 86_400_000
let session: Session

beforeEach(async () => {
  session = await newSession()
})

async function newSession(): Promise<Session> {
  const workspaceId = await newWorkspace(db)
  return testSession(workspaceId, 7)
}

let serial = 0
function certificateOf(cnpj: string, change: Partial<Certificate> = {}): Certificate {
  serial++
  return {
    cnpj,
    name: `EMPRESA ${cnpj}`,
    uf: 'PR',
    issuer: 'AC Teste',
    serialNumber: String(serial),
    validFrom: new Date(Date.now() - year),
    validTo: new Date(Date.now() + year),
    key: `key ${serial}`,
    certificate: `certificate ${serial}`,
    chain: [],
    ...change,
  }
}

const inside = <T>(work: (ctx: Pick<Context, 'db' | 'signer' | 'config'>) => Promise<T>) =>
  inWorkspace(context, session.workspaceId, work)
const create = (certificate: Certificate, cnpj?: string) =>
  inside((ctx) => createCompany(ctx, session, certificate, cnpj))
const change = (id: number, fields: Partial<CompanyChange>, certificate?: Certificate) =>
  inside((ctx) =>
    updateCompany(ctx, session, id, { name: 'NOME', shown: { nfe: [], cte: [] }, ...fields }, certificate),
  )
const detail = (publicId: string) => getCompany({ db }, session.workspaceId, publicId)
const history = (companyId: number) =>
  inside(({ db }) =>
    sql<{ pem: string; current: boolean }>`
      select certificate_pem as pem, replaced_at is null as current from certificate where company_id = ${companyId} order by id`.execute(
      db,
    ),
  ).then(({ rows }) => rows)

describe('a new company', () => {
  test('is the one that the certificate names', async () => {
    const { publicId, cnpj } = await create(certificateOf(matriz))
    expect(cnpj).toBe(matriz)
    expect(await detail(publicId)).toMatchObject({
      name: `EMPRESA ${matriz}`,
      cnpj: matriz,
      uf: 41,
      email: null,
      automatic: true,
      acknowledges_since: null,
      shown: { nfe: all, cte: all },
    })
  })

  test('may be a filial, with the certificate of its matriz', async () => {
    const certificate = certificateOf(matriz)
    const { publicId } = await create(certificate, filial)
    expect(await detail(publicId)).toMatchObject({ cnpj: filial, name: `EMPRESA ${matriz}`, uf: 41 })
    const taken = await inside((ctx) =>
      takeCertificate(ctx, session.workspaceId, filial, { service: 'teste', purpose: 'teste' }),
    )
    expect(taken?.pem).toBe(certificate.certificate)
    const { rows } = await inside(({ db }) => sql`select holder_cnpj from certificate`.execute(db))
    expect(rows).toEqual([{ holder_cnpj: matriz }])
  })

  test('cannot be one with another base, and nothing is kept', async () => {
    await expect(create(certificateOf(matriz), stranger)).rejects.toMatchObject({
      code: 'invalid-input',
      message:
        'Este certificado é de outro CNPJ (12.ABC.345/01DE-35) e não serve para 44.555.666/0001-81: a raiz, os oito primeiros caracteres, é diferente. Nada foi guardado nem alterado. Envie o e-CNPJ da própria empresa ou o da matriz dela.',
    })
    expect(await listCompanies({ db }, session.workspaceId, undefined)).toEqual([])
  })

  test('is registered once', async () => {
    await create(certificateOf(matriz))
    await expect(create(certificateOf(matriz))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^A empresa 12\.ABC\.345\/01DE-35 já está cadastrada\. Nada foi alterado\. Para trocar/,
      ),
    })
    await inWorkspace({ db }, session.workspaceId, ({ db }) =>
      db.updateTable('company').set({ archived_at: new Date() }).execute(),
    )
    await expect(create(certificateOf(matriz))).rejects.toThrow(/está arquivada\. Nada foi alterado\. Reative-a/)
  })
})

test('a company is found by its name and its CNPJ however they are written, and by no sign', async () => {
  const { id } = await create(certificateOf(matriz))
  await change(id, { name: 'Pão & Açaí Comércio Ltda' })
  const found = async (text: string) => (await listCompanies({ db }, session.workspaceId, text)).length
  for (const text of ['Pão & Açaí Comércio Ltda', 'Açaí', 'pao & acai comercio', 'AÇAÍ COMÉRCIO', ''])
    expect(await found(text), text).toBe(1)
  for (const text of [matriz, matriz.toLowerCase(), '12.ABC.345/01DE-35', '12.ABC.345', '12ABC345'])
    expect(await found(text), text).toBe(1)
  for (const text of ['Sorveteria', '99ABC345', '%', '_', '*', "'", '\\', '()']) expect(await found(text), text).toBe(0)
})

describe('a change', () => {
  test('keeps what it does not name', async () => {
    const { id, publicId } = await create(certificateOf(matriz))
    await change(id, {
      name: 'Água & Cia',
      email: 'fiscal@exemplo.com.br',
      uf: 33,
      automatic: false,
      acknowledges: true,
      shown: { nfe: [[1, false]], cte: [[7, false]] },
    })
    const before = await detail(publicId)
    expect(before).toMatchObject({ name: 'Água & Cia', email: 'fiscal@exemplo.com.br', uf: 33, automatic: false })
    await change(id, { name: 'OUTRO NOME' })
    expect(await detail(publicId)).toEqual({ ...before, name: 'OUTRO NOME' })
    expect(await listCompanies({ db }, session.workspaceId, 'outro nome')).toHaveLength(1)
    await change(id, { email: null })
    expect(await detail(publicId)).toMatchObject({ email: null })
  })

  test.each([
    ['nfe', 0, all - 1],
    ['nfe', 2, all - 4],
    // Also what no switch names: shown as Terceiro.
    ['nfe', 3, 1 + 2 + 4],
    ['cte', 3, 1 + 2 + 16 + 32 + 64 + 128],
    ['cte', 6, all - 64],
  ] as const)(
    'the %s switch of role %i turned off leaves the roles %i, and on again all',
    async (family, role, roles) => {
      const { id, publicId } = await create(certificateOf(matriz))
      const turn = (on: boolean) => change(id, { shown: { nfe: [], cte: [], [family]: [[role, on]] } })
      await turn(false)
      await turn(false)
      const type = family === 'nfe' ? 0 : 2
      expect(await inside((ctx) => readHiding(ctx, session.workspaceId))).toEqual([{ type, roles, companyIds: [id] }])
      await turn(true)
      expect(await detail(publicId)).toMatchObject({ shown: { nfe: all, cte: all } })
      expect(await inside((ctx) => readHiding(ctx, session.workspaceId))).toEqual([])
    },
  )

  test('ciência is given from the moment it was wanted, by who wanted it first', async () => {
    const { id } = await create(certificateOf(matriz))
    const consent = async () =>
      (
        await inside(({ db }) =>
          sql<{
            since: Date | null
            by: number | null
          }>`select acknowledges_since as since, acknowledges_by as by from company`.execute(db),
        )
      ).rows[0]!
    await change(id, { acknowledges: true })
    const first = await consent()
    expect(first).toEqual({ since: expect.any(Date), by: 7 })
    session = { ...session, accountId: 8 }
    await change(id, { acknowledges: true })
    expect(await consent()).toEqual(first)
    await change(id, { acknowledges: false })
    expect(await consent()).toEqual({ since: null, by: null })
    await change(id, { acknowledges: true })
    expect(await consent()).toEqual({ since: expect.any(Date), by: 8 })
  })
})

describe('a new certificate', () => {
  test('replaces the current one, which stays in the history', async () => {
    const [old, renewed] = [certificateOf(matriz), certificateOf(filial)]
    const { id } = await create(old)
    await change(id, {}, renewed)
    expect(await history(id)).toEqual([
      { pem: old.certificate, current: false },
      { pem: renewed.certificate, current: true },
    ])
    const taken = await inside((ctx) =>
      takeCertificate(ctx, session.workspaceId, matriz, { service: 'teste', purpose: 'teste' }),
    )
    expect(taken?.pem).toBe(renewed.certificate)
  })

  test('of another base is refused, and nothing is changed', async () => {
    const { id, publicId } = await create(certificateOf(matriz))
    const before = await detail(publicId)
    await expect(change(id, { name: 'OUTRO' }, certificateOf(stranger))).rejects.toThrow(
      /^Este certificado é de outro CNPJ \(44\.555\.666\/0001-81\) e não serve para 12\.ABC\.345\/01DE-35/,
    )
    expect(await detail(publicId)).toEqual(before)
    expect(await history(id)).toHaveLength(1)
  })

  test('that is the current one is told, and nothing is changed', async () => {
    const certificate = certificateOf(matriz, { validTo: new Date('2077-03-09T12:00:00-03:00') })
    const { id, publicId } = await create(certificate)
    const before = await detail(publicId)
    await expect(change(id, { name: 'OUTRO' }, certificate)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /já é o que está cadastrado nesta empresa, válido até 09\/03\/2077\. Nada foi alterado/,
      ),
    })
    expect(await detail(publicId)).toEqual(before)
    expect(await history(id)).toEqual([{ pem: certificate.certificate, current: true }])
  })

  test('of the matriz is also the validity of its filiais', async () => {
    const soon = new Date(Date.now() + 86_400_000)
    const { id } = await create(certificateOf(matriz, { validTo: soon }))
    const { publicId } = await create(certificateOf(matriz, { validTo: soon }), filial)
    expect((await detail(publicId)).valid_to).toEqual(soon)
    const renewed = certificateOf(matriz)
    await change(id, {}, renewed)
    expect((await detail(publicId)).valid_to).toEqual(renewed.validTo)
  })

  test('that is valid longest hides no other one, once the authority has refused it', async () => {
    const good = certificateOf(matriz, { validTo: new Date(Date.now() + year / 2) })
    const revoked = certificateOf(matriz)
    await create(revoked)
    const { publicId } = await create(good, filial)
    const take = () =>
      inside((ctx) => takeCertificate(ctx, session.workspaceId, matriz, { service: 'teste', purpose: 'teste' }))
    const first = await take()
    expect(first?.pem).toBe(revoked.certificate)
    await noteCertificateAnswer({ db }, session.workspaceId, first!.id, 'refused')
    expect((await take())?.pem).toBe(good.certificate)
    expect((await detail(publicId)).valid_to).toEqual(good.validTo)
    await inside(({ db }) =>
      sql`update certificate set refused_at = now() - interval '25 hours' where refused_at is not null`.execute(db),
    )
    expect((await take())?.pem).toBe(revoked.certificate)
    await noteCertificateAnswer({ db }, session.workspaceId, first!.id, 'refused')
    await noteCertificateAnswer({ db }, session.workspaceId, first!.id, 'accepted')
    expect((await take())?.pem).toBe(revoked.certificate)
  })

  test('cannot be sealed by a program that was left open while the master key changed', async () => {
    await create(certificateOf(matriz))
    const stale = { db, config, signer: testSigner(url, { masterKey: randomBytes(32) }) }
    const upload = inWorkspace(stale, session.workspaceId, (ctx) =>
      createCompany(ctx, session, certificateOf(stranger)),
    )
    await expect(upload).rejects.toThrow(/^As chaves dos certificados não podem ser usadas agora/)
    expect(await listCompanies({ db }, session.workspaceId, undefined)).toHaveLength(1)
  })
})

describe('the plan', () => {
  const cnpjs = [matriz, stranger, '11222333000181']

  test('has room for so many companies, also when two come at once; what is refused leaves nothing', async () => {
    session = testSession(await newWorkspace(db, { plan: 1 }), 7)
    const results = await Promise.allSettled(cnpjs.map((cnpj) => create(certificateOf(cnpj))))
    const refused = results.filter((result) => result.status === 'rejected').map((result) => result.reason as AppError)
    expect(refused.map(({ code, message }) => ({ code, message }))).toEqual(
      Array.from({ length: 2 }, () => ({
        code: 'plan-limit',
        message: expect.stringMatching(/^O plano Básico permite 1 empresa, .*Nada foi alterado.*mude de plano: .+\.$/),
      })),
    )
    const [company] = await listCompanies({ db }, session.workspaceId, undefined)
    expect(await listCompanies({ db }, session.workspaceId, undefined)).toHaveLength(1)
    const certificates = await inside(({ db }) => db.selectFrom('certificate').select('id').execute())
    expect(certificates).toHaveLength(1)
    // Registered already says more than that there is no room.
    await expect(create(certificateOf(company!.cnpj))).rejects.toThrow(/já está cadastrada/)
  })

  test('or trial must last; a new certificate is taken all the same', async () => {
    const { id } = await create(certificateOf(matriz))
    await inside(({ db }) =>
      db
        .updateTable('workspace')
        .set({ trial_until: new Date(0) })
        .execute(),
    )
    await expect(create(certificateOf(stranger))).rejects.toMatchObject({
      code: 'plan-limit',
      message: expect.stringMatching(
        /^O período de teste terminou em 31\/12\/1969, .*Nada foi alterado.*Para ativar um plano, /,
      ),
    })
    const renewed = certificateOf(matriz)
    await change(id, {}, renewed)
  })
})

test('without an active plan there is room for a thousand certificates, with those that were replaced', async () => {
  const { id } = await create(certificateOf(matriz))
  await inside(({ db }) =>
    sql`
      insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to, certificate_pem,
                               chain_pem, key_encrypted, key_id, uploaded_by, replaced_at)
      select c.workspace_id, c.company_id, c.holder_cnpj, c.holder_name, c.issuer, n::text, c.valid_from, c.valid_to, n::text,
             c.chain_pem, '', '', c.uploaded_by, now()
        from certificate c, generate_series(2, 1000) n where c.company_id = ${id} returning id`.execute(db),
  )
  await expect(change(id, {}, certificateOf(matriz))).rejects.toThrow(
    /^Sem um plano ativo cabem 1\.000 certificados, .* os que estão aqui continuam em uso\./,
  )
  await inside(({ db }) =>
    db
      .updateTable('workspace')
      .set({ paid_from: new Date(0) })
      .execute(),
  )
  await change(id, {}, certificateOf(matriz))
})
