import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Certificate, readCertificate } from '@vigia/sefaz/certificate'
import { type Connection, connect } from '@vigia/sefaz/connection'
import { cteEventUrl, simulatedEndpoints } from '@vigia/sefaz/endpoints'
import {
  type CteEvent,
  type EventResult,
  type Manifestation,
  processedEvent,
  sendCteEvent,
  sendManifestations,
  signCteEvent,
  signManifestation,
} from '@vigia/sefaz/events'
import { type Simulator, start } from '@vigia/simulator/start'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askForAll, truthOf } from '../support/authority.ts'
import { runs } from '../support/seed.ts'

// The two ends of the wire share no code that writes events or judges them: what our client signs must be registered by an
// authority that cuts it out of the message and verifies it, and reach the other parties byte by byte.

interface Document {
  chave: string
  issuer: string
  nProt: string
}

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA & CIA LTDA', uf: 'SC' }
const hourMs = 60_000
const stack = new AsyncDisposableStack()
const connections = new Map<string, Promise<[Connection, Certificate]>>()
let simulator: Simulator
/** Notes of which the company has the summary only, and freights that it pays for. */
let notes: Document[]
let freights: Document[]

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-clients-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  // A ciência is possible for ten days, the cancellation of a CT-e for seven.
  const since = Date.now() - 6 * 86_400_000
  const options = { port: 0, directory, seed: 11, hourMs, companies: [company], since, documentsEach: 300 }
  simulator = stack.use(await start(options))
  const found = (await askForAll(simulator, company)).map(({ schema, content }) => ({
    schema,
    xml: gunzipSync(content).toString('utf8'),
  }))
  const chaves = (prefix: string) =>
    found.flatMap(({ schema, xml }) => (schema.startsWith(prefix) ? [/<ch(?:NFe|CTe)>(\w+)/.exec(xml)?.[1]] : []))
  const touched = new Set(['procNFe', 'procEvento', 'resEvento'].flatMap(chaves))
  const documents = (prefix: string, of = (_xml: string) => true) =>
    found
      .filter(({ schema, xml }) => schema.startsWith(prefix) && of(xml))
      .map(({ xml }) => {
        const issuer = xml.slice(Math.max(0, xml.indexOf('<emit>')))
        return { chave: inside(xml, 'ch(?:NFe|CTe)'), issuer: inside(issuer, 'CNPJ'), nProt: inside(xml, 'nProt') }
      })
      .filter(({ chave }) => !touched.has(chave))
  notes = documents('resNFe')
  freights = documents('procCTe_', (xml) => xml.includes('<toma>3<') && xml.includes(`<dest><CNPJ>${company.cnpj}<`))
}, 60_000)
afterAll(() => stack.disposeAsync())

function inside(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? ''
}

function as(cnpj: string): Promise<[Connection, Certificate]> {
  const known = connections.get(cnpj)
  if (known !== undefined) return known
  const made = (async (): Promise<[Connection, Certificate]> => {
    const pfx = await simulator.issueCertificate({ cnpj, nome: 'EMPRESA', senha: 'x', sharedKey: true })
    const certificate = await readCertificate(pfx, 'x')
    const connection = connect(certificate, { ca: [simulator.ca] })
    stack.defer(() => connection.close())
    return [connection, certificate]
  })()
  connections.set(cnpj, made)
  return made
}

interface Sent extends EventResult {
  /** What we keep of it. */
  kept: string
}

// Distributes over a plain union as well as over the one of the kinds of events.
type Draft<T> = T extends unknown ? Omit<T, 'tpAmb' | 'cnpj' | 'at' | 'nSeqEvento'> & { nSeqEvento?: number } : never

async function manifest(draft: Draft<Manifestation>, author = company.cnpj, signer = author): Promise<Sent> {
  const [connection, certificate] = await as(signer)
  const event = signManifestation({ tpAmb: 2, at: new Date(), nSeqEvento: 1, cnpj: author, ...draft }, certificate)
  const url = simulatedEndpoints(simulator.origin).manifestation
  const answer = await sendManifestations(connection, { url, idLote: '1', events: [event] })
  expect(answer).toMatchObject({ cStat: 128, results: [{ chave: draft.chave }] })
  const [result] = answer.results
  return { ...result!, kept: processedEvent(event, result!) }
}

async function sendCte(draft: Draft<CteEvent>, author = company.cnpj): Promise<Sent> {
  const [connection, certificate] = await as(author)
  const event = signCteEvent({ tpAmb: 2, at: new Date(), nSeqEvento: 1, cnpj: author, ...draft }, certificate)
  const url = cteEventUrl(simulatedEndpoints(simulator.origin), draft.chave)
  const result = await sendCteEvent(connection, { url, event })
  return { ...result, kept: processedEvent(event, result) }
}

async function advance(advanceMs: number): Promise<void> {
  const url = `${simulator.origin.replace('https:', 'http:')}/_control/clock`
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advanceMs }),
  })
}

/** Text of every character that the schemas take. */
const text = fc
  .string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code < 0x7f || code > 0xa0)
      .map((code) => String.fromCharCode(code)),
    minLength: 13,
    maxLength: 250,
  })
  .map((inner) => `<${inner}>`)

