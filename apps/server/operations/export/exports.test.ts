import { setTimeout } from 'node:timers/promises'
import { type ExportItem, exportMax } from '@vigia/contract/document-files'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { onOneServer } from '../../../../tests/support/database.ts'
import { readZip } from '../../../../tests/support/zip.ts'
import { showOnly } from '../../companies/testing.ts'
import { readConfig } from '../../config.ts'
import { zip } from '../../documents/export/archive.ts'
import { exportFiles } from '../../documents/export/files.ts'
import { forgetExports, queueExport } from '../../documents/export/keeping.ts'
import { readInBatches } from '../../documents/export/rows.ts'
import { newTally } from '../../documents/export/texts.ts'
import { createPrinter } from '../../documents/print/printer.ts'
import { arrive, chaveOf, cteChaveOf, cteProc, evento, nfce, nfeProc, resNFe } from '../../documents/testing.ts'
import type { Context } from '../../platform/context.ts'
import { asOperator, inWorkspace, openDatabase } from '../../platform/database.ts'
import { roomyStorage } from '../../platform/testing.ts'
import { createVault } from '../../platform/vault.ts'
import { type Exports, openExports } from './testing.ts'

const exports = await openExports()
const { ctx, owner, url } = exports
let workspaceId: number
afterAll(() => exports[Symbol.asyncDispose]())
beforeEach(async () => {
  workspaceId = await exports.enter()
})
afterEach(() => void vi.useRealTimers())

const cnpj = '12ABC34501DE35'
const stranger = '11222333000181'

async function newCompany(name: string, of = cnpj): Promise<{ id: number; publicId: string }> {
  return inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj: of, name, search: name.toLowerCase(), uf: 35 })
      .returning(['id', 'public_id as publicId'])
      .executeTakeFirstOrThrow(),
  )
}

const store: Exports['store'] = (...about) => exports.store(...about)
const note = (number: number, more = {}) => nfeProc({ number, recipient: cnpj, ...more })

const ask = (body: object) => exports.call<{ endereco: string }>('POST', '/v1/api/DocumentosFiscais/exportar', body)
const call: Exports['call'] = (...about) => exports.call(...about)
const download: Exports['download'] = (...about) => exports.download(...about)

async function linkOf(body: object): Promise<string> {
  const answer = await ask(body)
  expect(answer, answer.body.message).toMatchObject({ status: 200 })
  return answer.body.data.endereco
}

async function exported(body: object): Promise<Map<string, Buffer>> {
  return readZip((await download(await linkOf(body))).bytes)
}

const textOf = (files: Map<string, Buffer>) => files.get('leia-me.txt')!.toString('utf8')

// Cells of the sheet row by row: text as text, numbers as numbers.
function cellsOf(files: Map<string, Buffer>): (string | number)[][] {
  const xml = readZip(files.get('planilha.xlsx')!).get('xl/worksheets/sheet1.xml')!.toString('utf8')
  return [...xml.matchAll(/<row r="\d+">(.*?)<\/row>/gs)].map(([, row]) =>
    [
      ...row!.matchAll(
        /<c r="([A-Z])\d+" s="\d"(?: t="inlineStr"><is><t [^>]*>(.*?)<\/t><\/is>|><v>(.*?)<\/v>)<\/c>/gs,
      ),
    ].reduce<(string | number)[]>((cells, [, column, text, number]) => {
      cells[column!.charCodeAt(0) - 65] = text ?? Number(number)
      return cells
    }, []),
  )
}

const idOf = async (chave: string) => {
  const { rows } = await owner.query('select id from document where workspace_id = $1 and chave = $2', [
    workspaceId,
    chave,
  ])
  return ctx.ids.encode(workspaceId, BigInt(rows[0].id))
}

const everything = { xml: true, pdf: true, planilha: true }

