import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { onlyWhile } from '@vigia/sefaz/connection'
import { type Correction, EventError } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { newCertificate } from '../../../../tests/support/certificates.ts'
import { useFolder } from '../../../../tests/support/folder.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../platform/context.ts'
import { useDatabase } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { InstallationError } from '../../platform/installation.ts'
import { connectSigner, SignerDown } from '../../platform/signer/client.ts'
import { serveSigner } from '../../platform/signer/server.ts'
import {
  type OpenedCertificate,
  type Signer,
  UnreadableCertificate,
  UnwantedEvent,
} from '../../platform/signer/signer.ts'
import { authorityFile, testSigner } from '../../platform/signer/testing.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'

// Everything through the socket, as the processes of an installation ask it.
const cnpj = '44555666000181'
const company = newCertificate('company')
const host = newCertificate('localhost')
const use = { service: 'teste', purpose: 'teste' }
const database = await useDatabase()
const { db } = database
let authority: Server
let url: string
let received: { name: string; body: string }[]
const folder = await useFolder()
let inside: ReturnType<typeof testSigner>
let server: AsyncDisposable
let signer: Signer & Disposable
let place: { workspaceId: number; companyId: number; certificateId: number }

beforeAll(async () => {
  const options = { key: host.key, cert: host.pem, requestCert: true, rejectUnauthorized: false }
  authority = createServer(options, (request, response) => void react(request, response))
  authority.listen(0)
  await once(authority, 'listening')
  url = `https://localhost:${(authority.address() as AddressInfo).port}/dist`
  const { sefaz } = readConfig({}, '/')
  const endpoints = { ...sefaz.endpoints, distribution: { nfe: url, cte: url } }
  inside = testSigner(database.url, {
    config: { sefaz: { ...sefaz, endpoints, caFiles: [await authorityFile(host.pem)] } },
  })
  server = await serveSigner(inside, join(folder, 'socket'), 0o600)
  signer = connectSigner(join(folder, 'socket'), { answerMs: 20_000 })
})
afterAll(async () => {
  signer[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
  await inside[Symbol.asyncDispose]()
  authority.closeAllConnections()
  authority.close()
})
beforeEach(async () => {
  received = []
  place = await newPlace()
})

async function react(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const name = request.socket instanceof TLSSocket ? String(request.socket.getPeerCertificate().subject.CN) : ''
  received.push({ name, body })
  if (body === 'headers') return void response.end(Object.keys(request.headers).sort().join(' '))
  if (body === 'hold') return
  if (body === 'reset') return void request.socket.destroy()
  response.writeHead(body === 'refuse' ? 403 : 200, { 'x-long': 'x'.repeat(10_000) }).end(`answer to ${body}`)
}

async function newPlace(key = company.key) {
  const workspaceId = await newWorkspace(db)
  const { id: companyId } = await insertCompany(db, workspaceId, { cnpj })
  const { sealed, keyId } = await signer.seal(workspaceId, companyId, key)
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ id: number }>`
      insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to,
                               certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by)
      values (${workspaceId}, ${companyId}, ${cnpj}, 'x', 'x', '1', '2020-01-01', '2090-01-01', ${company.pem}, '{}', ${sealed}, ${keyId}, 1)
      returning id`.execute(db)
    return { workspaceId, companyId, certificateId: rows[0]!.id }
  })
}

const within = <T>(work: (db: Database) => Promise<T>) => inWorkspace({ db }, place.workspaceId, ({ db }) => work(db))
const open = async (): Promise<OpenedCertificate> => (await signer.open(place.workspaceId, place.certificateId, use))!

