import {
  downloadInstallments,
  listInstallments,
  markPaid,
  selectInstallments,
  sumInstallments,
} from '@vigia/contract/installments'
import type { RouteData } from '@vigia/contract/route'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readZip } from '../../../../tests/support/zip.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { insertAccount, insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { company, deliverTo, nfeProc } from '../testing.ts'
import { installmentRoutes } from './installments.ts'

const { ctx } = await useContext()

async function run<R extends typeof listInstallments | typeof sumInstallments | typeof selectInstallments>(
  route: R,
  who: Session,
  query: object = {},
) {
  const input = { params: undefined, query: route.query.parse(query) as never, body: undefined, form: undefined }
  const found = installmentRoutes.find((one) => one.route === route)!
  return ((await found.run(ctx, input, who, testCaller)) as { data: RouteData<R> }).data!
}

async function mark(who: Session, idsParcelas: string[], paga: boolean) {
  const found = installmentRoutes.find((one) => one.route === markPaid)!
  const input = { params: undefined, query: undefined, body: { idsParcelas, paga } as never, form: undefined }
  return (await found.run(ctx, input, who, testCaller)) as { data: { idsParcelas: string[] }; message: string }
}

const today = new Date(new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10))
const dayOf = (days: number) => new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10)

const farmer = '12345678909'

// Notes 1 and 2 are of the matriz and a filial of one supplier, note 3 is of a farmer and does not stand.
async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId, publicId } = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const notes = [
    nfeProc({ number: 1 }),
    nfeProc({ number: 2, issuer: '11222333000262', issuerName: 'PAPELARIA FILIAL' }),
    nfeProc({ number: 3, issuer: '99888777000104', issuerName: 'OUTRA' }),
  ]
  await deliverTo(ctx, { workspaceId, companyId }, 'nfe', notes)
  const due = (
    number: number,
    place: number,
    days: number | 'never',
    amount: number,
    standing = true,
    issuer?: string,
  ) =>
    inWorkspace(ctx, workspaceId, ({ db }) =>
      sql`
        insert into installment (workspace_id, document_id, place, company_id, due_on, amount, number, issuer, standing)
        select d.workspace_id, d.id, ${place}, d.company_id, ${days === 'never' ? 'infinity' : dayOf(days)}, ${amount}, ${String(place).padStart(3, '0')}, ${issuer ?? sql`s.tax_id`}, ${standing}
          from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
         where d.workspace_id = ${workspaceId} and d.number = ${number}`.execute(db),
    )
  const who: Session = { ...testSession(workspaceId), accountId: (await insertAccount(ctx.db, workspaceId)).id }
  return { workspaceId, who, due, publicId }
}

test('parcels of notes that stand are listed by day, overdue ones apart, in sums by period and by supplier', async () => {
  const { workspaceId, who, due, publicId } = await newOffice()
  await due(1, 1, -40, 10_001)
  await due(1, 2, 0, 20_000)
  await due(2, 1, -1, 5_000)
  await due(2, 2, 40, 70_000)
  await due(3, 1, 0, 99_900, false)
  await inWorkspace(ctx, workspaceId, ({ db }) => sql`update document set alert_band = 3 where number = 2`.execute(db))
  const { items } = await run(listInstallments, who)
  expect(items.map((one) => [one.numero, one.parcela, one.vencimento, one.valor, one.vencida])).toEqual([
    [1, '001', dayOf(-40), 100.01, true],
    [2, '001', dayOf(-1), 50, true],
    [1, '002', dayOf(0), 200, false],
    [2, '002', dayOf(40), 700, false],
  ])
  expect(items[1]).toMatchObject({ emitente: 'PAPELARIA FILIAL', cnpjCpfEmitente: '11222333000262', empresa: 'SOL' })
  expect(items.map(({ alerta }) => alerta)).toEqual([null, 'critico', null, 'critico'])
  const months = await run(sumInstallments, who, { Por: 'mes' })
  expect(months.total).toEqual({ totalDeItens: 4, valorTotal: 1050.01 })
  expect(months.vencidas).toEqual({ totalDeItens: 2, valorTotal: 150.01 })
  expect(months.grupos.map(({ situacao, totalDeItens }) => [situacao, totalDeItens])).toEqual([
    ['vencidas', 2],
    ['a-vencer', 1],
    ['a-vencer', 1],
  ])
  // Each group says the filter that shows its parcels.
  for (const Por of ['semana', 'mes', 'fornecedor']) {
    const { grupos } = await run(sumInstallments, who, { Por, VencimentoAte: dayOf(41) })
    for (const { situacao, de, ate, emitente, totalDeItens, valorTotal } of grupos) {
      const filter = {
        Situacao: situacao,
        VencimentoDe: de ?? undefined,
        VencimentoAte: ate ?? undefined,
        Emitente: emitente ?? undefined,
      }
      const { items } = await run(listInstallments, who, filter)
      expect([items.length, Math.round(items.reduce((sum, { valor }) => sum + valor * 100, 0))]).toEqual([
        totalDeItens,
        Math.round(valorTotal * 100),
      ])
    }
  }
  const suppliers = await run(sumInstallments, who, { Por: 'fornecedor', IdEmpresa: publicId })
  expect(suppliers).toMatchObject({
    totalDeGrupos: 1,
    grupos: [{ emitente: '11222333', nome: 'PAPELARIA SÃO JOÃO LTDA', totalDeItens: 4, vencidas: { totalDeItens: 2 } }],
  })
  expect((await run(listInstallments, who, { Emitente: '11222333000262' })).items).toHaveLength(2)
  expect((await run(listInstallments, who, { Emitente: farmer })).items).toHaveLength(0)
})