describe('the ZIP', () => {
  test('names what does not verify', async () => {
    const { id } = await newCompany('EMPRESA')
    await store(id, 'nfe', [
      { ...arrive(1, note(1)), proof: 'altered' as const },
      { ...arrive(2, note(2)), proof: 'proved' as const },
      arrive(3, note(3)),
      arrive(4, resNFe({ number: 4 })),
      { ...arrive(5, note(5).replace(/<protNFe.*<\/protNFe>/, '')), proof: 'proved' as const },
    ])
    const files = await exported({ filtro: { TipoDFe: 0 }, xml: false, pdf: false, planilha: true })
    const altered = 'A assinatura digital não confere: o conteúdo foi alterado depois de assinado.'
    const [section, more] = textOf(files).split('O QUE NÃO CONFERE')[1]!.trim().split('\r\n')
    expect([section, more]).toEqual([
      `- NF-e 1 de PAPELARIA SÃO JOÃO LTDA (${chaveOf({ number: 1 })}): ${altered}`,
      undefined,
    ])
    const told = new Map(
      cellsOf(files)
        .slice(4)
        .map((cells) => [cells[1], cells[16]]),
    )
    expect(told).toEqual(
      new Map<unknown, unknown>([
        [1, altered],
        [2, 'A assinatura digital, o protocolo e a chave de acesso conferem.'],
        [3, 'Não conferidos.'],
        [4, undefined],
        [5, 'A assinatura digital e a chave de acesso conferem, mas esta cópia não traz o protocolo de autorização.'],
      ]),
    )
  })

  test('has tidy folders with the bytes as they came, the forms, a spreadsheet and an explanation', async () => {
    const [mine, other] = [await newCompany('CON.  <Sol & Mar>/*"Ção"..'), await newCompany('FILIAL', '12ABC34501DE36')]
    const october = note(1, { issuedAt: '2026-10-31T23:59:59-03:00', amount: '1234.56' })
    const cancelled = note(3)
    const summary = resNFe({ number: 4 })
    const twice = note(5)
    await store(mine.id, 'nfe', [
      arrive(1, october),
      arrive(2, `\uFEFF${note(2)}\n`),
      arrive(3, cancelled),
      arrive(30, evento(110111, { number: 3 })),
      arrive(4, summary),
      arrive(5, twice),
    ])
    await store(other.id, 'nfe', [arrive(5, twice)], '12ABC34501DE36')
    const { status, headers, bytes } = await download(await linkOf({ filtro: { TipoDFe: 0 }, ...everything }))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/zip')
    expect(headers.get('content-disposition')).toMatch(/filename="NF-e \d{4}-\d\d-\d\d .+\.zip"/)
    const files = readZip(bytes)
    const folder = `_CON. Sol & Mar Ção (${cnpj})`
    const names = (number: number, month: string, under = folder) =>
      ['procNFe.xml', 'DANFE.pdf'].map((end) => `${under}/${month}/NF-e/${chaveOf({ number })}-${end}`)
    expect([...files.keys()].sort()).toEqual(
      [
        ...names(1, '2026-10'),
        ...[2, 3, 5].flatMap((number) => names(number, '2026-11')),
        ...names(5, '2026-11', 'FILIAL (12ABC34501DE36)'),
        `${folder}/2026-11/NF-e/${chaveOf({ number: 4 })}-resNFe.xml`,
        'planilha.xlsx',
        'leia-me.txt',
      ].sort(),
    )
    expect(files.get(names(1, '2026-10')[0]!)!.toString()).toBe(october)
    expect(files.get(names(2, '2026-11')[0]!)!.toString()).toBe(`\uFEFF${note(2)}\n`)
    expect(files.get(names(3, '2026-11')[1]!)!.toString('latin1', 0, 5)).toBe('%PDF-')
    const text = textOf(files)
    for (const words of [
      'Filtro: NF-e; de qualquer data',
      'por Ana Souza',
      'Neste arquivo: 6 documentos',
      '- 6 XML, exatamente como a SEFAZ entregou; de 1 nota, só o resumo',
      '- 5 PDF (DANFE ou DACTE).',
      '- De 1 nota, o XML completo e o DANFE: só o resumo chegou até agora.',
    ])
      expect(text).toContain(words)
    const cells = cellsOf(files)
    expect(cells.slice(0, 3).map(([text]) => text)).toEqual([
      expect.stringMatching(/^Documentos fiscais · /),
      'Filtro: NF-e; de qualquer data',
      expect.stringMatching(/^Exportado em \d\d\/\d\d\/\d{4} às \d\d:\d\d \(horário de Brasília\), por Ana Souza$/),
    ])
    const byChave = new Map(cells.slice(4).map((row) => [`${row[13]} ${row[11]}`, row]))
    expect(byChave.size).toBe(6)
    const serial = (iso: string) => Date.parse(iso) / 86_400_000 + 25_569
    const row = byChave.get(`${chaveOf({ number: 1 })} ${cnpj}`)!
    expect(row[3]).toBeCloseTo(serial('2026-10-31T23:59:59Z'), 6)
    expect(row[12]).toBeCloseTo(serial(new Date().toISOString()) - 3 / 24, 1)
    row[3] = row[12] = 0
    expect([...row].slice(0, 15)).toEqual([
      'NF-e',
      1,
      1,
      0,
      stranger,
      'PAPELARIA SÃO JOÃO LTDA',
      1234.56,
      'Autorizada',
      'Autorizada',
      'Destinatário',
      'CON.  &#60;Sol &#38; Mar&#62;/*"Ção"..',
      cnpj,
      0,
      chaveOf({ number: 1 }),
      names(1, '2026-10')[0]!.replace('&', '&#38;'),
    ])
    expect(byChave.get(`${chaveOf({ number: 3 })} ${cnpj}`)!.slice(7, 9)).toEqual(['Cancelada', 'Cancelamento'])
    expect(byChave.get(`${chaveOf({ number: 4 })} ${cnpj}`)![15]).toBe('Só o resumo chegou até agora.')
  })

  test('shows names without marks of direction, and keeps the bytes', async () => {
    const { id } = await newCompany('SOL')
    const xml = note(1, { issuerName: '\u202EMATRIZ\u202C \u2066SUL\u2069' })
    await store(id, 'nfe', [arrive(1, xml)])
    const files = await exported({ filtro: { TipoDFe: 0 } })
    expect(cellsOf(files)[4]).toContain('MATRIZ SUL')
    const written = [...files].find(([name]) => name.endsWith('.xml'))![1]
    expect(written.toString('utf8')).toBe(xml)
    const list = await call<{ items: { emitente: string }[] }>('GET', '/v1/api/DocumentosFiscais?TipoDFe=0')
    expect(JSON.stringify(list.body)).toContain('MATRIZ SUL')
    expect(JSON.stringify(list.body)).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/)
  })

  test('of CT-e has theirs, and only what was asked for', async () => {
    const { id } = await newCompany('SOL')
    await store(id, 'cte', [arrive(1, cteProc({ payer: cnpj }))])
    const filtro = { TipoDFe: 2 }
    const name = `SOL (${cnpj})/2026-11/CT-e/${cteChaveOf()}`
    expect([...(await exported({ filtro, ...everything })).keys()]).toEqual([
      `${name}-procCTe.xml`,
      `${name}-DACTE.pdf`,
      'planilha.xlsx',
      'leia-me.txt',
    ])
    expect([...(await exported({ filtro })).keys()]).toEqual([`${name}-procCTe.xml`, 'planilha.xlsx', 'leia-me.txt'])
    const files = await exported({ filtro, xml: false, pdf: true, planilha: false })
    expect([...files.keys()]).toEqual([`${name}-DACTE.pdf`, 'leia-me.txt'])
    expect(textOf(files)).not.toMatch(/XML|planilha/)
    expect([...(await exported({ filtro, xml: false, pdf: false, planilha: true })).keys()]).toEqual([
      'planilha.xlsx',
      'leia-me.txt',
    ])
  })

  test('names under what is missing the files that came since then and could not be read', async () => {
    const { id } = await newCompany('SOL')
    const { id: other } = await newCompany('LUA', '12ABC34501DE36')
    await store(id, 'nfe', [arrive(1, note(1)), arrive(2, '<nfeProc>nada'), arrive(3, '<nfeProc>antes')])
    await store(other, 'nfe', [arrive(2, `<chNFe>${chaveOf()}</chNFe>`)], '12ABC34501DE36')
    await owner.query(
      `update receipt set received_at = '2019-12-31T23:00:00-03:00' where workspace_id = $1 and nsu = 3`,
      [workspaceId],
    )
    const missing = async (filtro: object) => /O QUE FALTA\r\n(.*)$/s.exec(textOf(await exported({ filtro })))![1]!
    const lines = (await missing({ TipoDFe: 0, DataDe: '2020-01-01T00:00:00' })).match(/^- .*$/gm)!
    expect(lines.map((line) => line.trim())).toEqual([
      expect.stringMatching(
        /^- NSU 2 de SOL \(.*\), recebido em \d\d\/\d\d\/\d{4} às .*: não pôde ser lido, e não sabemos/,
      ),
      expect.stringMatching(`^- NSU 2 de LUA .*: não pôde ser lido; a chave que está nele é ${chaveOf()}\\.`),
    ])
    await store(id, 'cte', [arrive(1, cteProc({ payer: cnpj }))])
    expect(await missing({ TipoDFe: 2 })).toMatch(/^Nada\./)
  })

  test('holds the others when one cannot be opened or printed, and says so', async () => {
    const { id } = await newCompany('SOL')
    const consumer = nfce({ number: 4, recipient: cnpj })
    await store(id, 'nfe', [...[arrive(1, note(1)), arrive(2, note(2)), arrive(3, note(3))], arrive(4, consumer.xml)])
    await owner.query(`update receipt set content = 'x' where workspace_id = $1 and nsu = 2`, [workspaceId])
    await owner.query('update receipt set content = $2 where workspace_id = $1 and nsu = 3', [
      workspaceId,
      arrive(3, '<nfeProc>sem nota</nfeProc>').content,
    ])
    const files = await exported({ filtro: { TipoDFe: 0 }, ...everything })
    expect([...files.keys()].map((name) => name.split('/').at(-1))).toEqual(
      expect.arrayContaining([`${chaveOf({ number: 1 })}-DANFE.pdf`, `${chaveOf({ number: 3 })}-procNFe.xml`]),
    )
    expect(files.size).toBe(6)
    const text = textOf(files)
    expect(text).toContain(
      `- NF-e 2 de PAPELARIA SÃO JOÃO LTDA (${chaveOf({ number: 2 })}): não conseguimos abrir o arquivo guardado.`,
    )
    expect(text).toContain(
      `(${chaveOf({ number: 3 })}): não conseguimos montar o DANFE. O XML original está guardado e íntegro.`,
    )
    expect(text).toContain(`(${consumer.chave}): Esta é uma NFC-e (modelo 65).`)
    expect(
      cellsOf(files)
        .map((row) => row[15])
        .filter(Boolean),
    ).toHaveLength(4)
  })

  test('holds the chosen documents and no other, of more than one batch', async () => {
    const { id } = await newCompany('SOL')
    await store(
      id,
      'nfe',
      Array.from({ length: 260 }, (_, index) => arrive(index + 1, note(index + 1))),
    )
    const chosen = Array.from({ length: 250 }, (_, index) => chaveOf({ number: index + 1 }))
    const idsDFe: string[] = []
    for (const chave of chosen) idsDFe.push(await idOf(chave))
    const files = await exported({ idsDFe: [...idsDFe, idsDFe[0]], planilha: false })
    expect([...files.keys()].flatMap((name) => /(\d{44})-procNFe/.exec(name)?.[1] ?? []).sort()).toEqual(chosen.sort())
    expect(textOf(files)).toContain('Filtro: 250 documentos escolhidos')
    const all = await exported({ filtro: { TipoDFe: 0 } })
    expect(all.size).toBe(262)
    expect(cellsOf(all)).toHaveLength(264)
  })

  test('holds what the filter finds, in its words', async () => {
    const [mine, other] = [await newCompany('SOL'), await newCompany('LUA', stranger)]
    await store(mine.id, 'nfe', [
      arrive(1, note(1, { issuedAt: '2026-11-01T00:00:00-03:00' })),
      arrive(2, note(2, { issuedAt: '2026-11-30T23:59:59-03:00' })),
      arrive(3, note(3, { issuedAt: '2026-12-01T00:00:00-03:00' })),
      arrive(4, note(4, { issuerName: 'OUTRA' })),
      arrive(5, note(5)),
      arrive(50, evento(110111, { number: 5 })),
      arrive(6, note(6, { recipient: stranger, carrier: cnpj })),
    ])
    await store(other.id, 'nfe', [arrive(1, note(1))], stranger)
    const filtro = {
      TipoDFe: 0,
      IdEmpresa: mine.publicId,
      Status: 2,
      TipoParticipacao: 1,
      CampoPesquisa: 'são  joão',
      DataDe: '2026-11-01T00:00:00',
      DataAte: '2026-11-30T23:59:59',
    }
    const files = await exported({ filtro })
    const numbers = cellsOf(files)
      .slice(4)
      .map((row) => row[1])
    expect(numbers).toEqual([2, 1])
    const words = `NF-e; emissão de 01/11/2026 a 30/11/2026; empresa SOL (12.ABC.345/01DE-35); status Autorizada; participação Destinatário; busca por “são joão”`
    expect(textOf(files)).toContain(`Filtro: ${words}\r\n`)
    const { rows } = await owner.query(
      'select action, actor, description, address from audit where workspace_id = $1 order by id',
      [workspaceId],
    )
    expect(rows).toEqual([
      {
        action: 'exportacao',
        actor: 'Ana Souza',
        description: `Exportou 2 documentos (XML e planilha): ${words}.`,
        address: '127.0.0.1',
      },
      {
        action: 'leitura',
        actor: 'Ana Souza',
        description: expect.stringMatching(/^Baixou a exportação “NF-e .*\.zip”\.$/),
        address: '127.0.0.1',
      },
    ])
  })

  test('is made when neither trial nor plan lasts: reading is never taken away', async () => {
    const { id } = await newCompany('SOL')
    await store(id, 'nfe', [arrive(1, note(1))])
    await owner.query(`update workspace set trial_until = now() - interval '9 days', paused_at = now() where id = $1`, [
      workspaceId,
    ])
    expect((await exported({ filtro: { TipoDFe: 0 } })).size).toBe(3)
  })
})

