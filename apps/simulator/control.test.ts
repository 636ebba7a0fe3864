import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import forge from 'node-forge'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Client,
  createClient,
  distDFeInt,
  envelope12,
  nsu,
  paths,
  startForTest,
  type TestSimulator,
} from './client.testing.ts'
import { type FaultName, faultStages } from './faults/faults.ts'

// Every case makes certificates and TLS connections, which a busy machine is slow at.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const hourMs = 60_000
let test: TestSimulator
let client: Client
let cnpj: string
let cases = 0

beforeAll(async () => {
  test = await startForTest({ hourMs })
})
afterAll(() => test.stop())
beforeEach(async () => {
  const first12 = `98ABC${String(++cases).padStart(3, '0')}0001`
  cnpj = first12 + cnpjCheckDigits(first12)
  client = await test.client(cnpj)
  await test.control('DELETE', 'faults')
})

const advance = (ms: number) => test.control('POST', 'clock', { advanceMs: ms })
const distNSU = (ultNSU: number) => client.ask('nfe', { cnpj, ultNSU })
const raw = (ultNSU = 0, signal?: AbortSignal) =>
  client.post(
    paths.nfe,
    { 'Content-Type': 'application/soap+xml; charset=utf-8' },
    envelope12('nfe', distDFeInt('nfe', { cnpj, ultNSU })),
    signal,
  )