describe('a certificate', () => {
  test('is shown to the authority, its response comes back whole, and the use is noted', async () => {
    const opened = await open()
    expect(opened).toMatchObject({
      id: place.certificateId,
      pem: company.pem,
      validTo: new Date('2090-01-01T00:00:00Z'),
    })
    expect(JSON.stringify(opened)).not.toContain('PRIVATE')
    const connection = await opened.connect()
    const response = await connection.post(url, { headers: {}, body: 'ação' })
    expect({ ...response, body: response.body.toString() }).toMatchObject({ status: 200, body: 'answer to ação' })
    expect((await connection.post(url, { headers: {}, body: 'refuse' })).status).toBe(403)
    expect(received).toEqual([
      { name: 'company', body: 'ação' },
      { name: 'company', body: 'refuse' },
    ])
    const uses = await within((db) => db.selectFrom('certificate_use').select(['service', 'purpose']).execute())
    expect(uses).toEqual([use])
    connection.close()
  })

  test('is noted with the purpose alone, and nothing else that a client says of the use', async () => {
    const said = {
      service: 'teste',
      purpose: 'x'.repeat(1_000),
      id: 77,
      at: '2001-01-01T00:00:00Z',
      certificate_id: 1e6,
    }
    await signer.open(place.workspaceId, place.certificateId, said)
    const { at, ...noted } = await within((db) =>
      db.selectFrom('certificate_use').selectAll().executeTakeFirstOrThrow(),
    )
    expect(at.getFullYear()).toBeGreaterThan(2001)
    expect(noted).toMatchObject({ certificate_id: place.certificateId, purpose: 'x'.repeat(200) })
    expect(noted.id).not.toBe(77n)
  })

  test('is shown to nobody but the authority', async () => {
    const connection = await (await open()).connect()
    const elsewhere = new URL('/elsewhere', url).href
    await expect(connection.post(elsewhere, { headers: {}, body: 'x' })).rejects.toThrow(/no address of the authority/)
    expect(received).toEqual([])
  })

  test('is not opened for another workspace, when it was removed, or with the key of the workspace destroyed', async () => {
    const other = await newPlace()
    expect(await signer.open(other.workspaceId, place.certificateId + 1_000, use)).toBeNull()
    expect(await signer.open(other.workspaceId, place.certificateId, use)).toBeNull()
    await within((db) => db.deleteFrom('workspace_key').execute())
    await expect(open()).rejects.toThrow(UnreadableCertificate)
    await within((db) => sql`update certificate set replaced_at = now()`.execute(db))
    expect(await signer.open(place.workspaceId, place.certificateId, use)).toBeNull()
  })

  test('whose key is no key, or is not its own, is told when it is to be shown', async () => {
    for (const key of ['no key', newCertificate('another').key]) {
      place = await newPlace(key)
      await expect((await open()).connect()).rejects.toThrow(UnreadableCertificate)
    }
  })
})

describe('an open certificate', () => {
  test.each([
    ['was removed', sql`update certificate set replaced_at = now()`],
    ['whose key was destroyed', sql`delete from workspace_key`],
  ])('that %s is neither shown nor signed with any more', async (_, end) => {
    const opened = await open()
    const connection = await opened.connect()
    await within((db) => end.execute(db))
    await expect(connection.post(url, { headers: {}, body: 'x' })).rejects.toMatchObject({ name: 'UnsentError' })
    await expect(opened.sign({ id: 1n, leaseBy: randomUUID() })).rejects.toThrow(UnreadableCertificate)
    expect(received).toEqual([])
  })

  test('has to be opened again after an hour', async () => {
    const startedAt = performance.now()
    const clock = vi.spyOn(performance, 'now')
    onTestFinished(() => void clock.mockRestore())
    const opened = await open()
    clock.mockReturnValue(startedAt + 61 * 60_000)
    await expect(opened.connect()).rejects.toThrow(/not open any more/)
  })
})