describe('the request', () => {
  const filtro = { TipoDFe: 0 }

  // The counters say how many there are.
  const pretend = async (n: number) => {
    await owner.query(
      `insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount) values ($1, 0, '2025-01-01', 1, 2, 2, $2, 0)
         on conflict (workspace_id, type, month, company_id, roles, status) do update set n = excluded.n`,
      [workspaceId, n],
    )
  }

  test('of more than one export holds says how many there are and what to do', async () => {
    await pretend(exportMax.documents + 1)
    expect(await ask({ filtro })).toMatchObject({
      status: 409,
      body: {
        message:
          'Uma exportação alcança até 100.000 documentos, e são 100.001. Nada foi exportado: escolha um período menor.',
      },
    })
    await pretend(exportMax.documents)
    expect(await ask({ filtro })).toMatchObject({
      status: 200,
      body: {
        data: { totalDeItens: 100_000 },
        message: '100.000 documentos a caminho. O arquivo fica um dia no sino, e o link vale por dez minutos.',
      },
    })
    await pretend(exportMax.withPdf + 1)
    expect(await ask({ filtro, pdf: true })).toMatchObject({
      status: 409,
      body: {
        message:
          'Com PDF, uma exportação alcança até 5.000 documentos, e são 5.001. Nada foi exportado: escolha um período menor ou exporte sem PDF.',
      },
    })
    const { rows } = await owner.query('select from audit where workspace_id = $1', [workspaceId])
    expect(rows).toHaveLength(1)
  })

  test('of nothing says so', async () => {
    expect(await ask({ filtro })).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/^Nenhum documento/) },
    })
  })

  test('of what is not of this workspace, or hidden, is nobody’s', async () => {
    const { id, publicId } = await newCompany('SOL')
    await store(id, 'nfe', [arrive(1, note(1))])
    const theirs = await idOf(chaveOf())
    workspaceId = await exports.enter()
    const mine = await newCompany('LUA')
    await store(mine.id, 'nfe', [arrive(1, note(1)), arrive(2, note(2))])
    const own = await idOf(chaveOf({ number: 2 }))
    for (const body of [
      { idsDFe: [own, theirs] },
      { idsDFe: [own, 'x'] },
      { filtro: { ...filtro, IdEmpresa: publicId } },
    ])
      expect(await ask(body)).toMatchObject({ status: 404 })
    await showOnly(ctx.db, workspaceId, { nfe: 511 & ~2, companyId: mine.id })
    expect(await ask({ idsDFe: [own] })).toMatchObject({ status: 404 })
    expect(await ask({ filtro })).toMatchObject({ status: 409 })
  })

  test.each([
    ['neither', {}, 'Informe um filtro ou os documentos.'],
    ['both', { filtro, idsDFe: ['x'] }, 'Informe um filtro ou os documentos.'],
    ['nothing in it', { filtro, xml: false, planilha: false }, 'Escolha o que exportar.'],
    ['no document', { idsDFe: [] }, 'Escolha os documentos.'],
    ['too many', { idsDFe: Array(5_001).fill('x') }, 'Escolha no máximo 5.000 documentos de cada vez.'],
  ])('with %s is refused with words', async (_, body, message) => {
    expect(await ask(body)).toMatchObject({ status: 400, body: { errors: [message] } })
  })
})

