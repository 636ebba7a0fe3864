import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { distDFeInt, nsu, paths, readResponse } from './client.testing.ts'
import {
  cteEvent,
  type EventBench,
  envEvento,
  nfeEvent,
  nfePath,
  openBench,
  readEventResponse,
} from './events.testing.ts'
import { cteCancellationDetail } from './generate/events.ts'

// Requests like those of sped-nfe and sped-cte: media type without spaces, actions that are not
// always those of the WSDL, an envelope with empty Header, and a redundant namespace declaration.

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const cnpj = '44555666000181'
let bench: EventBench
beforeAll(async () => {
  bench = await openBench({ xmlDelayMs: 60_000, responseMs: 1 })
  for (const service of ['nfe', 'cte']) await bench.test.publish(cnpj, 2, service)
})
afterAll(() => bench.test.stop())

const wsdl = (service: 'nfe' | 'cte', name: string) => `http://www.portalfiscal.inf.br/${service}/wsdl/${name}`
const headers = (action: string) => ({ 'Content-Type': `application/soap+xml;charset=utf-8;action="${action}"` })

function envelope(body: string, header = ''): string {
  const namespaces = [
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema"',
    'xmlns:soap="http://www.w3.org/2003/05/soap-envelope"',
  ]
  const head = header === '' ? '<soap:Header/>' : `<soap:Header>${header}</soap:Header>`
  return `<soap:Envelope ${namespaces.join(' ')}>${head}<soap:Body>${body}</soap:Body></soap:Envelope>`
}

it.each([
  ['sped-nfe', 'nfe', 'NFeDistribuicaoDFe', 'nfeDistDFeInteresse'],
  ['sped-cte', 'cte', 'CTeDistribuicaoDFe', 'CTeDistribuicaoDFe'],
] as const)('the distribution query of %s is answered', async (_, service, name, method) => {
  const xmlns = wsdl(service, name)
  const data = `<${service}DadosMsg xmlns="${xmlns}">${distDFeInt(service, { cnpj, ultNSU: 0 })}</${service}DadosMsg>`
  const operation = `${service}DistDFeInteresse`
  const body = envelope(`<${operation} xmlns="${xmlns}">${data}</${operation}>`)
  const response = await bench.client.post(paths[service], headers(`${xmlns}/${method}`), body)
  expect(readResponse(response.body)).toMatchObject({ cStat: '138', ultNSU: nsu(2), documents: { length: 2 } })
})

it('the Ciência of sped-nfe is registered, and the XML comes after the delay, by consChNFe at once', async () => {
  const { chave, recipient } = await bench.note()
  const author = recipient.cnpj
  const event = nfeEvent({ chave, author }, await bench.signer(author), bench.now())
  const xmlns = wsdl('nfe', 'NFeRecepcaoEvento4')
  const body = envelope(`<nfeDadosMsg xmlns="${xmlns}">${envEvento(event)}</nfeDadosMsg>`)
  const response = await bench.client.post(nfePath, headers(`${xmlns}/nfeRecepcaoEvento`), body)
  expect(readEventResponse(response).results[0]?.cStat).toBe('135')
  const own = async () => (await bench.truth(author)).filter((kind) => kind !== '210210')
  expect(await own()).toEqual(['summary'])
  const client = await bench.test.client(author)
  const asked = await client.ask('nfe', { cnpj: author, chNFe: chave })
  expect(asked.documents).toMatchObject([{ NSU: undefined, schema: 'procNFe_v4.00.xsd' }])
  await bench.advance(60_000)
  expect(await own()).toEqual(['summary', 'document'])
})

it('the event of sped-cte, with its number in three digits and a SOAP header, is registered', async () => {
  const cte = await bench.freight({ uf: 'MG' })
  const author = cte.carrier.cnpj
  const { detail } = cteCancellationDetail(cte.nProt)
  const order = { chave: cte.chave, author, tpEvento: 110111, nSeqEvento: '001', detail }
  const event = cteEvent(order, await bench.signer(author), bench.now())
  const xmlns = wsdl('cte', 'CTeRecepcaoEventoV4')
  const header = `<cteCabecMsg xmlns="${xmlns}"><cUF>31</cUF><versaoDados>4.00</versaoDados></cteCabecMsg>`
  const body = envelope(`<cteDadosMsg xmlns="${xmlns}">${event}</cteDadosMsg>`, header)
  const path = '/cte/services/CTeRecepcaoEventoV4'
  const response = await bench.client.post(path, headers(`${xmlns}/cteRecepcaoEvento`), body)
  expect(readEventResponse(response).results[0]?.cStat).toBe('135')
})