test('without a period the last twelve months and what comes are told, and a period has up to three years', async () => {
  const { who, due } = await newOffice()
  await due(1, 1, -3_000, 100)
  await due(1, 2, -400, 200)
  await due(2, 1, -300, 400)
  await due(2, 2, 900, 800)
  const sums = await run(sumInstallments, who)
  expect(sums).toMatchObject({ total: { totalDeItens: 2, valorTotal: 12 }, faltaLer: 3 })
  expect(sums.desde < dayOf(-360) && sums.desde > dayOf(-370)).toBe(true)
  const count = async (query: object) => (await run(sumInstallments, who, query)).total.totalDeItens
  expect(await count({ VencimentoDe: dayOf(-500) })).toBe(3)
  expect(await count({ VencimentoAte: dayOf(-100) })).toBe(2)
  expect(await count({ VencimentoDe: dayOf(-3_100), VencimentoAte: dayOf(-2_900) })).toBe(1)
  await expect(count({ VencimentoDe: dayOf(-3_100) })).rejects.toThrow(/até 36 meses\. Escolha também o último dia\./)
  await expect(count({ VencimentoDe: dayOf(-3_100), VencimentoAte: dayOf(0) })).rejects.toThrow(/Escolha um menor\./)
})

test('a parcel without due date is listed last, in the sums, and in a group of its own', async () => {
  const { who, due } = await newOffice()
  await due(1, 1, -3, 1_000)
  await due(1, 2, 'never', 20_000)
  await due(2, 1, 5, 3_000)
  const { items } = await run(listInstallments, who)
  expect(items.map(({ vencimento, vencida }) => [vencimento, vencida])).toEqual([
    [dayOf(-3), true],
    [dayOf(5), false],
    [null, false],
  ])
  const sums = await run(sumInstallments, who, { Por: 'mes' })
  expect(sums.total).toEqual({ totalDeItens: 3, valorTotal: 240 })
  expect(sums.grupos.at(-1)).toMatchObject({
    situacao: 'abertas',
    de: null,
    ate: null,
    semVencimento: true,
    valorTotal: 200,
  })
  const undated = { SemVencimento: 'true' }
  const { idsParcelas } = await run(selectInstallments, who, undated)
  expect(idsParcelas).toEqual([items[2]!.idParcela])
  expect((await run(sumInstallments, who, { Situacao: 'a-vencer' })).total.totalDeItens).toBe(1)
  expect((await run(listInstallments, who, { VencimentoAte: dayOf(9) })).items).toHaveLength(2)

  await mark(who, idsParcelas, true)
  const paid = await run(sumInstallments, who, { Situacao: 'pagas' })
  expect(paid.grupos).toMatchObject([{ situacao: 'pagas', semVencimento: true }])
  expect((await run(listInstallments, who, { ...undated, Situacao: 'pagas' })).items).toHaveLength(1)
})