describe('the link', () => {
  let address: string
  let companyId: number
  beforeEach(async () => {
    ;({ id: companyId } = await newCompany('SOL'))
    await store(companyId, 'nfe', [arrive(1, note(1)), arrive(2, resNFe({ number: 2 }))])
    address = await linkOf({ filtro: { TipoDFe: 0 } })
  })

  const refused = async (address: string) => {
    const { status, bytes } = await download(address)
    return { status, message: JSON.parse(bytes.toString()).message }
  }

  test('tells nothing, needs no token, and each fetch of it is noted', async () => {
    expect(address).toMatch(/^\/v1\/api\/DocumentosFiscais\/exportacao\/[\w-]{60,200}$/)
    expect(await statusOf(address)).toBe(200)
    for (let time = 0; time < 2; time++) expect((await download(address)).bytes.length).toBeGreaterThan(1_000)
    const { rows } = await owner.query(`select times from audit where workspace_id = $1 and action = 'leitura'`, [
      workspaceId,
    ])
    // A HEAD reads nothing.
    expect(rows).toEqual([{ times: 2 }])
  })

  test('is over after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 9.9 * 60_000)
    expect((await download(address)).status).toBe(200)
    vi.setSystemTime(Date.now() + 0.2 * 60_000)
    expect(await refused(address)).toEqual({ status: 410, message: expect.stringMatching(/dez minutos.*seguros/) })
  })

  test('that somebody made up is nobody’s', async () => {
    const ticket = address.split('/').at(-1)!
    const begin = address.slice(0, -ticket.length)
    const elsewhere = createVault(Buffer.alloc(32, 8))
    const plain = `${workspaceId}/1/${Date.now() + 60_000}`
    const madeUp = [
      elsewhere.encrypt(plain, 'ticket of an export').toString('base64url'),
      // Same key, other purpose.
      ctx.vault.encrypt(plain, 'certificate key').toString('base64url'),
      ctx.vault.encrypt(`${workspaceId}/999999/${Date.now() + 60_000}`, 'ticket of an export').toString('base64url'),
      ticket.slice(0, -4),
      `${ticket}AAAA`,
      ...Array.from({ length: 8 }, (_, index) => {
        const bytes = Buffer.from(ticket, 'base64url')
        bytes[index * 6]! ^= 1
        return bytes.toString('base64url')
      }),
      'x',
      'x'.repeat(80),
      '..%2F..%2Fx',
    ]
    for (const one of madeUp)
      expect(await refused(begin + one), one).toEqual({
        status: 404,
        message: expect.stringMatching(/^Exportação não/),
      })
  })

  test('is one of many: each person of the workspace gets another within a day', async () => {
    const list = () => call<ExportItem[]>('GET', '/v1/api/DocumentosFiscais/exportacoes')
    await expect.poll(async () => (await list()).body.data[0]?.situacao).toBe('pronta')
    const [item] = (await list()).body.data
    expect(item).toMatchObject({ formato: 'zip', feitos: 2, total: 2, pedidaPor: 'Ana Souza' })
    expect(item!.problema).toBe('De 1 nota só o resumo chegou até agora.')
    const link = `/v1/api/DocumentosFiscais/exportacoes/${item!.id}/link`
    const { body } = await call<{ endereco: string }>('POST', link)
    expect(body.data.endereco).not.toBe(address)
    const [first, second] = await Promise.all([download(address), download(body.data.endereco)])
    expect(first.bytes.equals(second.bytes)).toBe(true)
    expect(item!.bytes).toBe(first.bytes.length)
    await owner.query(`update document_export set requested_at = now() - interval '25 hours' where workspace_id = $1`, [
      workspaceId,
    ])
    expect((await list()).body.data).toEqual([])
    expect((await call('POST', link)).status).toBe(404)
    expect((await refused(address)).status).toBe(404)
    await linkOf({ filtro: { TipoDFe: 0 } })
    const { rows } = await owner.query('select from document_export where workspace_id = $1', [workspaceId])
    expect(rows).toHaveLength(1)
  })
})

