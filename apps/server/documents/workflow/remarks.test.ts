import { expect, test } from 'vitest'
import { showOnly } from '../../companies/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertAccount, insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { readInBatches } from '../export/rows.ts'
import type { Mark } from '../list/filter.ts'
import { searchDocuments } from '../list/list.ts'
import { toRow } from '../list/rows.ts'
import { arrive, company, cteProc, deliverTo, evento, eventoCte, nfeProc } from '../testing.ts'
import { noteExported, remarkRoutes } from './remarks.ts'

const { ctx } = await useContext()

type Who = ReturnType<typeof testSession>

async function run(path: string, who: Who, body: object) {
  const found = remarkRoutes.find(({ route }) => route.path.endsWith(path))!
  const input = { params: undefined, query: undefined, body: body as never, form: undefined }
  return (await found.run(ctx, input, who, testCaller)) as { data: never; message: string }
}

async function newOffice(notes: number[] = [1, 2, 3]) {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const to = { workspaceId, companyId, cnpj: company }
  const deliver = (service: 'nfe' | 'cte', ...files: [nsu: number, xml: string][]) =>
    deliverTo(
      ctx,
      to,
      service,
      files.map(([nsu, xml]) => arrive(nsu, xml)),
    )
  await deliver('nfe', ...notes.map((number): [number, string] => [number, nfeProc({ number })]))
  const person = async (role: Who['role'] = 'administrador'): Promise<Who> => ({
    ...testSession(workspaceId),
    accountId: (await insertAccount(ctx.db, workspaceId)).id,
    role,
  })
  const list = async (mark?: Mark, type: 0 | 2 = 0) => {
    const { rows, total } = await searchDocuments(ctx, workspaceId, { TipoDFe: type, page: 1, Marca: mark })
    expect(rows).toHaveLength(total)
    return rows.map((row) => toRow(row, workspaceId, ctx.ids)).sort((a, b) => a.numero - b.numero)
  }
  const numbers = async (mark: Mark) => (await list(mark)).map(({ numero }) => numero)
  return { workspaceId, companyId, deliver, person, list, numbers, ana: await person() }
}

test('a remark is read by all, and removed by who wrote it or administers', async () => {
  const { ana, person, list, numbers } = await newOffice()
  const [note] = await list()
  const bia = await person('fiscal')
  const about = { idDfe: note!.idDfe }
  await run('/observacoes', bia, { ...about, texto: 'Frete combinado.' })
  const { data } = await run('/observacoes', ana, { ...about, texto: 'Pago.' })
  const remarks = data as { idObservacao: string; texto: string; autor: string; apagavel: boolean }[]
  expect(remarks.map(({ texto, autor, apagavel }) => [texto, autor, apagavel])).toEqual([
    ['Frete combinado.', 'Ana Souza', true],
    ['Pago.', 'Ana Souza', true],
  ])
  expect(await numbers('com-observacao')).toEqual([1])
  expect((await list())[0]).toMatchObject({ observacoes: 2 })
  const ofAna = { ...about, idObservacao: remarks[1]!.idObservacao }
  await expect(run('/apagar-observacao', bia, ofAna)).rejects.toMatchObject({ code: 'not-found' })
  for (const { idObservacao } of remarks) await run('/apagar-observacao', ana, { ...about, idObservacao })
  expect(await numbers('com-observacao')).toEqual([])
})

test('documents are checked and unchecked, counted and found by it', async () => {
  const { ana, person, list, numbers, workspaceId } = await newOffice()
  const [first, second] = await list()
  const mark = (idsDFe: string[], conferida: boolean, who = ana) => run('/conferidas', who, { idsDFe, conferida })
  expect(await mark([first!.idDfe, second!.idDfe], true)).toMatchObject({
    data: { alteradas: 2 },
    message: '2 documentos marcados como conferidos.',
  })
  // The first person's mark stays.
  expect((await mark([first!.idDfe], true, await person('fiscal'))).data).toEqual({ alteradas: 0 })
  expect([await numbers('conferidas'), await numbers('por-conferir')]).toEqual([[1, 2], [3]])
  expect((await list())[0]).toMatchObject({ conferidaPor: { nome: 'Ana Souza' }, mudouDepois: null })
  expect((await mark([first!.idDfe], false)).data).toEqual({ alteradas: 1 })
  expect(await numbers('conferidas')).toEqual([2])
  const exported = []
  for await (const rows of readInBatches(
    ctx,
    workspaceId,
    { criteria: { TipoDFe: 0, Marca: 'conferidas' } },
    { withContent: false },
  ))
    exported.push(...rows)
  expect(exported).toMatchObject([{ number: 2, checked_by: 'Ana Souza' }])
})