describe('the control interface', () => {
  it('is answered by http and by https, without certificate', async () => {
    expect(await test.control('GET', 'misuse')).toEqual({ misuse: [] })
    const nobody = createClient(test.simulator, {})
    expect(JSON.parse((await nobody.get('/_control/misuse')).body)).toEqual({ misuse: [] })
    expect((await nobody.get('/_control/nothing')).status).toBe(404)
  })

  it('takes no call of a page: its own names, no origin and JSON only', async () => {
    const statusOf = (headers: Record<string, string>) =>
      new Promise<number | undefined>((done, fail) => {
        const options = { port: test.simulator.port, method: 'POST', path: '/_control/clock', headers }
        request(options, (response) => done(response.resume().statusCode))
          .on('error', fail)
          .end('{"advanceMs":0}')
      })
    const json = { 'content-type': 'application/json', host: 'localhost' }
    expect(await statusOf(json)).toBe(200)
    expect(await statusOf({ ...json, host: `[::1]:${test.simulator.port}` })).toBe(200)
    expect(await statusOf({ ...json, host: 'pagina.example' })).toBe(403)
    expect(await statusOf({ ...json, origin: 'http://localhost' })).toBe(403)
    expect(await statusOf({ ...json, 'content-type': 'text/plain' })).toBe(415)
  })

  it('is alone on http: the services are not served there', async () => {
    const answer = await fetch(`http://127.0.0.1:${test.simulator.port}${paths.nfe}`, { method: 'POST', body: 'x' })
    expect(answer.status).toBe(403)
  })

  it('tells the truth about a CNPJ, in NSU order', async () => {
    await test.publish(cnpj, 2)
    await test.publish(cnpj, 1, 'cte')
    const all = await test.control('GET', `truth?cnpj=${cnpj}`)
    expect(all).toMatchObject({
      cnpj,
      documents: [
        { service: 'nfe', nsu: nsu(1), schema: 'procNFe_v4.00.xsd', kind: 'raw' },
        { service: 'nfe', nsu: nsu(2) },
        { service: 'cte', nsu: nsu(1) },
      ],
    })
    expect(await test.control('GET', `truth?cnpj=${cnpj}&service=cte`)).toMatchObject({ documents: { length: 1 } })
    await expect(test.control('GET', 'truth')).rejects.toThrow('cnpj is missing')
  })

  it('publishes any bytes under any schema name', async () => {
    const order = { cnpj, service: 'cte', schema: 'procNovo_v9.99.xsd', xmlBase64: btoa('not xml at all') }
    expect(await test.control('POST', 'publish', order)).toEqual({ service: 'cte', cnpj, nsu: nsu(1) })
    const answer = await client.ask('cte', { cnpj, ultNSU: 0 })
    expect(answer.documents).toEqual([{ NSU: nsu(1), schema: 'procNovo_v9.99.xsd', xml: 'not xml at all' }])
  })

  it('receives documents and says who got them', async () => {
    const other = '44555666000181'
    const xml = `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe35260811222333000181550010000123451876543214"><ide><mod>55</mod></ide><emit><CNPJ>11222333000181</CNPJ></emit><dest><CNPJ>${cnpj}</CNPJ></dest><autXML><CNPJ>${other}</CNPJ></autXML></infNFe></NFe><protNFe><infProt><cStat>100</cStat></infProt></protNFe></nfeProc>`
    expect(await test.control('POST', 'documents', xml)).toMatchObject({
      outcome: 'accepted',
      delivered: [
        { service: 'nfe', taxId: cnpj, nsu: 1 },
        { service: 'nfe', taxId: other, nsu: 1 },
      ],
    })
    expect(await test.control('POST', 'documents', xml)).toMatchObject({ outcome: 'duplicate' })
    expect(await test.control('POST', 'documents', '<a/>')).toMatchObject({ outcome: 'refused' })
    const truth = await test.control('GET', `truth?cnpj=${cnpj}`)
    expect(truth).toMatchObject({
      documents: [{ kind: 'summary', roles: ['destinatario'], schema: 'resNFe_v1.01.xsd' }],
    })
  })

  it('issues certificates', async () => {
    const answer = await fetch(`http://127.0.0.1:${test.simulator.port}/_control/certificates`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ cnpj, nome: 'EMPRESA', senha: 'abc', uf: 'SP' }),
    })
    const pfx = Buffer.from(await answer.arrayBuffer())
    const other = createClient(test.simulator, { pfx, passphrase: 'abc' })
    expect((await other.ask('nfe', { cnpj, ultNSU: 0 })).cStat).toBe('137')
  })

  it('issues certificates quickly on one key, each accepted for its company', async () => {
    const holders = ['77888999000181', '12ABC34501DE35'].map((own) => ({ cnpj: own, nome: 'EMPRESA', senha: 'x' }))
    const keys = new Set<string>()
    for (const holder of holders) {
      const pfx = Buffer.from(await test.simulator.issueCertificate({ ...holder, sharedKey: true }))
      keys.add(keyOf(pfx, 'x'))
      const own = createClient(test.simulator, { pfx, passphrase: 'x' })
      expect((await own.ask('nfe', { cnpj: holder.cnpj, ultNSU: 0 })).cStat).toBe('137')
      expect((await own.ask('nfe', { cnpj, ultNSU: 0 })).cStat).toBe('593')
    }
    expect(keys.size).toBe(1)
  })

  it('logs the calls and counts the misuse', async () => {
    await test.publish(cnpj, 1)
    await distNSU(0)
    await distNSU(1)
    expect(await test.control('GET', `calls?cnpj=${cnpj}`)).toMatchObject({
      calls: [
        { service: 'nfe', query: { ultNSU: 0 }, cStat: 138, documents: 1, ultNSU: 1, status: 200, counted: true },
        { service: 'nfe', query: { ultNSU: 1 }, cStat: 656, documents: 0, ultNSU: 1, lost: false, excused: false },
      ],
    })
    expect(await test.control('GET', `calls?cnpj=${cnpj}&limit=1`)).toMatchObject({ calls: [{ cStat: 656 }] })
    await expect(test.control('GET', 'calls?limit=none')).rejects.toThrow('400')
    expect(await test.control('GET', 'misuse')).toMatchObject({
      misuse: expect.arrayContaining([{ service: 'nfe', cnpj, count: 1, excused: 0 }]),
    })
    expect(await test.control('GET', 'events')).toEqual({ events: [] })
  })

  it('sets the clock', async () => {
    const { now } = (await test.control('GET', 'state')) as { now: string }
    const later = new Date(Date.parse(now) + 5_000_000).toISOString()
    expect(await test.control('POST', 'clock', { now: later })).toMatchObject({
      now: expect.stringContaining(later.slice(0, 17)),
    })
    await expect(test.control('POST', 'clock', {})).rejects.toThrow('400')
  })
})