describe('a message', () => {
  test('does not leave when it is no longer wanted at the moment the connection is there', async () => {
    const connection = await (await open()).connect()
    await expect(onlyWhile(connection, () => false).post(url, { headers: {}, body: 'late' })).rejects.toMatchObject({
      name: 'UnsentError',
    })
    expect((await connection.post(url, { headers: {}, body: 'in time' })).status).toBe(200)
    expect(received).toEqual([{ name: 'company', body: 'in time' }])
  })

  test('has no headers but those of SOAP', async () => {
    const connection = await (await open()).connect()
    const headers = { 'Content-Type': 'x', SOAPAction: 'x', host: 'elsewhere.example', 'x-other': 'x' }
    const { body } = await connection.post(url, { headers, body: 'headers' })
    expect(body.toString()).toBe('connection content-length content-type host soapaction')
  })

  test('is not waited for longer than any response is', async () => {
    const { sefaz } = readConfig({}, '/')
    const endpoints = { ...sefaz.endpoints, distribution: { nfe: url, cte: url } }
    const caFiles = [await authorityFile(host.pem)]
    await using impatient = testSigner(database.url, {
      config: { sefaz: { ...sefaz, endpoints, caFiles, answerMs: 100 } },
    })
    const connection = await (await impatient.open(place.workspaceId, place.certificateId, use))!.connect()
    const waited = connection.post(url, { headers: {}, body: 'hold', timeoutMs: 60_000 })
    await expect(waited).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('that is given up here does not count as a failure of the signer', async () => {
    const after = await (await open()).connect()
    const connection = await (await open()).connect()
    await expect(onlyWhile(connection, () => false).post(url, { headers: {}, body: 'x' })).rejects.toThrow()
    await after.post(url, { headers: {}, body: 'x' })
    expect(signer.isDown).toBe(false)
    const held = expect(connection.post(url, { headers: {}, body: 'hold' })).rejects.toMatchObject({ kind: 'refused' })
    await expect.poll(() => received.at(-1)).toMatchObject({ body: 'hold' })
    connection.close()
    await held
    await setImmediate()
    expect(signer.isDown).toBe(false)
  })

  test('that the authority does not answer fails as without a signer', async () => {
    const connection = await (await open()).connect()
    await expect(connection.post(url, { headers: {}, body: 'reset' })).rejects.toMatchObject({
      name: 'SefazError',
      kind: 'refused',
    })
  })
})

describe('an event', () => {
  const body = `352611${cnpj}550010000000011000000014`.slice(0, 43)
  const chave = `${body}${chaveCheckDigit(body)}`
  const leaseBy = randomUUID()

  interface Wanted {
    type?: number
    tp?: number
    text?: string | null
    state?: string
    author?: string
    corrections?: Correction[]
  }

  const want = (set: Wanted = {}) =>
    within(async (db) => {
      const { type = 0, tp = 210240, state = 'waiting', author = cnpj, corrections } = set
      const { text = 'A mercadoria não chegou até hoje' } = set
      const { rows } = await sql<{ id: bigint }>`
        insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, justification, corrections, why, state, lease_by)
        values (${place.workspaceId}, ${place.companyId}, 1, ${type}, ${author}, ${chave}, ${tp}, 1, ${text}, ${corrections && JSON.stringify(corrections)}, 'x', ${state}, ${leaseBy})
        returning id`.execute(db)
      return rows[0]!.id
    })

  test('that is written down as wanted is signed, with what stands there', async () => {
    const signed = await (await open()).sign({ id: await want(), leaseBy, text: 'A mercadoria não chegou até hoje' })
    expect(signed).toMatchObject({ tpEvento: 210240, chave, nSeqEvento: 1 })
    expect(signed.xml).toMatch(/<CNPJ>44555666000181<.*<xJust>A mercadoria não chegou até hoje<.*<Signature /)
  })

  test.each([
    ['another text', {}, { text: 'A mercadoria chegou quebrada' }],
    ['another lease', {}, { leaseBy: randomUUID() }],
    ['no row', {}, { id: 999_999n }],
    ['a row that is settled', { state: 'rejected' }, {}],
    ['another author', { author: '11222333000181' }, {}],
  ])('is not signed with %s', async (_, row, details) => {
    const id = await want(row)
    const asked = { id, leaseBy, text: 'A mercadoria não chegou até hoje', ...details }
    await expect((await open()).sign(asked)).rejects.toThrow(UnwantedEvent)
  })

  test('is not signed with other corrections than those that are wanted', async () => {
    const corrections = [{ grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado: 'Entregar pela manhã' }]
    const id = await want({ type: 2, tp: 110110, corrections })
    const opened = await open()
    for (const asked of [undefined, [], [{ ...corrections[0]!, valorAlterado: 'Entregar à tarde' }]])
      await expect(opened.sign({ id, leaseBy, corrections: asked })).rejects.toThrow(UnwantedEvent)
  })

  test('that cannot be made says why', async () => {
    const id = await want({ text: null })
    await expect((await open()).sign({ id, leaseBy })).rejects.toThrow(EventError)
  })
})

test('what stands in the place of its socket and is none is not removed', async () => {
  const path = join(folder, 'note')
  await writeFile(path, 'of somebody')
  await using own = testSigner(database.url)
  await expect(serveSigner(own, path, 0o600)).rejects.toThrow(InstallationError)
  expect(await readFile(path, 'utf8')).toBe('of somebody')
  await rm(path)
})

test('while the signer is gone nothing is done, and nothing counts as sent; when it is back it is found', async () => {
  const path = join(folder, 'other')
  const own = testSigner(database.url)
  let serving = await serveSigner(own, path, 0o600)
  using client = connectSigner(path, { answerMs: 20_000 })
  const opened = (await client.open(place.workspaceId, place.certificateId, use))!
  await serving[Symbol.asyncDispose]()
  await expect(client.open(place.workspaceId, place.certificateId, use)).rejects.toThrow(SignerDown)
  expect(client.isDown).toBe(true)
  serving = await serveSigner(own, path, 0o600)
  expect(await client.open(place.workspaceId, place.certificateId, use)).not.toBeNull()
  expect(client.isDown).toBe(false)
  // A handle opened before the restart has to be opened again.
  await expect(opened.connect()).rejects.toThrow(/not open any more/)
  await serving[Symbol.asyncDispose]()
  await own[Symbol.asyncDispose]()
  await expect.poll(() => readdir(folder)).toEqual(['socket'])
})

test('two that seal the first certificate of a workspace agree on its key', async () => {
  const workspaceId = await newWorkspace(db)
  const other = testSigner(database.url)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const sealed = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? signer : other).seal(workspaceId, n, pem)))
  expect(new Set(sealed.map(({ keyId }) => keyId)).size).toBe(1)
  await other[Symbol.asyncDispose]()
})