describe('a worker', () => {
  const state = async () => (await call<ExportItem[]>('GET', '/v1/api/DocumentosFiscais/exportacoes')).body.data[0]
  beforeEach(async () => {
    const { id } = await newCompany('SOL')
    await store(id, 'nfe', [arrive(1, note(1)), arrive(2, note(2))])
  })

  test('makes anew what another left half made, or a crash of the database emptied', async () => {
    const link = await linkOf(all)
    const whole = (await download(link)).bytes
    const again = async () => {
      await expect.poll(() => statusOf(link)).toBe(200)
      return readZip((await download(link)).bytes).size
    }
    await owner.query('delete from export_part where workspace_id = $1', [workspaceId])
    expect(await again()).toBe(readZip(whole).size)
    await owner.query(`update export_part set content = 'half' where workspace_id = $1`, [workspaceId])
    await makeAgain('parts = 1')
    await expect.poll(async () => (await state())?.situacao).toBe('pronta')
    expect(await again()).toBe(readZip(whole).size)
  })

  // As a process leaves it that was killed after its claim, when its lease has ended.
  const makeAgain = async (change = 'parts = parts') => {
    const { rows } = await owner.query(
      `update document_export set state = 'waiting', ${change} where workspace_id = $1 returning id`,
      [workspaceId],
    )
    await asOperator(ctx, (ctx) => queueExport(ctx, { workspaceId, id: rows[0].id, queue: 'zip' }))
    return rows[0].id
  }
  // A worker with `more` in the place of the usual one.
  const workingWith = async (more: Partial<Context>, work: () => Promise<void>) => {
    await exports.stopWorker()
    await exports.startWorker(more)
    try {
      await work()
    } finally {
      await exports.stopWorker()
      await exports.startWorker()
    }
  }
  const fails = async () => {
    const link = await linkOf(all)
    await expect.poll(async () => (await state())?.situacao).toBe('falhou')
    expect((await state())!.problema).toMatch(/^No servidor não há espaço.*seguros/)
    expect(await download(link)).toMatchObject({ status: 409 })
  }
  const cramped = { ...roomyStorage, freeBytes: 1024 ** 3 - 1 }
  const external = readConfig({ DATABASE_URL: 'postgres://a:b@elsewhere.example/vigia' }, '/')

  test('stops when there is no space, and says so', () => workingWith({ storage: cramped }, fails))

  // A trigger makes the disk full, and a cluster has none.
  onOneServer('asks nothing of this disk when the database has another, and stops when that one is full', async () => {
    await workingWith({ storage: cramped, config: external }, async () => {
      expect((await download(await linkOf(all))).status).toBe(200)
    })
    const full = `create function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$;
      create trigger no_room before insert on export_part for each row execute function no_room()`
    await owner.query(full)
    try {
      await workingWith({ config: external }, fails)
    } finally {
      await owner.query('drop function no_room cascade')
    }
  })

  const partsHeld = async () => {
    const { rows } = await owner.query('select count(*)::int as n from export_part where workspace_id = $1', [
      workspaceId,
    ])
    return rows[0].n
  }
  const keep = async (bytes: number) => {
    const { rows } = await owner.query(
      `insert into document_export (workspace_id, total, request, state, bytes) values ($1, 1, '{}', 'ready', $2) returning id`,
      [workspaceId, bytes],
    )
    return rows[0].id
  }

  test('lets what nobody asks for any more go after a day, with its parts', async () => {
    await linkOf(all)
    await expect.poll(async () => (await state())?.situacao).toBe('pronta')
    await owner.query(
      `insert into export_part (workspace_id, export_id, n, content)
       select workspace_id, id, n, '' from document_export, generate_series(100, 200) n where workspace_id = $1`,
      [workspaceId],
    )
    await forgetExports(ctx)
    expect(await partsHeld()).toBeGreaterThan(100)
    await owner.query(`update document_export set requested_at = now() - interval '25 hours' where workspace_id = $1`, [
      workspaceId,
    ])
    await forgetExports(ctx)
    expect(await partsHeld()).toBe(0)
    expect((await owner.query('select from document_export where workspace_id = $1', [workspaceId])).rows).toEqual([])
  })

  test('drops the parts of what cannot be made, and lets older files make room', async () => {
    await exports.stopWorker()
    const old = await keep(1024 ** 3)
    await linkOf(all)
    await exports.startWorker()
    await expect.poll(async () => (await state())?.situacao).toBe('pronta')
    expect((await owner.query('select from document_export where id = $1', [old])).rows).toEqual([])
    await exports.stopWorker()
    const id = await makeAgain()
    expect(await partsHeld()).toBeGreaterThan(0)
    await keep(1024 ** 3)
    await exports.startWorker()
    const failed = async () =>
      (await owner.query('select problem, bytes from document_export where id = $1', [id])).rows[0]
    await expect.poll(failed).toEqual({ problem: expect.stringMatching(/1 GB.*seguros/), bytes: '0' })
    expect(await partsHeld()).toBe(0)
  })

  // Forms that are laid out only when somebody says so.
  const held = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const printer: Context['printer'] = {
      ...ctx.printer,
      print: (order, options) => promise.then(() => ctx.printer.print(order, options)),
    }
    return { printer, release: resolve }
  }

  test('tells how far it is while no byte comes', async () => {
    const { printer, release } = held()
    await workingWith({ printer }, async () => {
      await linkOf({ ...all, xml: false, pdf: true, planilha: true })
      await expect.poll(state, { timeout: 20_000 }).toMatchObject({ situacao: 'em-andamento', bytes: 0, feitos: 1 })
      release()
      await expect.poll(async () => (await state())?.situacao).toBe('pronta')
    })
  })

  test('lets a workspace have ten in the queue', async () => {
    await owner.query(
      `insert into document_export (workspace_id, account_id, form, total, request)
       select $1, 1, 'zip', 1, '{}' from generate_series(1, 10) returning 1`,
      [workspaceId],
    )
    expect(await ask(all)).toMatchObject({ status: 429, body: { message: expect.stringMatching(/^Já há dez/) } })
  })
})

