import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { openDatabase } from '../platform/database.ts'
import { addressOf, findOutage, mayCall, noteAnswer, noteFailure, outageSentence, pausedServices } from './circuit.ts'

const url = 'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx'
const other = 'https://www1.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx'
const address = addressOf(url)
const hourMs = 3_600_000
const simulated = readConfig({}, process.cwd())
const config = { ...simulated, sefaz: { ...simulated.sefaz, hourMs } }
const { url: databaseUrl, db } = await useDatabase()
const elsewhere = openDatabase(databaseUrl)
afterAll(() => elsewhere.destroy())
// Two processes.
const [one, two] = [() => ({ db, config }), () => ({ db: elsewhere, config })]

beforeEach(() => db.deleteFrom('circuit').execute())

const fail = async (times: number) => {
  let outage = null
  for (let index = 0; index < times; index++) outage = await noteFailure(index % 2 ? one() : two(), url, 'timeout')
  return outage
}
const minutesOpen = async () => {
  const { rows } = await sql<{ minutes: number }>`
    select (extract(epoch from open_until - now()) / 60)::float8 as minutes from circuit where address = ${address}`.execute(
    db,
  )
  return rows[0]!.minutes
}
const passTime = () =>
  sql`update circuit set open_until = now() - interval '1 second' where address = ${address}`.execute(db)

test('the fifth failure in a row, whoever made them, pauses the service and no other', async () => {
  expect(await fail(4)).toBeNull()
  expect([await mayCall(one(), url), await pausedServices(one())]).toEqual([true, []])
  expect(await fail(1)).toMatchObject({ reason: 'timeout' })
  expect([await mayCall(one(), url), await mayCall(two(), other)]).toEqual([false, true])
  expect(await pausedServices(two())).toEqual([address])
  expect(await minutesOpen()).toBeCloseTo(10, 1)
})

test('an answer in between starts the count again', async () => {
  await fail(4)
  await noteAnswer(two(), url)
  expect(await fail(4)).toBeNull()
})

test('after the pause exactly one of many that ask at once may try, for all', async () => {
  await fail(5)
  await passTime()
  const told = await Promise.all(Array.from({ length: 30 }, (_, index) => mayCall(index % 2 ? one() : two(), url)))
  expect(told.filter(Boolean)).toHaveLength(1)
  // While it tries, and if it dies over it.
  expect([await mayCall(one(), url), await pausedServices(one())]).toEqual([false, [address]])
  await passTime()
  expect(await mayCall(two(), url)).toBe(true)
})

test('when the one is answered, all go on; when it is not, all wait again', async () => {
  await fail(5)
  await passTime()
  await mayCall(one(), url)
  await fail(1)
  expect(await mayCall(two(), url)).toBe(false)
  await passTime()
  await mayCall(two(), url)
  await noteAnswer(two(), url)
  const told = await Promise.all(Array.from({ length: 10 }, () => mayCall(one(), url)))
  expect(told).not.toContain(false)
  expect(await findOutage(one(), url)).toBeNull()
})

test('a service that says that it serves nobody is left alone at once, for its own time', async () => {
  expect(await noteFailure(one(), url, 'Servico Paralisado sem Previsao', hourMs / 2)).not.toBeNull()
  expect(await mayCall(two(), url)).toBe(false)
  expect(await minutesOpen()).toBeCloseTo(30, 1)
  // Calls that were under way fail, which is no reason to ask earlier.
  await fail(5)
  expect(await minutesOpen()).toBeGreaterThan(29)
})

test('everybody can say since when and why, in words', async () => {
  await fail(1)
  expect(await findOutage(one(), url)).toBeNull()
  await sql`update circuit set since = '2026-11-20T17:05:00Z'`.execute(db)
  await fail(5)
  const outage = await findOutage(two(), url)
  expect(outage && outageSentence(outage)).toBe(
    'O serviço da SEFAZ está fora do ar para todas as empresas desde 20/11 às 14:05: a SEFAZ demorou demais para responder. Os documentos já guardados estão seguros e as consultas voltam sozinhas quando ele responder.',
  )
})
