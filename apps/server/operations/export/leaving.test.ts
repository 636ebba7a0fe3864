import { type ExportItem, exportMax } from '@vigia/contract/document-files'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readZip } from '../../../../tests/support/zip.ts'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { showOnly } from '../../companies/testing.ts'
import { forgetExports } from '../../documents/export/keeping.ts'
import { arrive, chaveOf, corrupted, cteChaveOf, cteProc, evento, nfeProc, resNFe } from '../../documents/testing.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import { insertCompany, testSession } from '../../platform/testing.ts'
import { type Exports, openExports } from './testing.ts'

const exports = await openExports()
const { ctx, owner } = exports
let workspaceId: number
afterAll(() => exports[Symbol.asyncDispose]())
beforeEach(async () => {
  workspaceId = await exports.enter()
})
const { documents: filled } = exportMax
afterEach(() => {
  exportMax.documents = filled
  vi.useRealTimers()
})

const cnpj = '12ABC34501DE35'
const folder = `SOL (${cnpj})`

const store: Exports['store'] = (...about) => exports.store(...about)
const note = (number: number) => nfeProc({ number, recipient: cnpj })

const call: Exports['call'] = (...about) => exports.call(...about)
const download: Exports['download'] = (...about) => exports.download(...about)
const ask = (body: { pdf?: boolean } = {}) =>
  call<{ totalDeArquivos: number }>('POST', '/v1/api/DocumentosFiscais/sair-com-tudo', body)
const list = async () => (await call<ExportItem[]>('GET', '/v1/api/DocumentosFiscais/exportacoes')).body.data
const link = (id: string) => call<{ endereco: string }>('POST', `/v1/api/DocumentosFiscais/exportacoes/${id}/link`)

/** The files that are made of everything, in their order. */
async function made(): Promise<ExportItem[]> {
  await expect
    .poll(async () => new Set((await list()).map(({ situacao }) => situacao)), { timeout: 20_000 })
    .toEqual(new Set(['pronta']))
  return (await list()).reverse()
}

async function addressOf(): Promise<string> {
  const [file] = await made()
  return (await link(file!.id)).body.data.endereco
}

async function everything(body: { pdf?: boolean } = {}): Promise<Map<string, Buffer>> {
  const { status, body: answer } = await ask(body)
  expect(status, answer.message).toBe(200)
  return readZip((await download(await addressOf())).bytes)
}

async function receipts(): Promise<string[]> {
  const { rows } = await owner.query('select content from receipt where workspace_id = $1', [workspaceId])
  return rows.map(({ content }) => {
    try {
      return unzipDocument(content).toString('base64')
    } catch {
      return content.toString('base64')
    }
  })
}

