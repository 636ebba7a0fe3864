import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { XmlDocument, type XmlElement } from 'libxml2-wasm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateArchive } from '../support/archive.ts'
import { callsOf, control, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { grantUnlimited, type Product, startProduct } from '../support/product.ts'
import { findSamples } from '../support/samples.ts'

// Every archived document must reach the companies that it names, exactly once and as it says. What it says is read here with
// another XML library and by the layout's paths, not by the product's reader.

interface Expected {
  numero: number
  emitente: string
  valor: number
  dataEmissao: string
  roles: Map<string, number[]>
}

const types = [
  ['nfe', 0],
  ['cte', 2],
] as const
const companiesMax = 36
const stack = new AsyncDisposableStack()
let product: Product
let client: Client
const companies = new Map<string, string>()
const facts = new Map<string, Expected>()
// The ator interessado of an event 110150 is the carrier of a note that does not name him.
const admitted: [chave: string, reader: string][] = []

beforeAll(async () => {
  const archive = findSamples() ?? (await generatedArchive())
  // An hour longer than this file runs: no company is queried twice in it.
  product = stack.use(await startProduct({ hourMs: 600_000, simulator: { seed: 7, archive, archiveAnswered: true } }))
  const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
  client = await newClient(product, account)
  await grantUnlimited(product, account.email)
  for (const file of await xmlFiles(archive)) await readFacts(file)
  for (const [chave, reader] of admitted) facts.get(chave)?.roles.set(reader, [2])
  const state = await control<{ sequences: { cnpj: string }[] }>(product.simulator, 'state')
  const known = [...new Set(state.sequences.map(({ cnpj }) => cnpj))].filter((id) => id.length === 14).sort()
  // Evenly over all, so that every kind of document has its company.
  const step = Math.max(1, known.length / companiesMax)
  const chosen = Array.from(
    { length: Math.min(companiesMax, known.length) },
    (_, index) => known[Math.floor(index * step)]!,
  )
  for (const cnpj of chosen) companies.set(cnpj, await client.register(cnpj))
  await client.captured({ timeoutMs: 200_000 })
}, 300_000)

afterAll(() => stack.disposeAsync())

const listAll = (id: string, type: number, by = client) => by.list(`TipoDFe=${type}&IdEmpresa=${id}`)

describe('every company', () => {
  test('has exactly the documents that the authority holds for it', async () => {
    const compared = { nfe: 0, cte: 0 }
    for (const [cnpj, id] of companies) {
      const truth = await truthOf(product.simulator, cnpj)
      for (const [service, type] of types) {
        const held = truth
          .filter((row) => row.service === service && (row.kind === 'document' || row.kind === 'summary'))
          .map((row) => row.chave!)
        const rows = await listAll(id, type)
        expect(rows.map((row) => row.chave).sort(), `${cnpj} ${service}`).toEqual([...new Set(held)].sort())
        compared[service] += rows.length
      }
    }
    expect(companies.size).toBeGreaterThan(1)
    expect(compared.nfe).toBeGreaterThan(10)
    expect(compared.cte).toBeGreaterThan(10)
  })

  test('was never asked about too often', async () => {
    for (const cnpj of companies.keys()) {
      const calls = await callsOf(product.simulator, cnpj)
      expect(calls.length, cnpj).toBeGreaterThan(1)
      expect(
        calls.filter((call) => call.cStat === 656),
        cnpj,
      ).toEqual([])
    }
  })

  test('sees in the list what the documents say', async () => {
    const compared = { nfe: 0, cte: 0 }
    for (const [cnpj, id] of companies) {
      for (const [service, type] of types) {
        for (const row of await listAll(id, type)) {
          const expected = facts.get(row.chave)
          if (!expected) continue
          compared[service]++
          const { roles, ...fields } = expected
          expect(
            { numero: row.numero, emitente: row.emitente, valor: row.valor, dataEmissao: row.dataEmissao },
            row.chave,
          ).toEqual(fields)
          // Precedence of docs/decisions: who may act comes before who only reads.
          const order = type === 0 ? [0, 1, 2, 3] : [0, 7, 4, 1, 5, 6, 3]
          const mine = roles.get(cnpj) ?? []
          expect(row.tipoParticipacao, `${row.chave} of ${cnpj}`).toBe(order.find((role) => mine.includes(role)) ?? 3)
        }
      }
    }
    expect(compared.nfe).toBeGreaterThan(10)
    expect(compared.cte).toBeGreaterThan(10)
  })
})

test('cancelled documents are shown as cancelled', async () => {
  let compared = 0
  for (const [cnpj, id] of companies) {
    const cancelled = (await truthOf(product.simulator, cnpj))
      .filter((row) => row.tpEvento === 110111)
      .map((row) => row.chave)
    for (const row of [...(await listAll(id, 0)), ...(await listAll(id, 2))]) {
      if (!cancelled.includes(row.chave)) continue
      compared++
      expect(row.status, row.chave).toEqual({ codigoEvento: 110111, descricaoEvento: 'Cancelamento' })
    }
  }
  expect(compared).toBeGreaterThan(0)
})

test('a second workspace with the same certificate gets everything without another question', async () => {
  const all = async (id: string, by = client) =>
    [...(await listAll(id, 0, by)), ...(await listAll(id, 2, by))].map((row) => row.chave).sort()
  // Takes the company with the most documents.
  const held = await Promise.all([...companies].map(async ([cnpj, id]) => ({ cnpj, id, chaves: await all(id) })))
  const { cnpj, id, chaves } = held.sort((a, b) => b.chaves.length - a.chaves.length)[0]!
  expect(chaves.length).toBeGreaterThan(0)
  const before = await callsOf(product.simulator, cnpj)
  const other = await newClient(product)
  const otherId = await other.register(cnpj)
  await expect.poll(() => all(otherId, other), { timeout: 20_000 }).toEqual(chaves)
  expect(await callsOf(product.simulator, cnpj)).toEqual(before)
  expect((await other.call('GET', `/v1/api/DocumentosFiscais?TipoDFe=0&IdEmpresa=${id}`)).status).toBe(404)
})

async function generatedArchive(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vigia-archive-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await generateArchive(folder)
  return folder
}

async function xmlFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.xml'))
  return files.map((entry) => join(entry.parentPath, entry.name)).sort()
}

