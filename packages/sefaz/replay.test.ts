import { existsSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connection, connect } from './connection.ts'
import { queryDistribution, unzipDocument } from './distribution.ts'
import { cteEventUrl, simulatedEndpoints } from './endpoints.ts'
import { sendCteEvent, sendManifestations, signCteEvent, signManifestation } from './events.ts'
import { issue, newKey, serve, type TestServer } from './testing.ts'

// The responses that are printed in the manuals: nothing of them is missed.

const folder = fileURLToPath(new URL('../../../shared/reference/sefaz/', import.meta.url))
const read = (name: string) => (existsSync(folder) ? readFileSync(`${folder}${name}.md`, 'utf8') : '')
const blocks = ['exemplos', 'distribuicao', 'eventos']
  .flatMap((name) => [...read(name).matchAll(/```xml\n([\s\S]*?)\n```/g)])
  .map(([, xml = '']) => xml)
const having = (root: string) => blocks.filter((xml) => new RegExp(`^<(?:soap:)?${root}[ >]`).test(xml))
const inside = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1]

const root = issue({ commonName: 'AC de Teste', authority: true, key: newKey() })
const key = newKey()
const server = issue({ commonName: 'localhost', hosts: ['localhost'], issuer: root, key })
const company = issue({ commonName: 'EMPRESA DESTINATARIA LTDA:44555666000181', issuer: root, key })
let peer: TestServer
let connection: Connection
let respond: (response: ServerResponse) => void

beforeAll(async () => {
  peer = await serve({ server, clientAuthorities: [root] }, (_request, _body, response) => {
    respond(response)
  })
  connection = connect({ ...company, chain: [] }, { ca: [root.certificate] })
})
afterAll(async () => {
  connection.close()
  await peer[Symbol.asyncDispose]()
})

const respondWith = (body: string, status = 200) => {
  respond = (response) => response.writeHead(status, { 'content-type': 'application/soap+xml' }).end(body)
}
const enveloped = (result: string) =>
  `<soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><resultado>${result}</resultado></soap:Body></soap:Envelope>`

const chave = '35260811222333000181550010000123451876543214'
const chCTe = '41260877888999000181570010000098761135724684'
const author = { tpAmb: 2, cnpj: '44555666000181', nSeqEvento: 1 } as const
const ciencia = { ...author, chave, tpEvento: 210210, at: new Date('2026-08-11T11:30:00Z') } as const
const desacordo = {
  ...author,
  chave: chCTe,
  tpEvento: 610110,
  at: new Date('2026-08-12T12:00:00Z'),
  xObs: 'Valor do frete cobrado diverge da tabela contratada',
} as const

const manifest = (idLote: string) => {
  const url = simulatedEndpoints(peer.origin).manifestation
  return sendManifestations(connection, { url, idLote, events: [signManifestation(ciencia, company)] })
}
const disagree = () => {
  const url = cteEventUrl(simulatedEndpoints(peer.origin), chCTe)
  return sendCteEvent(connection, { url, event: signCteEvent(desacordo, company) })
}
const ask = (service: 'nfe' | 'cte', query: { ultNSU: string } | { NSU: string } | { chNFe: string }) => {
  const url = simulatedEndpoints(peer.origin).distribution[service]
  return queryDistribution(connection, { service, url, tpAmb: 1, cUFAutor: 42, cnpj: author.cnpj, query })
}

describe.runIf(blocks.length > 0)('the printed exchanges', () => {
  test('there are as many as we know of', () => {
    expect(['retDistDFeInt', 'retEnvEvento', 'retEventoCTe', 'Envelope'].map((name) => having(name).length)).toEqual([
      3, 3, 1, 4,
    ])
  })

  test('every response of the distribution is read', async () => {
    for (const xml of having('retDistDFeInt')) {
      respondWith(enveloped(xml))
      const got = await ask('nfe', { ultNSU: '157' })
      const told = ['xMotivo', 'dhResp', 'ultNSU', 'maxNSU'].map((name) => [name, inside(xml, name)])
      expect(got).toMatchObject({ cStat: Number(inside(xml, 'cStat')), ...Object.fromEntries(told) })
      expect(got.documents.length).toBe(xml.split('<docZip').length - 1)
      // The printed docZip holds the printed summary.
      for (const { content } of got.documents) {
        expect(blocks).toContain(
          unzipDocument(content)
            .toString('utf8')
            .replace(/^\ufeff/, ''),
        )
      }
    }
  })

  test('every response to a lote is read', async () => {
    for (const xml of having('retEnvEvento')) {
      respondWith(enveloped(xml))
      const { cStat, results } = await manifest(inside(xml, 'idLote')!)
      expect(cStat).toBe(Number(inside(xml, 'cStat')))
      const ret = /<retEvento .*<\/retEvento>/.exec(xml)?.[0]
      expect(results.map((result) => result.xml)).toEqual(ret === undefined ? [] : [ret])
      if (ret === undefined) continue
      expect(results).toMatchObject([{ chave, cStat: Number(inside(ret, 'cStat')), xMotivo: inside(ret, 'xMotivo') }])
      expect(results[0]?.protocol).toBe(inside(ret, 'nProt'))
    }
  })

  test('every response of an authoriser of CT-e is read', async () => {
    const whole = having('Envelope').filter((xml) => xml.includes('retEventoCTe'))
    for (const xml of [...whole, ...having('retEventoCTe').map(enveloped)]) {
      respondWith(xml)
      expect(await disagree()).toMatchObject({
        chave: chCTe,
        cStat: Number(inside(xml, 'cStat')),
        xMotivo: inside(xml, 'xMotivo'),
        xml: /<retEventoCTe.*<\/retEventoCTe>/.exec(xml)?.[0],
      })
    }
  })

  test('every fault is one', async () => {
    const faults = having('Envelope').filter((xml) => xml.includes('<soap:Fault>'))
    expect(faults).toHaveLength(2)
    for (const xml of faults) {
      respondWith(xml, 500)
      const detail = (inside(xml, 'faultstring') ?? /<soap:Text[^>]*>([^<]*)/.exec(xml)?.[1])!
      await expect(ask('nfe', { ultNSU: '0' })).rejects.toMatchObject({ kind: 'fault', detail })
      await expect(disagree()).rejects.toMatchObject({ kind: 'fault', detail })
    }
  })
})