describe('a print', () => {
  const print = (body: object) =>
    call<{ endereco: string; nome: string }>('POST', '/v1/api/DocumentosFiscais/imprimir', body)

  test('is one PDF, and tells what is not in it', async () => {
    const { id } = await newCompany('SOL')
    await store(id, 'nfe', [arrive(1, note(1)), arrive(2, resNFe({ number: 2 })), arrive(3, note(3))])
    const { body, status } = await print(all)
    expect(status, body.message).toBe(200)
    expect(body.data.nome).toMatch(/^NF-e para imprimir .+\.pdf$/)
    const { bytes, headers } = await download(body.data.endereco)
    expect(headers.get('content-type')).toBe('application/pdf')
    // A page of ours shows it in a frame.
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
    expect(bytes.toString('latin1', 0, 5)).toBe('%PDF-')
    const items = await call<ExportItem[]>('GET', '/v1/api/DocumentosFiscais/exportacoes')
    expect(items.body.data[0]).toMatchObject({ formato: 'pdf', situacao: 'pronta', feitos: 3 })
    expect(items.body.data[0]!.problema).toMatch(/^NF-e 2 de .*: Só o resumo chegou até agora\.$/)
  })

  test('of nothing that can be printed fails in words', async () => {
    const { id } = await newCompany('SOL')
    await store(id, 'nfe', [arrive(2, resNFe({ number: 2 }))])
    const { body } = await print(all)
    expect(await download(body.data.endereco)).toMatchObject({ status: 409 })
  })
})

