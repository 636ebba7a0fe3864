import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Client, nsu, startForTest, type TestSimulator } from './client.testing.ts'

// Every case makes certificates and TLS connections, which a busy machine is slow at.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const hourMs = 3_600_000
const zero = nsu(0)

let test: TestSimulator
let client: Client
let cnpj: string
let cases = 0

beforeAll(async () => {
  test = await startForTest()
})
afterAll(() => test.stop())

// A company for each case, because cases must not share pauses; every second one has letters.
beforeEach(async () => {
  const number = String(++cases).padStart(4, '0')
  const first12 = `${cases % 2 === 0 ? '12ABC' : '98765'}${number.slice(1)}0001`
  cnpj = first12 + cnpjCheckDigits(first12)
  client = await test.client(cnpj)
})

const distNSU = (ultNSU: number) => client.ask('nfe', { cnpj, ultNSU })
const advance = (ms: number) => test.control('POST', 'clock', { advanceMs: ms })

describe('distNSU', () => {
  it('answers 137 with zeros the first time and generates NSU only from then on', async () => {
    expect(await distNSU(0)).toMatchObject({
      cStat: '137',
      xMotivo: 'Nenhum documento localizado',
      ultNSU: zero,
      maxNSU: zero,
    })
    await test.publish(cnpj, 1)
    await advance(hourMs)
    expect(await distNSU(0)).toMatchObject({ cStat: '138', ultNSU: nsu(1), maxNSU: nsu(1) })
  })

  it.each([
    [1, [1]],
    [50, [50]],
    [51, [50, 1]],
    [120, [50, 50, 20]],
  ])('serves %i documents in pages of at most 50', async (count, sizes) => {
    await test.publish(cnpj, count)
    let ultNSU = 0
    for (const size of sizes) {
      const page = await distNSU(ultNSU)
      expect(page).toMatchObject({ cStat: '138', xMotivo: 'Documento(s) localizado(s)', maxNSU: nsu(count) })
      expect(page.documents.map((one) => one.NSU)).toEqual(Array.from({ length: size }, (_, i) => nsu(ultNSU + i + 1)))
      expect(page.documents.map((one) => one.xml)).toEqual(
        Array.from({ length: size }, (_, i) => `<a>${ultNSU + i + 1}</a>`),
      )
      ultNSU += size
      expect(page.ultNSU).toBe(nsu(ultNSU))
    }
  })

  it('answers 137 with the last NSU when nothing is new after an hour', async () => {
    await test.publish(cnpj, 2)
    await distNSU(0)
    await advance(hourMs)
    expect(await distNSU(2)).toMatchObject({ cStat: '137', ultNSU: nsu(2), maxNSU: nsu(2), documents: [] })
  })

  it('656 (a): a call within the hour after the end was reached', async () => {
    await test.publish(cnpj, 2)
    await distNSU(0)
    await advance(hourMs - 60_000)
    expect(await distNSU(2)).toMatchObject({
      cStat: '656',
      xMotivo:
        'Rejeicao: Consumo Indevido (Deve ser aguardado 1 hora para efetuar nova solicitacao caso nao existam mais documentos a serem pesquisados. Tente apos 1 hora)',
      ultNSU: nsu(2),
      maxNSU: zero,
    })
  })

  it('656 (a): a call within the hour after 137', async () => {
    await distNSU(0)
    expect(await distNSU(0)).toMatchObject({ cStat: '656', ultNSU: zero })
  })

  it('656 (b): a cursor that is not the one of the last answer, which the rejection tells', async () => {
    await test.publish(cnpj, 120)
    await distNSU(0)
    expect(await distNSU(0)).toMatchObject({
      cStat: '656',
      xMotivo:
        'Rejeicao: Consumo Indevido (Deve ser utilizado o ultNSU nas solicitacoes subsequentes. Tente apos 1 hora)',
      ultNSU: nsu(50),
      maxNSU: zero,
    })
    await advance(hourMs)
    expect(await distNSU(50)).toMatchObject({ cStat: '138', ultNSU: nsu(100) })
  })

  it('656 (b): two consumers of one CNPJ disturb each other', async () => {
    await test.publish(cnpj, 60)
    const other = await test.client(cnpj)
    await distNSU(0)
    expect((await other.ask('nfe', { cnpj, ultNSU: 0 })).cStat).toBe('656')
    expect((await distNSU(50)).cStat).toBe('656')
    await advance(hourMs)
    expect((await distNSU(50)).cStat).toBe('138')
  })

  it('starts the hour again at every call while blocked', async () => {
    await test.publish(cnpj, 60)
    await distNSU(0)
    await distNSU(7)
    await advance(hourMs - 1_000)
    expect((await distNSU(50)).cStat).toBe('656')
    await advance(hourMs - 1_000)
    expect((await distNSU(50)).cStat).toBe('656')
    await advance(hourMs)
    expect((await distNSU(50)).cStat).toBe('138')
  })

  it('blocks only the CNPJ of 14 positions that misbehaved, in that service', async () => {
    const matriz = await test.client('44555666000181')
    await test.publish('44555666000181', 1)
    await test.publish('44555666000262', 1)
    const ask = (who: string, service: 'nfe' | 'cte' = 'nfe') => matriz.ask(service, { cnpj: who, ultNSU: 0 })
    await ask('44555666000181')
    expect((await ask('44555666000181')).cStat).toBe('656')
    expect((await ask('44555666000262')).cStat).toBe('138')
    expect((await ask('44555666000181', 'cte')).cStat).toBe('137')
  })

  it('589: a cursor beyond the end, with zeros', async () => {
    await test.publish(cnpj, 3)
    expect(await distNSU(4)).toMatchObject({
      cStat: '589',
      xMotivo: 'Rejeicao: Numero do NSU informado superior ao maior NSU da base de dados do Ambiente Nacional',
      ultNSU: zero,
      maxNSU: zero,
    })
    expect((await distNSU(0)).cStat).toBe('138')
  })

  it('forgets documents 90 days after their reception', async () => {
    await test.publish(cnpj, 3)
    expect((await distNSU(0)).ultNSU).toBe(nsu(3))
    for (const _ of [1, 2]) {
      await advance(46 * 86_400_000)
      await distNSU(3)
    }
    await test.publish(cnpj, 1)
    await advance(hourMs)
    expect(await client.ask('nfe', { cnpj, NSU: 3 })).toMatchObject({ cStat: '137' })
    const page = await distNSU(3)
    expect(page.documents.map((one) => one.NSU)).toEqual([nsu(4)])
  })

  it('begins at the oldest document still kept', async () => {
    await test.publish(cnpj, 3)
    await advance(58 * 86_400_000)
    await client.ask('cte', { cnpj, ultNSU: 0 })
    await test.publish(cnpj, 1)
    await advance(40 * 86_400_000)
    const page = await distNSU(0)
    expect(page).toMatchObject({ cStat: '138', ultNSU: nsu(4), maxNSU: nsu(4) })
    expect(page.documents.map((one) => one.NSU)).toEqual([nsu(4)])
  })

  it('answers 137 with zeros to who returns after 60 days, then goes on', async () => {
    await test.publish(cnpj, 1)
    await distNSU(0)
    await advance(61 * 86_400_000)
    expect(await distNSU(1)).toMatchObject({ cStat: '137', ultNSU: zero, maxNSU: zero })
    await test.publish(cnpj, 1)
    await advance(hourMs)
    expect((await distNSU(1)).documents.map((one) => one.NSU)).toEqual([nsu(2)])
  })
})

