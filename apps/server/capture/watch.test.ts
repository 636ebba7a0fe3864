import { SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { asOperator, inCapture } from '../platform/database.ts'
import { tellOperator } from '../platform/mail/operator.ts'
import { listTroubles } from '../platform/trouble.ts'
import { findOutage, noteAnswer, noteFailure, noteSilence, outageSentence } from '../sefaz/circuit.ts'
import { noCertificate } from './decide.ts'
import { outcomeOf } from './sources/call.ts'
import { changeLines, linesOf, newCompany, ours, retireLines, told, useInstallation } from './testing.ts'
import { listStopped, wakeStopped } from './wake.ts'
import { watchCapture } from './watch.ts'

const { ctx } = await useInstallation()

beforeEach(async () => {
  await retireLines(ctx)
  await inCapture(ctx, ({ db }) => sql`update capture_line set state = 'waiting'`.execute(db))
})

const call = (cnpj: string, cStat: number, hoursAgo = 0) =>
  inCapture(ctx, ({ db }) =>
    sql`insert into capture_call (line_id, at, query, answer, nsu_before, nsu_after, c_stat, x_motivo)
        select id, now() - ${hoursAgo} * interval '1 hour', 'page', ${outcomeOf(told({ after: 0n }, cStat))}, 0, 0, ${cStat}, 'Rejeicao: Algo'
          from capture_line where cnpj = ${cnpj}`.execute(db),
  )
async function stop(cnpj: string, cStat: number, set = ''): Promise<void> {
  await newCompany(ctx, { cnpj })
  await call(cnpj, cStat)
  await changeLines(ctx, `state = 'stopped', next_at = null, message = 'A SEFAZ recusou a consulta.'`, cnpj)
  if (set) await changeLines(ctx, set, cnpj)
}
const troubles = async () => {
  await watchCapture(ctx)
  return (await listTroubles(ctx)).map(({ key, sentence }) => `${key}: ${sentence}`)
}

test('that nothing was asked for three hours is told when lines are due, until something is asked', async () => {
  await newCompany(ctx)
  await call(ours, 137, 3.1)
  await changeLines(ctx, "next_at = now() + interval '1 minute'")
  expect(await troubles()).toEqual([])
  await changeLines(ctx, "next_at = now() - interval '16 minutes'")
  expect(await troubles()).toEqual([
    expect.stringMatching(
      /^consultas: Nada é consultado na SEFAZ desde .* 2 capturas estão na vez\. .* seguros.* O que fazer: /,
    ),
  ])
  await call(ours, 137)
  expect(await troubles()).toEqual([])
})

test('a refusal that is ours to mend is told with its counts, one that a customer must mend is not', async () => {
  await stop(ours, 284)
  await stop('11222333000181', 999, "allowed_at = now() + interval '50 minutes'")
  await stop('11222333000262', 999)
  await stop('11222333000343', 215)
  expect(await troubles()).toEqual([
    expect.stringMatching(
      /^paradas: 6 capturas pararam .* 4 com 999 \(Rejeicao: Algo\) e 2 com 215 .* npm run admin -- wake /,
    ),
  ])
})

test('a service that serves nobody for three hours is told', async () => {
  await noteFailure(ctx, ctx.config.sefaz.endpoints.distribution.nfe, 'timeout', 600_000)
  expect(await troubles()).toEqual([])
  await sql`update circuit set since = now() - interval '181 minutes'`.execute(ctx.db)
  expect(await troubles()).toEqual([expect.stringMatching(/^servico: A SEFAZ não atende .*demorou demais/)])
})

test('a host whose encryption cannot be accepted is one outage at the first failure, told at once with the reason of OpenSSL', async () => {
  const { nfe, cte } = ctx.config.sefaz.endpoints.distribution
  const error = new SefazError('encryption', { detail: 'ERR_SSL_DH_KEY_TOO_SMALL dh key too small' })
  expect(await noteSilence(ctx, nfe, error)).toMatchObject({ reason: 'encryption' })
  expect(await noteSilence(ctx, cte, new SefazError('certificate', { detail: 'alert unknown ca' }))).toBeNull()
  expect(await troubles()).toEqual([
    expect.stringMatching(
      /^servico: .*criptografia que se possa aceitar.*dh key too small.*nenhum certificado precisa/,
    ),
  ])
  expect(outageSentence((await findOutage(ctx, nfe))!)).toMatch(
    / sem conexão segura para todas as empresas .*criptografia/,
  )
  expect(await findOutage(ctx, cte)).toBeNull()
})

test('a host without a route is told to the operator at the first failure, once for all companies', async () => {
  const { nfe, cte } = ctx.config.sefaz.endpoints.distribution
  const error = new SefazError('unreached', { detail: 'ENETUNREACH' })
  for (let company = 0; company < 3; company++) for (const url of [nfe, cte]) await noteSilence(ctx, url, error)
  await noteAnswer(ctx, nfe)
  await noteSilence(ctx, nfe, error)
  expect(await troubles()).toEqual([expect.stringMatching(/^servico: .*não atende às conexões.* e .*porta 443/)])
  await sql`update trouble set since = now() - interval '6 minutes'`.execute(ctx.db)
  await tellOperator({ ...ctx, config: { ...ctx.config, operatorEmail: 'plantao@vigia.example' } })
  const mails = await asOperator(ctx, ({ db }) => db.selectFrom('mail').select('recipient').execute())
  expect(mails).toEqual([{ recipient: 'plantao@vigia.example' }])
  await noteAnswer(ctx, nfe)
  await noteAnswer(ctx, cte)
  expect(await troubles()).toEqual([])
})

test('lines that stopped are listed by reason, and those of one reason wake within an hour, none before it may', async () => {
  await stop(ours, 999)
  await stop('11222333000181', 999, "allowed_at = now() + interval '50 minutes'")
  await stop('11222333000262', 777)
  await stop('11222333000343', 999, `message = '${noCertificate}'`)
  expect(await listStopped(ctx)).toEqual([
    { cStat: 999, xMotivo: 'Rejeicao: Algo', lines: 4, ofCustomer: false },
    { cStat: 777, xMotivo: 'Rejeicao: Algo', lines: 2, ofCustomer: false },
    { cStat: null, xMotivo: '', lines: 2, ofCustomer: false },
  ])
  expect(await wakeStopped(ctx, 999)).toBe(4)
  expect(await wakeStopped(ctx, 999)).toBe(0)
  for (const [cnpj, from] of [
    [ours, 0],
    ['11222333000181', 50],
  ] as const)
    for (const line of await linesOf(ctx, cnpj)) {
      expect(line).toMatchObject({ state: 'waiting', wanted: true })
      expect(line.nextIn).toBeGreaterThan(from - 1)
      expect(line.nextIn).toBeLessThanOrEqual(from + 60)
    }
  for (const cnpj of ['11222333000262', '11222333000343'])
    expect(await linesOf(ctx, cnpj)).toMatchObject([{ state: 'stopped' }, { state: 'stopped' }])
})