describe('the forms of an export', () => {
  test('are asked for a few at a time, and one that cannot be laid out is a line', async () => {
    const { id } = await newCompany('SOL')
    const poisoned = note(1, { issuerName: 'LACO INFINITO' })
    await store(id, 'nfe', [
      arrive(1, poisoned),
      ...[2, 3, 4, 5, 6, 7, 8].map((number) => arrive(number, note(number))),
    ])
    await using printer = createPrinter({
      file: new URL('../../documents/print/printer.testing.ts', import.meta.url),
      threads: 1,
      timeoutMs: 5_000,
    })
    const seen = { now: 0, most: 0, patient: true }
    const watched: Context['printer'] = {
      ...printer,
      print: (order, options = {}) => {
        seen.most = Math.max(seen.most, ++seen.now)
        seen.patient &&= options.patient === true
        return printer.print(order, options).finally(() => seen.now--)
      },
    }
    const rows = readInBatches(ctx, workspaceId, { criteria: { TipoDFe: 0 } }, { withContent: true })
    const task = { workspaceId, rows, contents: everything, ...words(), at: new Date() }
    const chunks: Buffer[] = []
    for await (const chunk of zip(() => exportFiles(task, { log: ctx.log, printer: watched }))) chunks.push(chunk)
    const files = readZip(Buffer.concat(chunks))
    expect(seen).toMatchObject({ now: 0, patient: true })
    expect(seen.most).toBeLessThanOrEqual(4)
    const names = [...files.keys()]
    expect(names.filter((name) => name.endsWith('.pdf'))).toHaveLength(7)
    expect(names.filter((name) => name.endsWith('.xml'))).toHaveLength(8)
    expect(textOf(files)).toMatch(/LACO INFINITO \(\d{44}\): Montar o DANFE deste documento demorou demais/)
  })
})

