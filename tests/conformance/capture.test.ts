import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { XmlDocument, type XmlElement } from 'libxml2-wasm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import { findSamples } from '../support/samples.ts'

// Every archived document must reach the companies that it names, exactly once and as it says. What it says is read here with
// another XML library and by the layout's paths, not by the product's reader.

interface TruthRow {
  service: 'nfe' | 'cte'
  nsu: string
  kind: string
  chave?: string
}
interface ListRow {
  numero: number
  emitente: string
  chave: string
  valor: number
  dataEmissao: string
  tipoParticipacao: number
  notaCompleta: boolean
  status: { codigoEvento: number; descricaoEvento: string }
}
interface CompanyRow {
  ultimaSincronizacaoNFe: string | null
  ultimaSincronizacaoCTe: string | null
  captura: { ultimoNsu: string; maxNsu: string }[]
}
interface Expected {
  numero: number
  emitente: string
  valor: number
  dataEmissao: string
  roles: Map<string, number[]>
}

const samples = findSamples()
const companiesMax = 60
let product: Product
let token: string
const companies = new Map<string, string>()
const facts = new Map<string, Expected>()

beforeAll(async () => {
  product = await startProduct({
    simulator: samples
      ? { seed: 7, archive: samples, archiveAnswered: true }
      : {
          seed: 7,
          companies: [
            { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' },
            { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' },
          ],
        },
  })
  token = await signUp('ana@exemplo.com.br')
  if (samples) {
    await readFacts(samples)
    await readAdmissions(samples)
  }
  const state = (await control('state')) as { sequences: { service: string; taxId?: string; cnpj?: string }[] }
  const known = [...new Set(state.sequences.map((sequence) => sequence.taxId ?? sequence.cnpj ?? ''))]
    .filter((id) => id.length === 14)
    .sort()
  // Evenly over all, so that every kind of document has its company.
  const step = Math.max(1, known.length / companiesMax)
  const chosen = Array.from(
    { length: Math.min(companiesMax, known.length) },
    (_, index) => known[Math.floor(index * step)]!,
  )
  for (const cnpj of chosen) companies.set(cnpj, await register(token, cnpj))
  await settled()
}, 300_000)

afterAll(() => product?.[Symbol.asyncDispose]())

describe('every company', () => {
  test('has exactly the documents that the authority holds for it', async () => {
    expect(companies.size).toBeGreaterThan(1)
    for (const [cnpj, id] of companies) {
      const truth = await truthOf(cnpj)
      for (const [service, type] of [
        ['nfe', 0],
        ['cte', 2],
      ] as const) {
        const held = truth
          .filter((row) => row.service === service && (row.kind === 'document' || row.kind === 'summary'))
          .map((row) => row.chave!)
        const rows = await listAll(id, type)
        expect(rows.map((row) => row.chave).sort(), `${cnpj} ${service}`).toEqual([...new Set(held)].sort())
      }
    }
  })

  test('was never asked about too often', async () => {
    for (const cnpj of companies.keys()) {
      const { calls } = (await control(`calls?cnpj=${cnpj}`)) as { calls: { cStat: number }[] }
      expect(
        calls.filter((call) => call.cStat === 656),
        cnpj,
      ).toEqual([])
    }
  })

  test('sees in the list what the documents say', async () => {
    let compared = 0
    for (const [cnpj, id] of companies) {
      for (const type of [0, 2]) {
        for (const row of await listAll(id, type)) {
          const expected = facts.get(row.chave)
          if (!expected) continue
          compared++
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
    if (samples) expect(compared).toBeGreaterThan(60)
  })
})

test('cancelled notes are shown as cancelled', async () => {
  for (const [cnpj, id] of companies) {
    const cancelled = (await truthOf(cnpj))
      .filter((row) => (row as { tpEvento?: number | string }).tpEvento?.toString() === '110111')
      .map((row) => row.chave)
    for (const row of [...(await listAll(id, 0)), ...(await listAll(id, 2))]) {
      if (cancelled.includes(row.chave))
        expect(row.status, row.chave).toEqual({ codigoEvento: 110111, descricaoEvento: 'Cancelamento' })
    }
  }
})

test('every complete document prints', async () => {
  const headers = { authorization: `Bearer ${token}` }
  for (const id of companies.values()) {
    for (const [type, form] of [
      [0, 'danfe'],
      [2, 'dacte'],
    ] as const) {
      for (const row of (await listAll(id, type)) as (ListRow & { idDfe: string })[]) {
        const response = await fetch(`${product.url}/v1/api/DocumentosFiscais/${form}/${row.idDfe}`, { headers })
        expect(response.status, row.chave).toBe(row.notaCompleta ? 200 : 409)
        if (row.notaCompleta)
          expect(
            Buffer.from(await response.arrayBuffer())
              .subarray(0, 5)
              .toString('latin1'),
            row.chave,
          ).toBe('%PDF-')
      }
    }
  }
}, 120_000)

test('a second workspace with the same certificate gets everything without another question', async () => {
  const [cnpj] = [...companies.keys()]
  const before = ((await control(`calls?cnpj=${cnpj}`)) as { calls: unknown[] }).calls.length
  const other = await signUp('bia@exemplo.com.br')
  const id = await register(other, cnpj!)
  const mine = [...(await listAll(companies.get(cnpj!)!, 0)), ...(await listAll(companies.get(cnpj!)!, 2))]
  await expect
    .poll(
      async () => [...(await listAll(id, 0, other)), ...(await listAll(id, 2, other))].map((row) => row.chave).sort(),
      { timeout: 20_000 },
    )
    .toEqual(mine.map((row) => row.chave).sort())
  expect(((await control(`calls?cnpj=${cnpj}`)) as { calls: unknown[] }).calls.length).toBe(before)
  expect(
    (
      await fetch(`${product.url}/v1/api/DocumentosFiscais?TipoDFe=0&IdEmpresa=${companies.get(cnpj!)}`, {
        headers: { authorization: `Bearer ${other}` },
      })
    ).status,
  ).toBe(404)
})

async function signUp(email: string): Promise<string> {
  const post = (path: string, body: object) =>
    fetch(product.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  await post('/v1/api/Usuarios', { nome: 'Ana', email, senha: 'segredo1' })
  const response = await post('/v1/api/Auth', { email, senha: 'segredo1' })
  return ((await response.json()) as { data: { token: string } }).data.token
}

async function register(token: string, cnpj: string): Promise<string> {
  const form = new FormData()
  form.append(
    'Certificado',
    new File(
      [new Uint8Array(await product.simulator.issueCertificate({ cnpj, nome: `EMPRESA ${cnpj}`, senha: 'segredo' }))],
      'a.pfx',
    ),
  )
  form.append('Senha', 'segredo')
  const response = await fetch(`${product.url}/v1/api/Empresas`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${token}` },
  })
  const envelope = (await response.json()) as { message: string; data: { idEmpresa: string } | null }
  if (!envelope.data) throw new Error(`${cnpj}: ${envelope.message}`)
  return envelope.data.idEmpresa
}

async function settled(): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  await vi.waitFor(
    async () => {
      const response = await fetch(`${product.url}/v1/api/Empresas/obter-empresas`, { headers })
      const { data } = (await response.json()) as { data: CompanyRow[] }
      const waiting = data.filter(
        (row) =>
          !row.ultimaSincronizacaoNFe ||
          !row.ultimaSincronizacaoCTe ||
          row.captura.some((line) => line.ultimoNsu !== line.maxNsu),
      )
      expect(waiting).toEqual([])
    },
    { timeout: 150_000, interval: 300 },
  )
}

async function listAll(id: string, type: number, by = token): Promise<ListRow[]> {
  const rows: ListRow[] = []
  for (let page = 1; ; page++) {
    const response = await fetch(
      `${product.url}/v1/api/DocumentosFiscais?TipoDFe=${type}&IdEmpresa=${id}&PaginaAtual=${page}`,
      { headers: { authorization: `Bearer ${by}` } },
    )
    const { data } = (await response.json()) as { data: { items: ListRow[]; totalDePaginas: number } }
    rows.push(...data.items)
    if (page >= data.totalDePaginas) return rows
  }
}

async function control(path: string): Promise<unknown> {
  const response = await fetch(`${product.simulator.origin.replace('https:', 'http:')}/_control/${path}`)
  return response.json()
}

const truthOf = async (cnpj: string) => ((await control(`truth?cnpj=${cnpj}`)) as { documents: TruthRow[] }).documents

// The ator interessado of an event 110150 is the carrier of a note that does not name him.
async function readAdmissions(root: string): Promise<void> {
  for (const name of (await readdir(join(root, 'eventos'))).filter((file) => file.includes('110150'))) {
    using document = XmlDocument.fromBuffer(await readFile(join(root, 'eventos', name)))
    const chave = document.root.get("//*[local-name()='infEvento']/*[local-name()='chNFe']") as { content: string }
    const reader = document.root.get("//*[local-name()='detEvento']/*[local-name()='autXML']/*") as { content: string }
    facts.get(chave.content)?.roles.set(reader.content, [2])
  }
}

async function readFacts(root: string): Promise<void> {
  for (const folder of ['nfe', 'cte', 'invalidos']) {
    for (const name of (await readdir(join(root, folder))).filter((file) => file.endsWith('.xml'))) {
      const bytes = await readFile(join(root, folder, name))
      let document: XmlDocument
      try {
        document = XmlDocument.fromBuffer(bytes)
      } catch {
        continue
      }
      try {
        const expected = readExpected(document.root)
        if (expected) facts.set(expected[0], expected[1])
      } finally {
        document.dispose()
      }
    }
  }
}

function readExpected(root: XmlElement): [string, Expected] | null {
  const get = (path: string) =>
    (
      root.get(path.replace(/([A-Za-z0-9]+)(?=\/|$|\[)/g, "*[local-name()='$1']")) as { content?: string } | null
    )?.content?.trim() || undefined
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