describe('consNSU', () => {
  it('gives the one document of an NSU, without moving the cursor', async () => {
    await test.publish(cnpj, 3)
    const answer = await client.ask('nfe', { cnpj, NSU: 2 })
    expect(answer).toMatchObject({ cStat: '138', maxNSU: nsu(3) })
    expect(answer.documents).toEqual([{ NSU: nsu(2), schema: 'procNFe_v4.00.xsd', xml: '<a>2</a>' }])
    expect((await distNSU(0)).documents.length).toBe(3)
  })

  it('589 beyond the end', async () => {
    await test.publish(cnpj, 3)
    expect((await client.ask('nfe', { cnpj, NSU: 4 })).cStat).toBe('589')
  })

  it('656 (c): the 21st query of a sliding hour, which blocks distNSU too', async () => {
    await test.publish(cnpj, 3)
    for (let index = 0; index < 20; index++) {
      expect((await client.ask('nfe', { cnpj, NSU: 1 })).cStat).toBe('138')
      await advance(60_000)
    }
    expect(await client.ask('nfe', { cnpj, NSU: 1 })).toMatchObject({
      cStat: '656',
      xMotivo: 'Rejeicao: Consumo Indevido (Ultrapassou o limite de 20 consultas por hora. Tente apos 1 hora)',
      ultNSU: zero,
    })
    expect((await distNSU(0)).cStat).toBe('656')
    await advance(hourMs)
    expect((await client.ask('nfe', { cnpj, NSU: 1 })).cStat).toBe('138')
  })

  it('counts consChNFe and consNSU together', async () => {
    await test.publish(cnpj, 1)
    const chNFe = '35260811222333000181550010000123451876543214'
    for (let index = 0; index < 10; index++) {
      await client.ask('nfe', { cnpj, NSU: 1 })
      expect((await client.ask('nfe', { cnpj, chNFe })).cStat).toBe('217')
    }
    expect((await client.ask('nfe', { cnpj, chNFe })).cStat).toBe('656')
  })
})

describe('the taxpayer and the certificate', () => {
  it('489 and 490 for check digits that are wrong and for zeros', async () => {
    const bad = (who: string) => client.ask('nfe', { cnpj: who })
    expect(await bad('44555666000180')).toMatchObject({
      cStat: '489',
      xMotivo: 'Rejeicao: CNPJ informado invalido (DV ou zeros)',
    })
    expect((await bad('00000000000000')).cStat).toBe('489')
    expect((await bad('52998224726')).cStat).toBe('490')
  })

  it('593 for another base, not for another branch', async () => {
    const matriz = await test.client('44555666000181')
    expect(await matriz.ask('nfe', { cnpj: '77888999000181' })).toMatchObject({
      cStat: '593',
      xMotivo: 'Rejeicao: CNPJ-Base consultado difere do CNPJ-Base do Certificado Digital',
    })
    expect((await matriz.ask('nfe', { cnpj: '44555666000262' })).cStat).toBe('137')
    expect((await matriz.ask('cte', { cnpj: '77888999000181' })).cStat).toBe('593')
  })

  it('472 for a CPF that is not of the certificate; a person with its e-CPF is served', async () => {
    expect((await client.ask('nfe', { cnpj: '52998224725' })).cStat).toBe('472')
    const person = await test.client('52998224725')
    expect((await person.ask('nfe', { cnpj: '52998224725' })).cStat).toBe('137')
    expect((await person.ask('nfe', { cnpj: '11144477735' })).cStat).toBe('472')
    expect((await person.ask('nfe', { cnpj: '44555666000181' })).cStat).toBe('593')
  })
})