describe('faults', () => {
  const fault = (order: Record<string, unknown>) => test.control('POST', 'faults', { cnpj, ...order })

  it.each([
    ['108', 'Servico Paralisado Momentaneamente (curto prazo)'],
    ['109', 'Servico Paralisado sem Previsao'],
    ['999', 'Rejeicao: Erro nao catalogado'],
  ])('%s comes in the answer itself and costs nothing', async (name, xMotivo) => {
    await test.publish(cnpj, 1)
    await fault({ fault: name, times: 2 })
    for (const _ of [1, 2]) expect(await distNSU(0)).toMatchObject({ cStat: name, xMotivo, ultNSU: nsu(0) })
    expect((await distNSU(0)).cStat).toBe('138')
  })

  it.each([
    ['http403', 403],
    ['http500', 500],
    ['http503', 503],
  ])('%s is an HTML page', async (name, status) => {
    await fault({ fault: name })
    expect(await raw()).toMatchObject({ status, contentType: 'text/html' })
  })

  it('soapFault is a fault', async () => {
    await fault({ fault: 'soapFault' })
    expect(await raw()).toMatchObject({ status: 500, body: expect.stringContaining('<soap:Fault>') })
  })

  it('reset breaks the connection before the call counts', async () => {
    await test.publish(cnpj, 60)
    await fault({ fault: 'reset', times: 1 })
    await expect(distNSU(0)).rejects.toThrow('ECONNRESET')
    expect((await distNSU(0)).cStat).toBe('138')
  })

  it.each(['resetAfter', 'truncated', 'empty', 'emptyResult'])(
    '%s loses the answer of a call that counted; the 656 it causes is excused',
    async (name) => {
      await test.publish(cnpj, 60)
      await fault({ fault: name, times: 1 })
      const lost = await distNSU(0).catch(() => null)
      expect(lost?.cStat ?? '').toBe('')
      expect(await distNSU(0)).toMatchObject({ cStat: '656', ultNSU: nsu(50) })
      expect(await distNSU(50)).toMatchObject({ cStat: '656' })
      expect(await test.control('GET', 'misuse')).toMatchObject({
        misuse: expect.arrayContaining([{ service: 'nfe', cnpj, count: 2, excused: 1 }]),
      })
    },
  )

  it('corruptedDocZip damages one document, unknownSchema renames one', async () => {
    await test.publish(cnpj, 3)
    await fault({ fault: 'corruptedDocZip', times: 1 })
    await expect(distNSU(0)).rejects.toThrow(/invalid|incorrect|unexpected/)
    await advance(hourMs)
    await test.publish(cnpj, 2)
    await fault({ fault: 'unknownSchema', times: 1 })
    const schemas = (await distNSU(3)).documents.map((one) => one.schema)
    expect(schemas.sort()).toEqual(['procDocumentoNovo_v1.00.xsd', 'procNFe_v4.00.xsd'])
  })

  it('maxNsuZero keeps the documents and zeroes maxNSU', async () => {
    await test.publish(cnpj, 60)
    await fault({ fault: 'maxNsuZero' })
    expect(await distNSU(0)).toMatchObject({ cStat: '138', ultNSU: nsu(50), maxNSU: nsu(0) })
  })

  it('delay holds the answer back', async () => {
    await test.publish(cnpj, 1)
    await fault({ fault: 'delay', delayMs: 300, times: 1 })
    const before = Date.now()
    expect((await distNSU(0)).cStat).toBe('138')
    expect(Date.now() - before).toBeGreaterThanOrEqual(290)
  })

  it('who hangs up before the answer has lost it', async () => {
    await test.publish(cnpj, 60)
    await fault({ fault: 'delay', delayMs: 3_000, times: 1 })
    const controller = new AbortController()
    const call = raw(0, controller.signal)
    const logged = async () => {
      const { calls } = (await test.control('GET', `calls?cnpj=${cnpj}`)) as { calls: unknown[] }
      return calls.length
    }
    await expect.poll(logged).toBe(1)
    controller.abort()
    await expect(call).rejects.toThrow()
    const lost = async () => {
      const { calls } = (await test.control('GET', `calls?cnpj=${cnpj}`)) as { calls: { lost: boolean }[] }
      return calls[0]?.lost
    }
    await expect.poll(lost).toBe(true)
    expect(await distNSU(0)).toMatchObject({ cStat: '656', ultNSU: nsu(50) })
    expect(await test.control('GET', 'misuse')).toMatchObject({
      misuse: expect.arrayContaining([{ service: 'nfe', cnpj, count: 1, excused: 1 }]),
    })
  })

  it.each(Object.keys(faultStages))('%s strikes from when it is switched on until it is switched off', async (name) => {
    await test.publish(cnpj, 1)
    const last = async () => {
      await raw().catch(() => null)
      const { calls } = (await test.control('GET', `calls?cnpj=${cnpj}&limit=1`)) as { calls: unknown[] }
      return calls[0]
    }
    const { id } = (await fault({ fault: name, delayMs: 20 })) as { id: number }
    expect(await last()).toMatchObject({ fault: name, counted: faultStages[name as FaultName] === 'after' })
    await test.control('DELETE', `faults?id=${id}`)
    expect(await last()).toMatchObject({ status: 200, counted: true })
    expect(await last()).not.toHaveProperty('fault')
  })

  it('strike by probability, by service, by CNPJ and for a time', async () => {
    await test.publish(cnpj, 1)
    await fault({ fault: '109', probability: 0 })
    await fault({ fault: '108', service: 'cte' })
    await fault({ fault: '999', cnpj: '44555666000181' })
    await fault({ fault: '108', durationMs: 1_000 })
    expect((await distNSU(0)).cStat).toBe('108')
    await advance(2_000)
    expect((await distNSU(0)).cStat).toBe('138')
    const list = (await test.control('GET', 'faults')) as { faults: unknown[]; available: string[] }
    expect(list.faults).toHaveLength(3)
    expect(list.available).toContain('corruptedDocZip')
    expect(list.available).not.toContain('284')
    await expect(test.control('POST', 'faults', { fault: 'nonsense' })).rejects.toThrow('fault must be one of')
  })
})