const take = (from: Document[]): Document => {
  const one = from.pop()
  if (one === undefined) throw new Error('too few generated documents')
  return one
}

describe('our events', () => {
  test('are registered whatever a person wrote', async () => {
    const freight = take(freights)
    let nSeqEvento = 0
    await fc.assert(
      fc.asyncProperty(text, text, async (first, second) => {
        nSeqEvento++
        const { chave } = take(notes)
        expect((await manifest({ chave, tpEvento: 210220, xJust: first })).cStat).toBe(135)
        expect((await manifest({ chave, tpEvento: 210240, xJust: second })).cStat).toBe(135)
        const desacordo = { chave: freight.chave, tpEvento: 610110, xObs: first, nSeqEvento } as const
        expect((await sendCte(desacordo)).cStat).toBe(135)
        const corrections = [{ grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado: second }]
        const correcao = { chave: freight.chave, tpEvento: 110110, corrections, nSeqEvento } as const
        expect((await sendCte(correcao, freight.issuer)).cStat).toBe(135)
      }),
      { numRuns: runs(8) },
    )
  })

  test('of the destinatário release the XML, but for the desconhecimento', async () => {
    for (const tpEvento of [210210, 210200, 210220, 210240] as const) {
      const { chave } = take(notes)
      const xJust = tpEvento === 210240 ? 'Mercadoria devolvida no recebimento' : undefined
      expect((await manifest({ chave, tpEvento, xJust })).cStat).toBe(135)
      const kinds = (await truthOf(simulator, company.cnpj))
        .filter((row) => row.chave === chave)
        .map(({ kind }) => kind)
      expect(kinds.slice(0, 2)).toEqual(tpEvento === 210220 ? ['summary'] : ['summary', 'document'])
    }
  })

  test('reach the other parties as we keep them', async () => {
    const [note, freight] = [take(notes), take(freights)]
    const other = { cnpj: freight.issuer, nome: 'TRANSPORTADORA', uf: 'SC' }
    const supplier = { cnpj: note.issuer, nome: 'FORNECEDOR', uf: 'SC' }
    // NSU are made only for who has asked before.
    expect([...(await askForAll(simulator, other)), ...(await askForAll(simulator, supplier))]).toEqual([])
    const kept = [
      (await manifest({ chave: note.chave, tpEvento: 210210 })).kept,
      (await manifest({ chave: note.chave, tpEvento: 210200 })).kept,
    ]
    const desacordo = { chave: freight.chave, tpEvento: 610110, xObs: 'Valor diverge da tabela' } as const
    const registered = await sendCte(desacordo)
    const withdrawal = { chave: freight.chave, tpEvento: 610111, nProtEvPrestDes: registered.protocol! } as const
    kept.push(registered.kept, (await sendCte(withdrawal)).kept)
    await advance(hourMs)
    const received = [...(await askForAll(simulator, supplier)), ...(await askForAll(simulator, other))]
    // The supplier may also be a party of the freight, and then gets its events too.
    const contents = new Set(received.map(({ content }) => gunzipSync(content).toString('utf8')))
    expect([...contents]).toEqual(kept)
  })

  test('end a CT-e of our own', async () => {
    const { chave, issuer, nProt } = take(freights)
    const cancelamento = { chave, tpEvento: 110111, nProt, xJust: 'Serviço de transporte não iniciado' } as const
    expect(await sendCte({ ...cancelamento, nProt: '141260000000000' }, issuer)).toMatchObject({ cStat: 222 })
    const { protocol } = await sendCte(cancelamento, issuer)
    expect(protocol).toMatch(/^1\d{14}$/)
    expect(await sendCte(cancelamento, issuer)).toMatchObject({ cStat: 631, protocol })
  })

  test('are refused for what is wrong with them', async () => {
    const [note, freight] = [take(notes), take(freights)]
    const { chave } = note
    expect((await manifest({ chave, tpEvento: 210210 }, company.cnpj, freight.issuer)).cStat).toBe(213)
    expect((await manifest({ chave, tpEvento: 210210 }, freight.issuer)).cStat).toBe(575)
    expect((await manifest({ chave, tpEvento: 210210, nSeqEvento: 2 })).cStat).toBe(594)
    const first = await manifest({ chave, tpEvento: 210200 })
    expect(await manifest({ chave, tpEvento: 210200 })).toMatchObject({ cStat: 573, protocol: first.protocol })
    expect((await manifest({ chave, tpEvento: 210210 })).cStat).toBe(655)
    const correcao = {
      chave: freight.chave,
      tpEvento: 110110,
      corrections: [{ grupoAlterado: 'ide', campoAlterado: 'serie', valorAlterado: '2' }],
    } as const
    expect((await sendCte(correcao)).cStat).toBe(632)
    expect((await sendCte(correcao, freight.issuer)).cStat).toBe(681)
    const desacordo = { chave: freight.chave, tpEvento: 610110, xObs: 'Valor diverge da tabela' } as const
    expect((await sendCte(desacordo, freight.issuer)).cStat).toBe(755)
  })
})
