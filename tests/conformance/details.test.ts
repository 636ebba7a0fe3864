import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DocumentDetail } from '@vigia/contract/documents'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { order, type TruthRow, truthOf } from '../support/authority.ts'
import { type Client, type ListRow, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { findSamples } from '../support/samples.ts'
import { readZip } from '../support/zip.ts'

// The file of every document that a capture brings, against the authority's own bytes.

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
test.each(['nfe', 'cte'] as const)('%s: the file is what the authority delivered, byte for byte', async (family) => {
  expect(documents[family].length).toBeGreaterThan(10)
  for (const { idDfe, chave, notaCompleta } of documents[family]) {
    const { status, bytes } = await fetchXml(idDfe)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const sent = truth.filter((row) => row.chave === chave && row.kind === (notaCompleta ? 'document' : 'summary'))
    expect([status, sent.map((row) => row.sha256)]).toEqual([200, expect.arrayContaining([sha256])])
  }
})

test('what the authority delivers is proved, and a note altered after signing is here with its failure in sight', async () => {
  const shown = [...documents.nfe, ...documents.cte]
  expect(shown.filter(({ conferencia, notaCompleta }) => (conferencia?.confere ?? false) !== notaCompleta)).toEqual([])

  const another = '44555666000181'
  const note = documents.nfe.find(({ notaCompleta }) => notaCompleta)!
  const { bytes } = await fetchXml(note.idDfe)
  const xmlBase64 = Buffer.from(bytes.toString().replace('<vNF>', '<vNF>1')).toString('base64')
  await order(product.simulator, 'publish', { cnpj: another, service: 'nfe', schema: 'procNFe_v4.00.xsd', xmlBase64 })
  const idEmpresa = await client.register(another)
  await client.captured({ timeoutMs: 50_000 })
  const [altered] = await client.list(`TipoDFe=0&IdEmpresa=${idEmpresa}`)
  const texto = 'A assinatura digital não confere: o conteúdo foi alterado depois de assinado.'
  expect(altered).toMatchObject({ chave: note.chave, conferencia: { confere: false, texto } })
  expect((await fetchDetail(altered!.idDfe)).documento.conferencia).toEqual({ confere: false, texto })
  expect((await fetchDetail(note.idDfe)).documento.conferencia).toMatchObject({ confere: true })
})

const proved = 'A assinatura digital, o protocolo e a chave de acesso conferem.'
const recoded =
  'Os bytes deste arquivo não estão em UTF-8, como deveriam: os acentos foram lidos como windows-1252, e o arquivo está guardado como chegou.'
const undefinedCode =
  'O arquivo traz um código que o XML não define, como &null;: ele foi lido assim mesmo, e o arquivo está guardado como chegou.'
// As the authority delivers them, in this order: the summary before its note.
const oddFiles: { file: string; schema?: string; numero: number; emitente: string; observacao?: string }[] = [
  {
    file: '01-answer-bytes-not-utf8/procNFe-declared-utf8',
    numero: 101,
    emitente: 'INDÚSTRIA DE PEÇAS FICTÍCIA LTDA',
    observacao: recoded,
  },
  {
    file: '01-answer-bytes-not-utf8/procNFe-undeclared',
    numero: 102,
    emitente: 'MÓVEIS FICTÍCIOS LTDA',
    observacao: recoded,
  },
  {
    file: '01-answer-bytes-not-utf8/procNFe-protocol-only',
    numero: 103,
    emitente: 'CAFÉ FICTÍCIO LTDA',
    observacao: recoded,
  },
  {
    file: '01-answer-bytes-not-utf8/resNFe-104',
    schema: 'resNFe_v1.01.xsd',
    numero: 104,
    emitente: 'CONFECÇÕES FICTÍCIAS LTDA',
  },
  {
    file: '01-answer-bytes-not-utf8/procNFe-104',
    numero: 104,
    emitente: 'CONFECÇÕES FICTÍCIAS LTDA',
    observacao: recoded,
  },
  {
    file: '02-undeclared-entity/procNFe-protNFe-signature',
    numero: 201,
    emitente: 'FORNECEDOR FICTICIO LTDA',
    observacao: undefinedCode,
  },
  { file: '03-signed-protocol/procNFe-protocol-first', numero: 301, emitente: 'FORNECEDOR FICTICIO LTDA' },
]

test.runIf(findSamples('cases'))(
  'odd files of the authority are listed, proved, printed and exported as they came',
  async () => {
    const cnpj = '99500001000162'
    const files = await Promise.all(
      oddFiles.map(async (one) => ({ ...one, bytes: await readFile(join(findSamples('cases')!, `${one.file}.xml`)) })),
    )
    for (const { schema = 'procNFe_v4.00.xsd', bytes } of files)
      await order(product.simulator, 'publish', { cnpj, service: 'nfe', schema, xmlBase64: bytes.toString('base64') })
    const IdEmpresa = await client.register(cnpj)
    await client.captured({ timeoutMs: 50_000 })
    const rows = await client.list(`TipoDFe=0&IdEmpresa=${IdEmpresa}`)
    const notes = files.filter(({ schema }) => schema === undefined)
    expect(rows.map(({ numero }) => numero).sort()).toEqual(notes.map(({ numero }) => numero))

    const asked = { filtro: { TipoDFe: 0, IdEmpresa } }
    const { body } = await client.call<{ endereco: string }>('POST', '/v1/api/DocumentosFiscais/exportar', asked)
    const exported = [...readZip((await client.call('GET', body.data.endereco)).bytes).values()]
    for (const { numero, emitente, observacao, bytes } of notes) {
      const row = rows.find((one) => one.numero === numero)!
      expect(row).toMatchObject({ emitente, notaCompleta: true, conferencia: { confere: true, texto: proved } })
      const { secoes, falta } = await fetchDetail(row.idDfe)
      expect(secoes.find(({ titulo }) => titulo === 'Arquivo')?.campos[0]?.valor).toBe(observacao)
      expect(falta).toBeNull()
      expect((await fetchXml(row.idDfe)).bytes.equals(bytes)).toBe(true)
      expect((await client.call('GET', `/v1/api/DocumentosFiscais/danfe/${row.idDfe}`)).status).toBe(200)
      expect(exported.some((one) => one.equals(bytes))).toBe(true)
    }
  },
)