const all = { filtro: { TipoDFe: 0 } }
const words = () => ({
  productName: 'Vigia',
  filter: 'NF-e',
  made: 'agora',
  logoOf: async () => undefined,
  tally: newTally(),
})

// A client that takes only the beginning.
async function begin(address: string) {
  const response = await fetch(url + address)
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  await reader.read()
  const rest = async () => {
    // As slowly as it takes for somebody to notice that it has to end.
    for (let end = false; !end; await setTimeout(50)) end = (await reader.read()).done
  }
  return { rest }
}

// A link to a file that is ready and more than a connection takes at once.
async function largeFile(): Promise<string> {
  const link = await linkOf(all)
  const ready = `select from document_export where workspace_id = $1 and state = 'ready'`
  await expect.poll(async () => (await owner.query(ready, [workspaceId])).rowCount).toBe(1)
  await owner.query(
    `insert into export_part (workspace_id, export_id, n, content)
     select workspace_id, id, n, $2 from document_export, generate_series(parts, 40) n where workspace_id = $1`,
    [workspaceId, Buffer.alloc(1 << 20, 1)],
  )
  await owner.query(
    `update document_export e set parts = 41, bytes = (select sum(length(content)) from export_part p where p.workspace_id = e.workspace_id and p.export_id = e.id)
      where workspace_id = $1`,
    [workspaceId],
  )
  return link
}

const statusOf = async (address: string) => (await fetch(url + address, { method: 'HEAD' })).status

describe('a long download', () => {
  let companyId: number
  beforeEach(async () => {
    ;({ id: companyId } = await newCompany('SOL'))
    await store(companyId, 'nfe', [arrive(1, note(1))])
  })
  // With the one that is there, of more than one batch.
  const storeMany = () =>
    store(
      companyId,
      'nfe',
      Array.from({ length: 499 }, (_, index) => arrive(index + 2, note(index + 2))),
    )

  test('keeps no connection while nobody takes what there is', async () => {
    await storeMany()
    const db = openDatabase(exports.database.url, { connections: 1 })
    let rows = 0
    for await (const batch of readInBatches({ db }, workspaceId, { criteria: { TipoDFe: 0 } }, { withContent: true })) {
      rows += batch.length
      expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
    }
    expect(rows).toBe(500)
    await db.destroy()
  })

  test.each(['login', 'key'])(
    'ends within seconds when the %s ends that asked for it, and its link too',
    async (who) => {
      const { publicId } = exports.session
      if (who === 'key')
        await owner.query(
          `insert into api_key (workspace_id, public_id, name, scopes, start, token_hash, created_by)
         select $1, gen_random_uuid(), 'ERP', '{exportar}', 'vigia_00000000', '0', 1 returning 1`,
          [workspaceId],
        )
      const { rows } = await owner.query('select public_id from api_key where workspace_id = $1', [workspaceId])
      exports.session = { ...exports.session, publicId: rows[0]?.public_id ?? publicId }
      const link = await largeFile()
      const { rest } = await begin(link)
      await owner.query('delete from session where workspace_id = $1 and public_id = $2', [workspaceId, publicId])
      await owner.query('update api_key set token_hash = null where workspace_id = $1', [workspaceId])
      await expect(rest()).rejects.toThrow()
      const { status, bytes } = await download(link)
      expect([status, JSON.parse(bytes.toString()).message]).toEqual([410, expect.stringMatching(/terminou.*guardado/)])
    },
  )

  test('that breaks off is not read on', async () => {
    await storeMany()
    const seen = { batches: 0, ended: false }
    async function* watched() {
      try {
        for await (const rows of readInBatches(ctx, workspaceId, { criteria: { TipoDFe: 0 } }, { withContent: true })) {
          seen.batches++
          yield rows
        }
      } finally {
        seen.ended = true
      }
    }
    const task = { workspaceId, rows: watched(), contents: everything, ...words(), at: new Date() }
    for await (const _ of zip(() => exportFiles(task, ctx))) break
    await expect.poll(() => seen.ended).toBe(true)
    expect(seen.batches).toBeLessThan(3)
  })
})
