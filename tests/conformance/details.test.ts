import { createHash } from 'node:crypto'
import type { DocumentDetail } from '@vigia/contract/documents'
import { XmlDocument } from 'libxml2-wasm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { order, type TruthRow, truthOf } from '../support/authority.ts'
import { type Client, type ListRow, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

// The panel and the file of every document that a capture brings, against the authority's own bytes and another reader of them.

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
let product: Product
let client: Client
let truth: TruthRow[]
let documents: Record<'nfe' | 'cte', ListRow[]>

beforeAll(async () => {
  const simulator = { seed: 23, documentsEach: 90, companies: [company] }
  product = await startProduct({ hourMs: 600_000, simulator })
  client = await newClient(product)
  await client.register(company.cnpj, company.nome)
  await client.captured({ timeoutMs: 50_000 })
  truth = await truthOf(product.simulator, company.cnpj)
  documents = { nfe: await client.list('TipoDFe=0'), cte: await client.list('TipoDFe=2') }
}, 120_000)
afterAll(() => product?.[Symbol.asyncDispose]())

const fetchXml = (idDfe: string) => client.call('GET', `/v1/api/DocumentosFiscais/xml/${idDfe}`)
async function fetchDetail(idDfe: string): Promise<DocumentDetail> {
  const { body } = await client.call<DocumentDetail>('GET', `/v1/api/DocumentosFiscais/detalhes/${idDfe}`)
  return body.data
}
const texts = (xml: Buffer, path: string) => {
  using document = XmlDocument.fromBuffer(xml)
  const steps = path.replace(/[A-Za-z]+/g, (name) => `*[local-name()='${name}']`)
  return document.find(`//${steps}`).map((node) => ('content' in node ? node.content : ''))
}
const reais = (text: string) =>
  new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }).format(Number(text))

test.each(['nfe', 'cte'] as const)('%s: the file is what the authority delivered, byte for byte', async (family) => {
  expect(documents[family].length).toBeGreaterThan(10)
  for (const { idDfe, chave, notaCompleta } of documents[family]) {
    const { status, bytes } = await fetchXml(idDfe)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const sent = truth.filter((row) => row.chave === chave && row.kind === (notaCompleta ? 'document' : 'summary'))
    expect([status, sent.map((row) => row.sha256)]).toEqual([200, expect.arrayContaining([sha256])])
  }
})

test.each(['nfe', 'cte'] as const)('%s: the panel says what another reader finds in the file', async (family) => {
  const kinds = new Set<boolean>()
  for (const { idDfe, notaCompleta, numero, emitente } of documents[family]) {
    const said = await fetchDetail(idDfe)
    const { bytes } = await fetchXml(idDfe)
    const facts = said.secoes.flatMap(({ campos }) => campos)
    const of = (label: string) => facts.find(({ rotulo }) => rotulo === label)?.valor
    expect(said.nome).toContain(`${numero.toLocaleString('pt-BR')} da ${emitente}`)
    const [total, label] = family === 'nfe' ? ['vNF', 'Total da nota'] : ['vTPrest', 'Total do serviço']
    expect(of(label)).toBe(reais(texts(bytes, total)[0]!))
    const lines = texts(bytes, family === 'nfe' ? 'det/prod/vProd' : 'vPrest/Comp/vComp')
    expect(said.itens.map(({ valor }) => valor)).toEqual(lines.map(Number))
    if (family === 'nfe' && notaCompleta) expect(of('Produtos')).toBe(reais(texts(bytes, 'ICMSTot/vProd')[0]!))
    const named = texts(bytes, family === 'nfe' ? 'NFref/refNFe' : 'infDoc/infNFe/chave')
    expect(said.relacionados.map(({ chave }) => chave)).toEqual(expect.arrayContaining(named))
    for (const { chave, idDfe } of said.relacionados) {
      const here = [...documents.nfe, ...documents.cte].find((row) => row.chave === chave)
      expect(idDfe).toBe(here?.idDfe ?? null)
    }
    expect(said.falta === null).toBe(notaCompleta)
    kinds.add(notaCompleta)
  }
  expect(kinds.size).toBe(family === 'nfe' ? 2 : 1)
})

test('what the authority delivers is proved, and a note altered after signing is here with its failure in sight', async () => {
  const shown = [...documents.nfe, ...documents.cte]
  expect(shown.filter(({ conferencia, notaCompleta }) => (conferencia?.confere ?? false) !== notaCompleta)).toEqual([])

  const another = '44555666000181'
  const note = documents.nfe.find(({ notaCompleta }) => notaCompleta)!
  const { bytes } = await fetchXml(note.idDfe)
  const xmlBase64 = Buffer.from(bytes.toString().replace(/<vNF>\d/, '<vNF>9')).toString('base64')
  await order(product.simulator, 'publish', { cnpj: another, service: 'nfe', schema: 'procNFe_v4.00.xsd', xmlBase64 })
  const idEmpresa = await client.register(another)
  await client.captured({ timeoutMs: 50_000 })
  const [altered] = await client.list(`TipoDFe=0&IdEmpresa=${idEmpresa}`)
  const texto = 'A assinatura digital não confere: o conteúdo foi alterado depois de assinado.'
  expect(altered).toMatchObject({ chave: note.chave, conferencia: { confere: false, texto } })
  expect((await fetchDetail(altered!.idDfe)).documento.conferencia).toEqual({ confere: false, texto })
  expect((await fetchDetail(note.idDfe)).documento.conferencia).toMatchObject({ confere: true })
})

test('the history holds every event that came, once', async () => {
  const events = truth.filter(({ kind }) => kind === 'event')
  const chaves = new Set(events.map(({ chave }) => chave))
  const happened = [...documents.nfe, ...documents.cte].filter(({ chave }) => chaves.has(chave))
  expect(happened.length).toBeGreaterThan(3)
  for (const { idDfe, chave } of happened) {
    const { historico } = await fetchDetail(idDfe)
    const codes = new Set(events.filter((event) => event.chave === chave).map((event) => event.tpEvento))
    const told = historico.flatMap(({ tpEvento, origem }) =>
      tpEvento !== null && origem === 'sefaz' ? [tpEvento] : [],
    )
    expect(new Set(told)).toEqual(codes)
    const times = historico.map(({ quando }) => quando)
    expect(times).toEqual([...times].sort().reverse())
  }
})