async function readFacts(file: string): Promise<void> {
  let document: XmlDocument
  try {
    document = XmlDocument.fromBuffer(await readFile(file))
  } catch {
    // Some samples are broken on purpose.
    return
  }
  try {
    const { root } = document
    const reader = textAt(root, "//*[local-name()='detEvento']/*[local-name()='autXML']/*")
    if (reader) admitted.push([textAt(root, "//*[local-name()='infEvento']/*[local-name()='chNFe']") ?? '', reader])
    const expected = readExpected(document.root)
    if (expected) facts.set(expected[0], expected[1])
  } finally {
    document.dispose()
  }
}

function textAt(root: XmlElement, xpath: string): string | undefined {
  return (root.get(xpath) as { content?: string } | null)?.content?.trim() || undefined
}

function readExpected(root: XmlElement): [string, Expected] | null {
  const get = (path: string) => textAt(root, path.replace(/([A-Za-z0-9]+)(?=\/|$|\[)/g, "*[local-name()='$1']"))
  const inf = root.get("//*[local-name()='infNFe' or local-name()='infCte']") as XmlElement | null
  const chave = inf?.attr('Id')?.value.slice(3)
  if (!inf || !chave || chave.length !== 44) return null
  const at = (path: string) => get(`//${inf.name}/${path}`)
  const isCte = inf.name === 'infCte'
  const roles = new Map<string, number[]>()
  const add = (taxId: string | undefined, role: number) => {
    if (taxId && !/^0+$/.test(taxId)) roles.set(taxId, [...(roles.get(taxId) ?? []), role])
  }
  const taxIdOf = (party: string) => at(`${party}/CNPJ`) ?? at(`${party}/CPF`)
  add(taxIdOf('emit'), 0)
  add(taxIdOf('dest'), 1)
  if (!isCte) add(taxIdOf('transp/transporta'), 2)
  for (const reader of root.find("//*[local-name()='autXML']/*")) add((reader as { content: string }).content.trim(), 3)
  if (isCte) {
    add(taxIdOf('rem'), 4)
    add(taxIdOf('exped'), 5)
    add(taxIdOf('receb'), 6)
    const code = at('ide/toma3/toma') ?? at('ide/toma03/toma')
    if (root.name === 'GTVeProc') add(taxIdOf(at('ide/toma/toma') === '0' ? 'rem' : 'dest'), 7)
    else if (code !== undefined) add(taxIdOf(['rem', 'exped', 'receb', 'dest'][Number(code)]!), 7)
    else add(taxIdOf('ide/toma4') ?? taxIdOf('toma'), 7)
  }
  const date = at('ide/dhEmi') ?? at('ide/dEmi') ?? ''
  return [
    chave,
    {
      numero: Number(at(isCte ? 'ide/nCT' : 'ide/nNF')),
      emitente: at('emit/xNome') ?? '',
      valor: Number(isCte ? (at('vPrest/vTPrest') ?? at('total/vTPrest') ?? 0) : at('total/ICMSTot/vNF')),
      dataEmissao: date.length === 10 ? `${date}T00:00:00` : date,
      roles,
    },
  ]
}