test('a page ends where the next one begins, also among those marked as paid', async () => {
  const { who, due } = await newOffice()
  for (let place = 1; place <= 60; place++) await due(1, place, place > 40 ? 'never' : place % 3, 100)
  for (const Situacao of ['abertas', 'pagas']) {
    const first = await run(listInstallments, who, { Situacao })
    const second = await run(listInstallments, who, { Situacao, depoisDe: first.proximo! })
    const ids = [...first.items, ...second.items].map(({ idParcela }) => idParcela)
    expect([first.items.length, new Set(ids).size, second.proximo]).toEqual([50, 60, null])
    if (Situacao === 'abertas') await mark(who, ids, true)
  }
  await expect(run(listInstallments, who, { depoisDe: 'x' })).rejects.toMatchObject({ code: 'not-found' })
})

test('a person marks parcels as paid and takes it back; who and when is told, the audit has it, and the first mark stays', async () => {
  const { who, due, workspaceId } = await newOffice()
  for (const place of [1, 2, 3]) await due(1, place, 5, 150_050)
  const { idsParcelas, totalDeItens } = await run(selectInstallments, who)
  expect([idsParcelas.length, totalDeItens]).toEqual([3, 3])
  const first = await mark(who, idsParcelas.slice(0, 1), true)
  expect(first.message).toBe('1 parcela marcada como paga.')
  const other = { ...who, accountId: (await insertAccount(ctx.db, workspaceId, { name: 'Bia' })).id }
  const all = await mark(other, idsParcelas, true)
  expect(all.data.idsParcelas.toSorted()).toEqual(idsParcelas.slice(1).toSorted())
  const { items } = await run(listInstallments, who, { Situacao: 'pagas' })
  expect(items.map(({ marcadaComoPaga }) => marcadaComoPaga?.quem)).toEqual(['Bia', 'Bia', 'Ana Souza'])
  expect(items[0]!.vencida).toBe(false)
  expect((await run(listInstallments, who)).items).toEqual([])
  await mark(who, all.data.idsParcelas, false)
  expect((await run(listInstallments, who)).items).toHaveLength(2)
  const audit = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db.selectFrom('audit').select('description').where('workspace_id', '=', workspaceId).orderBy('id').execute(),
  )
  expect(audit.map(({ description }) => description.replaceAll('\u00a0', ' '))).toEqual([
    expect.stringMatching(/^Marcou a parcela 001 da nota \d{44}, de R\$ 1\.500,50, como paga\.$/),
    expect.stringMatching(
      /^Marcou 2 parcelas, de R\$ 3\.001,00 ao todo, como pagas: 002 da nota \d{44}; 003 da nota \d{44}\.$/,
    ),
    expect.stringMatching(/^Tirou a marca de paga de 2 parcelas, de R\$ 3\.001,00 ao todo: 002 da nota \d{44}; 003 da/),
  ])
})

test('what is not there, does not stand or is of others is not marked, and nothing else is', async () => {
  const { who, due } = await newOffice()
  await due(1, 1, 5, 100)
  await due(3, 1, 5, 100, false)
  const { idsParcelas } = await run(selectInstallments, who)
  const theirs = await newOffice()
  await theirs.due(3, 1, 5, 100)
  const foreign = (await run(selectInstallments, theirs.who)).idsParcelas
  for (const id of [...foreign, idsParcelas[0]!.replace(/\d+$/, '2'), 'x'])
    await expect(mark(who, [...idsParcelas, id], true)).rejects.toMatchObject({ code: 'not-found' })
  await expect(mark({ ...who, shared: true }, idsParcelas, true)).rejects.toMatchObject({ code: 'conflict' })
  expect((await run(listInstallments, who, { Situacao: 'pagas' })).items).toEqual([])
})

test('the spreadsheet has the parcels of the filter', async () => {
  const { who, due } = await newOffice()
  await due(1, 1, 5, 150_050)
  await due(2, 1, -5, 100)
  await due(1, 2, 'never', 100)
  const found = installmentRoutes.find((one) => one.route === downloadInstallments)!
  const query = downloadInstallments.query.parse({ Emitente: '11222333000181' }) as never
  const file = (await found.run(
    ctx,
    { params: undefined, query, body: undefined, form: undefined },
    who,
    testCaller,
  )) as {
    content: Buffer
    fileName: string
  }
  expect(file.fileName).toBe('vencimentos.xlsx')
  const text = readZip(file.content).get('xl/worksheets/sheet1.xml')!.toString()
  expect(text).toContain('<v>1500.50</v>')
  expect(text).toContain('PAPELARIA SÃO JOÃO LTDA')
  expect(text).toContain('sem vencimento')
  expect(text).not.toContain('PAPELARIA FILIAL')
})
