import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { companyAnnouncements } from '../companies/announcements.ts'
import { listCompanies } from '../companies/companies.ts'
import { toldOf } from '../companies/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { asOperator, inCapture, inWorkspace } from '../platform/database.ts'
import { insertAccount, insertCompany, newWorkspace } from '../platform/testing.ts'
import { certificateMails, warnOfCertificates } from './certificate-warnings.ts'

const matriz = '12ABC34501DE35'
const filial = '12ABC345000269'
const stranger = '44555666000181'
const { ctx } = await useContext({ PUBLIC_URL: 'https://app.vigia.example' })

async function newMember(): Promise<number> {
  const workspaceId = await newWorkspace(ctx.db)
  await insertAccount(ctx.db, workspaceId)
  return workspaceId
}

/** A company with a proved certificate that ends in so many days. */
async function companyWithCertificate(
  workspaceId: number,
  cnpj: string,
  days: number,
  name = `EMPRESA ${cnpj}`,
): Promise<number> {
  const { id } = await insertCompany(ctx.db, workspaceId, { cnpj, name })
  await renew(workspaceId, id, cnpj, days)
  await subscribe(workspaceId, id, cnpj, { proved: true })
  return id
}

async function subscribe(workspaceId: number, companyId: number, cnpj: string, { proved }: { proved: boolean }) {
  await inCapture(ctx, ({ db }) =>
    sql`with line as (
          insert into capture_line (service, cnpj) values (0, ${cnpj})
          on conflict (service, cnpj) do update set cnpj = excluded.cnpj returning id)
        insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
        select id, ${workspaceId}, ${companyId}, case when ${proved} then now() end from line`.execute(db),
  )
}

async function renew(workspaceId: number, companyId: number, cnpj: string, days: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await sql`update certificate set replaced_at = now() where company_id = ${companyId} and replaced_at is null`.execute(
      db,
    )
    await db
      .insertInto('certificate')
      .values({
        workspace_id: workspaceId,
        company_id: companyId,
        holder_cnpj: cnpj,
        holder_name: 'x',
        issuer: 'AC Teste',
        serial_number: '1',
        valid_from: sql<Date>`now() - interval '400 days'`,
        valid_to: daysFromNow(days),
        certificate_pem: '-',
        chain_pem: [],
        key_encrypted: Buffer.alloc(1),
        key_id: 'key',
        uploaded_by: 1,
      })
      .execute()
  })
}

const daysFromNow = (days: number) => sql<Date>`now() + ${days}::float8 * interval '1 day'`
const moveTo = (workspaceId: number, days: number) =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update certificate set valid_to = ${daysFromNow(days)} where replaced_at is null`.execute(db),
  )
const review = (workspaceId: number) => warnOfCertificates(ctx, workspaceId)
const mails = (workspaceId: number) =>
  asOperator(ctx, ({ db }) =>
    db
      .selectFrom('mail')
      .select(['id', 'kind', 'recipient', 'payload', 'workspace_id as workspaceId', 'useless_at'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('id')
      .execute(),
  )
const letters = async (workspaceId: number) =>
  Promise.all((await mails(workspaceId)).map((mail) => certificateMails[mail.kind]!(ctx, mail)))
const subjects = async (workspaceId: number) => (await letters(workspaceId)).map((letter) => letter?.subject ?? null)

test('nobody is told of a certificate that nothing has proved: who made it up has invented the name too', async () => {
  const office = await newMember()
  const { id } = await insertCompany(ctx.db, office, { cnpj: matriz, name: 'GANHE UM PRÊMIO EM GOLPE.EXAMPLE' })
  await renew(office, id, matriz, 5)
  await subscribe(office, id, matriz, { proved: false })
  await review(office)
  expect(await mails(office)).toEqual([])
  expect(await toldOf(ctx, companyAnnouncements, office, 'certificado-vence')).toEqual([])
})

test('no letter goes to an e-mail that nobody confirmed, where letters leave', async () => {
  const office = await newMember()
  await companyWithCertificate(office, matriz, 5)
  const mailing = { ...ctx, config: { ...ctx.config, mail: { ...ctx.config.mail, smtpUrl: 'smtp://127.0.0.1:1' } } }
  await warnOfCertificates(mailing, office)
  expect(await mails(office)).toEqual([])
  await inWorkspace(ctx, office, ({ db }) => sql`update account set email_proved_at = now()`.execute(db))
  await warnOfCertificates(mailing, office)
  expect(await mails(office)).toHaveLength(1)
})

test('open pages are told of it with the letter, once', async () => {
  const office = await newMember()
  await companyWithCertificate(office, matriz, 6.5, 'PADARIA SOL LTDA')
  await review(office)
  await review(office)
  const told = () => toldOf(ctx, companyAnnouncements, office, 'certificado-vence')
  expect(await told()).toEqual([
    {
      kind: 'alert',
      header: 'Certificado digital perto de vencer',
      body: expect.stringMatching(
        /^O certificado de PADARIA SOL LTDA vence em \d dias\. .* envie o arquivo novo na página da empresa\.$/,
      ),
    },
  ])
  await moveTo(office, -0.1)
  await review(office)
  expect(await told()).toMatchObject([{ kind: 'error', header: 'Certificado digital vencido' }])
  expect(await told()).toEqual([])
})

test('only the most urgent step is told, and it says what will happen and what to do', async () => {
  const office = await newMember()
  await companyWithCertificate(office, matriz, 6.5, 'PADARIA SOL LTDA')
  await review(office)
  const [letter, ...others] = await letters(office)
  expect(others).toEqual([])
  expect(letter?.subject).toMatch(/^Certificado digital vence em [67] dias: CNPJ 12\.ABC\.345\/01DE-35$/)
  const text = letter?.paragraphs.join('\n') ?? ''
  for (const part of ['12.ABC.345/01DE-35', 'horário de Brasília', 'cerca de 90 dias', '.pfx'])
    expect(text).toContain(part)
  const [company] = await listCompanies(ctx, office, undefined)
  expect(letter?.button?.url).toBe(`https://app.vigia.example/empresas/editar/${company?.public_id}`)
  // Until the step of the last day says it better.
  const [mail] = await mails(office)
  const daysLeft = (mail!.useless_at!.getTime() - Date.now()) / 86_400_000
  expect(daysLeft).toBeGreaterThan(5.4)
  expect(daysLeft).toBeLessThan(5.6)
})