describe('everything', () => {
  test('is each receipt byte for byte, also hidden, earlier and unreadable ones, with what stands around them', async () => {
    const { id } = await insertCompany(ctx.db, workspaceId, { cnpj, name: 'SOL' })
    await store(id, 'nfe', [
      arrive(1, resNFe({ number: 1 })),
      arrive(2, note(1)),
      arrive(3, evento(110111, { number: 1 })),
      arrive(4, evento(110110, { number: 9 })),
      arrive(5, resNFe({ number: 2 })),
      arrive(6, `<nfeProc>sem nota</nfeProc>`),
      corrupted(7),
    ])
    await store(id, 'cte', [arrive(1, cteProc({ payer: cnpj }))])
    await inWorkspace(ctx, workspaceId, ({ db }) => recordAudit({ db }, testSession(workspaceId), 'login', 'Entrou.'))
    await showOnly(ctx.db, workspaceId, { nfe: 0, companyId: id })
    await owner.query(
      `insert into webhook (workspace_id, url, kinds, secret, version) values ($1, 'https://a.example/', '{}', 'segredo', 0)`,
      [workspaceId],
    )
    const files = await everything({ pdf: true })
    const nsu = (n: number) => `NSU${String(n).padStart(15, '0')}`
    const [one, two, nine] = [1, 2, 9].map((number) => chaveOf({ number }))
    const month = `${folder}/2026-11`
    expect([...files.keys()].sort()).toEqual(
      [
        `${month}/NF-e/${one}-procNFe.xml`,
        `${month}/NF-e/${one}-DANFE.pdf`,
        `${month}/NF-e/Outras versões/${one}-resNFe-${nsu(1)}.xml`,
        `${month}/NF-e/Eventos/${one}-110111-1-${nsu(3)}.xml`,
        `${month}/NF-e/Eventos/${nine}-110110-1-${nsu(4)}.xml`,
        `${month}/NF-e/${two}-resNFe.xml`,
        `${folder}/Não lidos/NF-e-${nsu(6)}.xml`,
        `${folder}/Não lidos/NF-e-${nsu(7)}.xml.gz`,
        `${month}/CT-e/${cteChaveOf()}-procCTe.xml`,
        `${month}/CT-e/${cteChaveOf()}-DACTE.pdf`,
        'Planilhas/documentos-1.xlsx',
        'Auditoria/auditoria.csv',
        'Configurações/configuracoes.json',
        'LEIA-ME.txt',
      ].sort(),
    )
    const kept = [...files].filter(([name]) => /\.xml(\.gz)?$/.test(name)).map(([, bytes]) => bytes.toString('base64'))
    expect(kept.sort()).toEqual((await receipts()).sort())
    const text = files.get('LEIA-ME.txt')!.toString()
    for (const words of [
      '- 3 documentos em XML',
      '- Eventos: 2 XML',
      '- Outras versões: 1 XML',
      '2 arquivos que guard',
    ])
      expect(text).toContain(words)
    expect(text).toContain(`- ${folder}/Não lidos/NF-e-${nsu(7)}.xml.gz (`)
    const settings = files.get('Configurações/configuracoes.json')!.toString()
    expect(JSON.parse(settings)).toMatchObject({
      pessoas: [{ nome: exports.session.accountName }],
      empresas: [{ cnpj, mostraNFe: [] }],
      webhooks: [{ url: 'https://a.example/', empresas: 'todas' }],
    })
    expect(settings).not.toMatch(/segredo|password|secret/i)
    const audit = files.get('Auditoria/auditoria.csv')!.toString()
    expect(audit.trim().split('\r\n')).toHaveLength(3)
    expect(audit).toMatch(
      /"Entrou\."[\s\S]*Pediu o arquivo com tudo o que a conta guarda, com PDF: 8 arquivos recebidos/,
    )
    const sheet = readZip(files.get('Planilhas/documentos-1.xlsx')!).get('xl/worksheets/sheet1.xml')!.toString()
    for (const [name] of files) if (/proc(NFe|CTe)\.xml$/.test(name)) expect(sheet).toContain(name)
  })

  test('is in several files when one would be too long, and in one when there is nothing', async () => {
    const empty = await everything()
    expect([...empty.keys()]).toContain('Auditoria/auditoria.csv')
    const { id } = await insertCompany(ctx.db, workspaceId, { cnpj, name: 'SOL' })
    await store(
      id,
      'nfe',
      [1, 2, 3, 4].map((n) => arrive(n, note(n))),
    )
    await store(id, 'cte', [arrive(1, cteProc({ payer: cnpj })), arrive(2, cteProc({ number: 2, payer: cnpj }))])
    exportMax.documents = 2
    expect((await ask()).body.data).toEqual({ totalDeArquivos: 3, totalDeItens: 6 })
    const parts = await made()
    expect(parts.map(({ nome, total, feitos }) => [nome.slice(-12), total, feitos])).toEqual(
      [1, 2, 3].map((n) => [`(${n} de 3).zip`, 2, 2]),
    )
    const names = new Map<string, number>()
    for (const { id } of parts) {
      const { bytes } = await download((await link(id)).body.data.endereco)
      for (const name of readZip(bytes).keys()) names.set(name, (names.get(name) ?? 0) + 1)
    }
    // Together they are one thing: nothing is there twice, nor overwrites another.
    expect([...names.values()].every((times) => times === 1)).toBe(true)
    expect([...names.keys()].filter((name) => name.endsWith('.xml'))).toHaveLength(6)
    expect([...names.keys()].filter((name) => name.startsWith('Planilhas'))).toHaveLength(1)
    expect([...names.keys()].filter((name) => name.startsWith('LEIA-ME'))).toHaveLength(3)
  })

  test('is made while a deletion waits and after trial and plan have ended', async () => {
    await owner.query(
      `update workspace set erase_at = now() + interval '3 days', trial_until = now() - interval '9 days', paused_at = now() where id = $1`,
      [workspaceId],
    )
    expect((await everything()).size).toBeGreaterThan(2)
  })

  test('is listed for and given to a person of the workspace who proved it, and to no key', async () => {
    exports.session.provedLately = false
    expect(await ask()).toMatchObject({ status: 403 })
    exports.session.provedLately = true
    await ask()
    const [file] = await made()
    exports.session.provedLately = false
    expect(await link(file!.id)).toMatchObject({ status: 403 })
    exports.session.provedLately = true
    // A key.
    exports.session.scopes = ['exportar']
    expect(await list()).toEqual([])
    expect(await link(file!.id)).toMatchObject({ status: 404 })
    workspaceId = await exports.enter()
    expect(await link(file!.id)).toMatchObject({ status: 404 })
    expect(await list()).toEqual([])
  })

  test('is made one at a time, three times a day, replaces the last one, and stays three days', async () => {
    await exports.stopWorker()
    const answers = await Promise.all([ask(), ask()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await exports.startWorker()
    const [first] = await made()
    for (let time = 0; time < 2; time++) {
      expect(await ask()).toMatchObject({ status: 200 })
      await made()
    }
    expect(await list()).toHaveLength(1)
    expect((await list())[0]!.id).not.toBe(first!.id)
    expect(await ask()).toMatchObject({ status: 429 })
    const age = (hours: number) =>
      owner.query(
        `update document_export set requested_at = now() - $2 * interval '1 hour' where workspace_id = $1 and requested_at > '-infinity'`,
        [workspaceId, hours],
      )
    await age(71)
    await forgetExports(ctx)
    expect(await list()).toHaveLength(1)
    await age(73)
    await forgetExports(ctx)
    expect((await owner.query('select from document_export where workspace_id = $1', [workspaceId])).rows).toEqual([])
  })

  test('with PDFs of too many documents is refused, without them not', async () => {
    await owner.query(
      `insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount) values ($1, 0, '2025-01-01', 1, 2, 2, $2, 0)`,
      [workspaceId, exportMax.leavingPdf + 1],
    )
    expect(await ask({ pdf: true })).toMatchObject({ status: 409, body: { message: expect.stringMatching(/sem PDF/) } })
    expect(await ask()).toMatchObject({ status: 200 })
    await made()
  })

  test('ends with its workspace, and hinders nobody afterwards', async () => {
    const { id } = await insertCompany(ctx.db, workspaceId, { cnpj, name: 'SOL' })
    await store(id, 'nfe', [arrive(1, note(1))])
    const { promise, resolve } = Promise.withResolvers<void>()
    await exports.stopWorker()
    await exports.startWorker({
      printer: { ...ctx.printer, print: (...about) => promise.then(() => ctx.printer.print(...about)) },
    })
    await ask({ pdf: true })
    await expect.poll(async () => (await list())[0]?.situacao).toBe('em-andamento')
    const gone = workspaceId
    await owner.query("update workspace set erase_at = now() - interval '1 hour' where id = $1", [gone])
    const eraseSome = () =>
      asOperator(ctx, (operating) =>
        inWorkspace(operating, gone, ({ db }) =>
          sql<{ more: boolean }>`select erase_workspace(${gone}, 5000) as more`.execute(db),
        ),
      )
    while ((await eraseSome()).rows[0]!.more);
    resolve()
    workspaceId = await exports.enter()
    expect((await everything()).size).toBeGreaterThan(2)
    for (const table of ['document_export', 'export_part'])
      expect((await owner.query(`select from ${table} where workspace_id = $1`, [gone])).rows, table).toEqual([])
  })
})

describe('a download that was cut off', () => {
  const size = 3_000_000
  // Parts of different lengths, and none of them compresses to nothing on the way.
  const fill = async (times = 1) => {
    await owner.query('delete from export_part where workspace_id = $1', [workspaceId])
    await owner.query(
      `insert into export_part (workspace_id, export_id, n, content)
       select workspace_id, id, n, convert_to(repeat(md5(n::text), $2 * (array[31250, 40000, 22500])[n + 1]), 'UTF8')
         from document_export, generate_series(0, 2) n where workspace_id = $1`,
      [workspaceId, times],
    )
    await owner.query('update document_export set bytes = $2, parts = 3 where workspace_id = $1', [
      workspaceId,
      times * size,
    ])
  }
  let address: string
  let tag: string
  let bytes: Buffer
  beforeEach(async () => {
    await ask()
    address = await addressOf()
    await fill()
    const first = await download(address)
    bytes = first.bytes
    tag = first.headers.get('etag')!
    expect([first.status, bytes.length, first.headers.get('content-length')]).toEqual([200, size, String(size)])
  })

  test('goes on from any byte, long after the link has ended, for who has the beginning', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 5 * 3_600_000)
    for (const from of [1, 999_999, 1_000_000, 2_280_000, size - 1]) {
      const rest = await download(address, { range: `bytes=${from}-`, 'if-range': tag })
      expect([rest.status, rest.headers.get('content-range')]).toEqual([206, `bytes ${from}-${size - 1}/${size}`])
      expect(rest.bytes.equals(bytes.subarray(from)), String(from)).toBe(true)
    }
    expect(await download(address, { range: `bytes=${size}-`, 'if-range': tag })).toMatchObject({ status: 416 })
    const others: Record<string, string>[] = [{}, { 'if-range': '"another"' }, { 'if-match': `W/${tag}` }]
    for (const headers of others)
      expect(await download(address, { range: 'bytes=5-', ...headers })).toMatchObject({ status: 410 })
  })

  test('goes on with a new link too, at once', async () => {
    const [file] = await list()
    const another = (await link(file!.id)).body.data.endereco
    expect(await download(another, { range: 'bytes=7-' })).toMatchObject({ status: 206 })
    for (let time = 0; time < 4; time++)
      expect(await download(another, { range: 'bytes=7-', 'if-range': tag })).toMatchObject({ status: 206 })
    // The server may not have noticed that the first connection is dead.
    // More than a connection takes at once.
    await fill(12)
    await expect.poll(async () => (await fetch(exports.url + another, { method: 'HEAD' })).status).toBe(200)
    const stuck = await fetch(exports.url + another)
    expect(stuck.status).toBe(200)
    expect(await download(another, { range: 'bytes=7-', 'if-range': tag })).toMatchObject({ status: 206 })
    await expect(stuck.arrayBuffer()).rejects.toThrow()
  })

  test('goes on for nobody who only asks whether it is there', async () => {
    const response = await fetch(exports.url + address, { method: 'HEAD' })
    expect([response.status, response.headers.get('etag')]).toEqual([200, null])
  })

  test('begins anew when the file was made anew, instead of joining halves of two', async () => {
    await owner.query('delete from export_part where workspace_id = $1', [workspaceId])
    const again = await download(address, { range: 'bytes=7-', 'if-range': tag })
    expect(again.status).toBe(200)
    expect(readZip(again.bytes).has('LEIA-ME.txt')).toBe(true)
    const after = await download(address, { range: 'bytes=7-', 'if-range': tag })
    expect(after.status).toBe(200)
    expect(after.headers.get('etag')).not.toBe(tag)
  })
})