describe('a restart', () => {
  it('goes on where it was: same NSU, same cursor, same pauses, same clock', async () => {
    const first = await startForTest({ hourMs })
    const own = '44555666000181'
    await first.publish(own, 60)
    const before = await first.client(own)
    await before.ask('nfe', { cnpj: own, ultNSU: 0 })
    await first.control('POST', 'clock', { advanceMs: 86_400_000 })
    const truth = await first.control('GET', `truth?cnpj=${own}`)
    await first.stop({ keep: true })

    const second = await startForTest({ hourMs, directory: first.directory })
    expect(await second.control('GET', `truth?cnpj=${own}`)).toEqual(truth)
    expect(second.simulator.ca).toBe(first.simulator.ca)
    const { offsetMs } = (await second.control('GET', 'state')) as { offsetMs: number }
    expect(offsetMs).toBe(86_400_000)
    const after = await second.client(own)
    expect(await after.ask('nfe', { cnpj: own, ultNSU: 50 })).toMatchObject({ cStat: '138', ultNSU: nsu(60) })
    expect(await after.ask('nfe', { cnpj: own, ultNSU: 60 })).toMatchObject({ cStat: '656' })
    await second.stop()
  })
})

describe('companies', () => {
  const company = { cnpj: '44555666000181', nome: 'EMPRESA EXEMPLO LTDA', uf: 'SC' }

  it('have documents at once, and new ones now and then', async () => {
    const alive = await startForTest({ companies: [company], liveEveryMs: 100, seed: 3 })
    const truth = async () => {
      const answer = (await alive.control('GET', `truth?cnpj=${company.cnpj}`)) as { documents: { service: string }[] }
      return answer.documents
    }
    const before = await truth()
    const first = await (await alive.client(company.cnpj)).ask('nfe', { cnpj: company.cnpj, ultNSU: 0 })
    expect(first.cStat).toBe('138')
    expect(first.documents.length).toBeGreaterThan(20)
    await expect.poll(async () => (await truth()).length).toBeGreaterThan(before.length)
    await alive.stop()
  })

  it('have them since any day', async () => {
    const since = new Date(Date.now() - 40 * 86_400_000).toISOString()
    const older = await startForTest({ companies: [company], since })
    const { documents } = await (await older.client(company.cnpj)).ask('nfe', { cnpj: company.cnpj, ultNSU: 0 })
    const issued = documents.flatMap(({ xml }) => /<dhEmi>([^<]+)</.exec(xml)?.[1] ?? [])
    const oldestMs = Date.now() - Math.min(...issued.map((text) => Date.parse(text)))
    expect(oldestMs / 86_400_000).toBeGreaterThan(32)
    expect(oldestMs / 86_400_000).toBeLessThanOrEqual(40)
    await older.stop()
    await expect(startForTest({ companies: [company], since: 'ontem' })).rejects.toThrow('since não é uma data: ontem')
  })

  it('a folder that does not exist is said so', async () => {
    await expect(startForTest({ archive: '/nowhere/at/all', directory: join(test.directory, 'none') })).rejects.toThrow(
      'A pasta de documentos do simulador não existe',
    )
  })
})

