import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { asOperator, inCapture, inWorkspace } from '../platform/database.ts'
import type { Letter } from '../platform/mail/mail.ts'
import { insertAccount, newWorkspace } from '../platform/testing.ts'
import { noteFailure } from '../sefaz/circuit.ts'
import { noCertificate } from './decide.ts'
import { claimOne, releaseLine } from './lease.ts'
import type { CaptureState } from './situation.ts'
import { changeLines, linesOf, newCompany, ours, retireLines, useInstallation } from './testing.ts'
import { captureMails, warnOfCaptures } from './warnings.ts'

const { ctx } = await useInstallation()

beforeEach(() => retireLines(ctx))

async function newOffice(cnpjs = [ours]): Promise<number> {
  const workspaceId = await newWorkspace(ctx.db)
  await insertAccount(ctx.db, workspaceId)
  await insertAccount(ctx.db, workspaceId)
  for (const cnpj of cnpjs) await newCompany(ctx, { cnpj, workspaceId })
  return workspaceId
}

/** The letters to one of the people of a workspace, as they would leave now. */
async function letters(workspaceId: number): Promise<(Letter | null)[]> {
  await warnOfCaptures(ctx, workspaceId)
  await warnOfCaptures(ctx, workspaceId)
  const mails = await asOperator(ctx, ({ db }) =>
    db
      .selectFrom('mail')
      .select(['id', 'kind', 'recipient', 'payload', 'workspace_id as workspaceId'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('id')
      .execute(),
  )
  const [first] = mails
  return Promise.all(
    mails.filter(({ recipient }) => recipient === first?.recipient).map((mail) => captureMails[mail.kind]!(ctx, mail)),
  )
}
const count = async (workspaceId: number) => (await letters(workspaceId)).length
const passDay = (workspaceId: number) =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update notice set at = (at at time zone 'UTC' - interval '25 hours') at time zone 'UTC'`.execute(db),
  )
const inTrouble = (state: string, hours: number, cnpj = ours) =>
  changeLines(
    ctx,
    `state = '${state}', message = 'A SEFAZ recusou a consulta. (777: Algo)', trouble_since = now() - interval '${hours} hours'`,
    cnpj,
  )

test.each([
  ['stopped', 1.4, 1.6],
  ['blocked', 2.4, 2.6],
  ['failed', 5.9, 6.1],
])('a capture that is %s is told after a while', async (state, before, after) => {
  const office = await newOffice()
  await inTrouble(state, before)
  expect(await count(office)).toBe(0)
  await inTrouble(state, after)
  expect(await count(office)).toBe(1)
})

test('one letter is about all companies, says what to do, and is not repeated while nothing is new', async () => {
  const cnpjs = Array.from({ length: 7 }, (_, n) => `1122233300${String(n).padStart(4, '0')}`)
  const office = await newOffice([ours, ...cnpjs])
  await inTrouble('stopped', 2)
  for (const cnpj of cnpjs) await inTrouble('stopped', 0.1, cnpj)
  const [letter, ...others] = await letters(office)
  expect(others).toEqual([])
  expect(letter).toMatchObject({
    subject: expect.stringMatching(/^Captura parada: CNPJ [\dA-Z./-]{18}, CNPJ [\dA-Z./-]{18} e mais 6 empresas$/),
    paragraphs: [
      'A captura está parada em 8 empresas, entre elas EMPRESA. O motivo mais comum: A SEFAZ recusou a consulta. (777: Algo)',
      expect.stringMatching(/^Os documentos já guardados estão seguros/),
      expect.stringMatching(/^O que fazer: /),
    ],
  })
  await passDay(office)
  for (const cnpj of [ours, ...cnpjs]) await inTrouble('stopped', 27, cnpj)
  expect(await count(office)).toBe(1)
  await inTrouble('stopped', 2, cnpjs[0])
  expect(await count(office)).toBe(2)
  await inTrouble('stopped', 1.9, cnpjs[1])
  expect(await count(office)).toBe(2)
})

test('a letter that is no longer true does not leave', async () => {
  const office = await newOffice()
  await inTrouble('failed', 7)
  expect(await letters(office)).toEqual([
    expect.objectContaining({ subject: expect.stringMatching(/^Captura com falha: CNPJ [\dA-Z./-]{18}$/) }),
  ])
  await changeLines(ctx, "state = 'waiting', trouble_since = null")
  expect(await letters(office)).toEqual([null])
})

test('nobody hears of the captures of others, of an ended certificate again, nor of an outage of the authority', async () => {
  await newCompany(ctx)
  const stranger = await newWorkspace(ctx.db)
  await insertAccount(ctx.db, stranger)
  await newCompany(ctx, { proved: false, workspaceId: stranger })
  const office = await newOffice(['11222333000181'])
  await inTrouble('stopped', 3)
  expect(await count(stranger)).toBe(0)
  await inTrouble('stopped', 3, '11222333000181')
  await changeLines(ctx, `message = '${noCertificate}'`, '11222333000181')
  expect(await count(office)).toBe(0)
  await inTrouble('failed', 9, '11222333000181')
  for (const service of ['nfe', 'cte'] as const)
    await noteFailure(ctx, ctx.config.sefaz.endpoints.distribution[service], 'timeout', 600_000)
  expect(await count(office)).toBe(0)
})

test('lost positions are told, and told again only when there are more', async () => {
  const office = await newOffice()
  const lose = (from: number, to: number, passed = false) =>
    inCapture(ctx, ({ db }) =>
      sql`insert into capture_gap (line_id, from_nsu, to_nsu, lost, passed)
          select id, ${from}, ${to}, true, ${passed} from capture_line where cnpj = ${ours} and service = 0`.execute(
        db,
      ),
    )
  await lose(900, 999, true)
  expect(await count(office)).toBe(0)
  await lose(1, 3)
  expect(await letters(office)).toEqual([
    expect.objectContaining({
      subject: expect.stringMatching(/^3 posições que faltavam não estão mais na SEFAZ: CNPJ [\dA-Z./-]{18}$/),
      paragraphs: expect.arrayContaining(['EMPRESA (CNPJ 44.555.666/0001-81), NF-e: 3']),
    }),
  ])
  await lose(5, 5)
  expect(await count(office)).toBe(1)
  await passDay(office)
  expect(await count(office)).toBe(2)
  await passDay(office)
  expect(await count(office)).toBe(2)
})

test('a trouble lasts since it began, whatever it becomes, until the line is well again', async () => {
  await newCompany(ctx)
  const settle = async (state: CaptureState) => {
    await changeLines(
      ctx,
      "lease_until = null, allowed_at = '-infinity', trouble_since = trouble_since - interval '1 hour'",
    )
    const [before] = await linesOf(ctx)
    const line = await claimOne(ctx, before!.id)
    await releaseLine(ctx, line!, { state, message: noCertificate, failures: 0 })
    const [after] = await linesOf(ctx)
    return after!.trouble_since && Math.round((Date.now() - after!.trouble_since.getTime()) / 3_600_000)
  }
  expect(await settle('waiting')).toBe(null)
  expect(await settle('failed')).toBe(0)
  expect(await settle('blocked')).toBe(1)
  expect(await settle('failed')).toBe(2)
  expect(await settle('waiting')).toBe(null)
  expect(await settle('stopped')).toBe(0)
})