test('documents are booked and handed on, which is found, exported and audited apart', async () => {
  const { ana, list, numbers, workspaceId } = await newOffice()
  const [first, second] = await list()
  const mark = (idsDFe: string[], marca: string, marcada = true) => run('/marcas', ana, { idsDFe, marca, marcada })
  expect(await mark([first!.idDfe, second!.idDfe], 'lancada')).toMatchObject({
    data: { alteradas: 2 },
    message: '2 documentos marcados como lançados.',
  })
  expect((await mark([first!.idDfe], 'entregue')).data).toEqual({ alteradas: 1 })
  expect([await numbers('lancadas'), await numbers('por-lancar'), await numbers('entregues')]).toEqual([
    [1, 2],
    [3],
    [1],
  ])
  expect(await numbers('conferidas')).toEqual([])
  const by = { nome: 'Ana Souza' }
  expect((await list())[0]).toMatchObject({ lancadaPor: by, entreguePor: by, conferidaPor: null })
  expect((await mark([first!.idDfe], 'lancada', false)).data).toEqual({ alteradas: 1 })
  expect(await numbers('lancadas')).toEqual([2])
  const entries = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db.selectFrom('audit').select('description').orderBy('id').execute(),
  )
  expect(entries.map(({ description }) => description)).toEqual([
    'Marcou 2 documentos como lançados.',
    expect.stringMatching(/^Marcou o documento \d{44} como entregue\.$/),
    expect.stringMatching(/^Tirou a marca de lançado do documento \d{44}\.$/),
  ])
})

test.each([
  ['checked', 110111, 'Cancelamento'],
  ['checked', 110112, 'Cancelamento por Substituição'],
  ['lancada', 110111, 'Cancelamento'],
  ['entregue', 110110, 'Carta de Correção'],
  ['exported', 110110, 'Carta de Correção'],
  ['confirmed', 110111, 'Cancelamento'],
])(
  'a note that was %s and gets an event %i changed afterwards, until it is checked again',
  async (how, tpEvento, name) => {
    const { ana, deliver, list, numbers, workspaceId } = await newOffice()
    const [first] = await list()
    if (how === 'checked') await run('/conferidas', ana, { idsDFe: [first!.idDfe], conferida: true })
    if (how === 'lancada' || how === 'entregue')
      await run('/marcas', ana, { idsDFe: [first!.idDfe], marca: how, marcada: true })
    if (how === 'exported')
      await inWorkspace(ctx, workspaceId, ({ db }) =>
        noteExported({ db }, workspaceId, [ctx.ids.decode(workspaceId, first!.idDfe)!]),
      )
    if (how === 'confirmed') await deliver('nfe', [10, evento(210200, { number: 1 })])
    // The second note was relied on by nobody.
    await deliver('nfe', [20, evento(tpEvento, { number: 1 })], [21, evento(tpEvento, { number: 2 })])
    expect(await numbers('mudaram-depois')).toEqual([1])
    expect((await list())[0]).toMatchObject({ mudouDepois: { evento: name } })
    const told = await inWorkspace(ctx, workspaceId, ({ db }) =>
      db.selectFrom('happening').select('payload').where('what', '=', 'documento-mudou').execute(),
    )
    expect(told).toMatchObject([{ payload: { number: 1, tpEvento, confirmed: how === 'confirmed' } }])
    // A repeated event is no news.
    await run('/conferidas', ana, { idsDFe: [first!.idDfe], conferida: true })
    await deliver('nfe', [30, evento(tpEvento, { number: 1 })])
    expect(await numbers('mudaram-depois')).toEqual([])
    expect((await list())[0]).toMatchObject({ mudouDepois: null, conferidaPor: { nome: 'Ana Souza' } })
  },
)

test('a CT-e that is replaced after it was checked changed afterwards', async () => {
  const { ana, deliver, list } = await newOffice([])
  await deliver('cte', [1, cteProc({ payer: company })])
  const [cte] = await list(undefined, 2)
  await run('/conferidas', ana, { idsDFe: [cte!.idDfe], conferida: true })
  await deliver('cte', [2, eventoCte(240140)])
  expect((await list('mudaram-depois', 2))[0]).toMatchObject({
    mudouDepois: { evento: 'CT-e de Substituição Autorizado' },
  })
})

test('what a switch hides, and what is of another workspace, is not there', async () => {
  const { ana, list, workspaceId } = await newOffice([1])
  const [note] = await list()
  const stranger = await newOffice([1])
  const body = { idsDFe: [note!.idDfe], conferida: true }
  await expect(run('/conferidas', stranger.ana, body)).rejects.toMatchObject({ code: 'not-found' })
  await showOnly(ctx.db, workspaceId, { nfe: 0 })
  await expect(run('/conferidas', ana, body)).rejects.toMatchObject({ code: 'not-found' })
  await expect(run('/observacoes', { ...ana, shared: true }, { idDfe: note!.idDfe, texto: 'x' })).rejects.toMatchObject(
    {
      code: 'conflict',
    },
  )
})