describe('the program', () => {
  // Whatever archive the person who tests has in a .env file.
  const run = (args: string[]) =>
    spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      env: { ...process.env, SIMULATOR_ARCHIVE: '' },
    })

  it('says when it is ready, serves, and ends with its parent', async () => {
    const directory = join(test.directory, 'program')
    const args = ['serve', '--port', '0', '--directory', directory, '--seed', '5', '--exit-with-parent']
    const program = run(args)
    const [line] = (await once(program.stdout, 'data')) as [Buffer]
    const ready = JSON.parse(line.toString()) as { ready: boolean; origin: string; port: number }
    expect(ready).toMatchObject({ ready: true, origin: `https://localhost:${ready.port}`, seed: 5 })
    expect((await fetch(`http://127.0.0.1:${ready.port}/_control/state`)).status).toBe(200)
    program.stdin.end()
    expect((await once(program, 'exit'))[0]).toBe(0)
    expect(existsSync(join(directory, 'ca', 'root.pem'))).toBe(true)
    rmSync(directory, { recursive: true })
  }, 20_000)

  it('says in one sentence that its port is taken', async () => {
    const args = ['--port', String(test.simulator.port), '--directory', join(test.directory, 'busy')]
    const program = run(args)
    let told = ''
    program.stderr.on('data', (chunk: Buffer) => {
      told += chunk.toString()
    })
    expect((await once(program, 'exit'))[0]).toBe(1)
    expect(told).toContain('A porta do simulador já está em uso.')
  }, 20_000)
})

function keyOf(pfx: Buffer, password: string): string {
  const bagType = forge.pki.oids.pkcs8ShroudedKeyBag!
  const bags = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(pfx.toString('latin1')), password).getBags({ bagType })
  return forge.pki.privateKeyToPem(bags[bagType]![0]!.key!)
}