test('an expired certificate is told with what no longer works', async () => {
  const office = await newMember()
  await companyWithCertificate(office, matriz, -3, 'PADARIA SOL LTDA')
  await review(office)
  const [letter] = await letters(office)
  expect(letter?.subject).toBe('Certificado digital vencido: CNPJ 12.ABC.345/01DE-35')
  expect(letter?.paragraphs[0]).toMatch(/venceu em \d\d\/\d\d\/\d{4} \d\d:\d\d/)
  expect(letter?.paragraphs[1]).toMatch(
    /cerca de 90 dias e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos: com um certificado novo antes disso,/,
  )
  expect(letter?.footnote).toMatch(/^Você recebe este e-mail porque tem uma conta no Vigia Fiscal\. Avisamos/)
  expect((await mails(office))[0]?.useless_at).toBeNull()
})

test('a new certificate begins anew, and what waits about the old one is not said any more', async () => {
  const office = await newMember()
  const id = await companyWithCertificate(office, matriz, 5)
  await review(office)
  await renew(office, id, matriz, 365)
  expect(await subjects(office)).toEqual([null])
  await review(office)
  expect(await mails(office)).toHaveLength(1)
  await moveTo(office, 6)
  await review(office)
  expect(await mails(office)).toHaveLength(2)
  expect((await subjects(office))[1]).toContain('vence em')
})

test('companies are told apart, unless one certificate serves them', async () => {
  const office = await newMember()
  await companyWithCertificate(office, filial, 3, 'FILIAL')
  await companyWithCertificate(office, matriz, 12, 'MATRIZ')
  await companyWithCertificate(office, stranger, 25, 'OUTRA')
  await review(office)
  expect((await subjects(office)).sort()).toEqual([
    expect.stringMatching(/^Certificado digital vence em 1[123] dias: CNPJ 12\.ABC\.345\/01DE-35 e mais 1 empresa$/),
    expect.stringMatching(/^Certificado digital vence em 2[456] dias: CNPJ 44\.555\.666\/0001-81$/),
  ])
})

test('the certificate that counts is the one that the list of companies shows', async () => {
  const days = fc.integer({ min: -40, max: 40 }).map((half) => half + 0.25)
  await fc.assert(
    fc.asyncProperty(fc.array(days, { minLength: 1, maxLength: 3 }), fc.boolean(), async (ends, refused) => {
      const office = await newMember()
      const cnpjs = [matriz, filial, '12ABC345000340']
      for (const [index, end] of ends.entries()) await companyWithCertificate(office, cnpjs[index]!, end)
      if (refused)
        await inWorkspace(ctx, office, ({ db }) =>
          sql`update certificate set refused_at = now() where id = (select min(id) from certificate)`.execute(db),
        )
      await review(office)
      await review(office)
      const [company] = await listCompanies(ctx, office, undefined)
      const left = (company!.valid_to!.getTime() - Date.now()) / 86_400_000
      expect(await mails(office)).toHaveLength(left <= 30 ? 1 : 0)
      for (const subject of await subjects(office))
        expect(subject?.startsWith('Certificado digital vencido')).toBe(left <= 0)
    }),
    { numRuns: runs(25) },
  )
})

test('whatever the order and number of reviews, a step is told once', async () => {
  const ending = fc.array(fc.constantFrom(60, 29, 14, 6, 0.5, -1), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(ending, fc.integer({ min: 1, max: 3 }), async (days, atOnce) => {
      const office = await newMember()
      await companyWithCertificate(office, matriz, 100)
      const descending = [...days].sort((one, other) => other - one)
      for (const left of descending) {
        await moveTo(office, left)
        await Promise.all(Array.from({ length: atOnce }, () => review(office)))
      }
      expect(await mails(office)).toHaveLength(new Set(days.filter((left) => left <= 30)).size)
    }),
    { numRuns: runs(20) },
  )
})
