import type { FreightFinding } from '@vigia/contract/freight'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { freightWith, noteWith, readEverything, type TestFreight } from '../../documents/contents/testing.ts'
import { rebuildProjection } from '../../documents/rebuild.ts'
import { receive } from '../../documents/receive.ts'
import { arrive, chaveOf, company, cteChaveOf, evento, eventoCte, resNFe } from '../../documents/testing.ts'
import type { Database } from '../../platform/context.ts'
import { useContext, useOwner } from '../../platform/database.testing.ts'
import { inWorkspace, limitedRole, limitTo, openDatabase } from '../../platform/database.ts'
import { insertCompany, newWorkspace, testSession } from '../../platform/testing.ts'
import { readMoney } from '../dashboard/money.ts'
import { findFindings, listFindings, markFinding, type Question, sumFindings } from './freight.ts'
import { makeSheet } from './sheet.ts'

const { url, ctx } = await useContext()
const limited = openDatabase(url, { role: limitedRole })
const owner = await useOwner(url)

afterAll(() => limited.destroy())

const carrier = '77888999000181'
const open: Question = { MesDe: '2026-11', MesAte: '2026-11', Estado: 'abertos' }
const branch = '44555666000262'

async function newOffice(arrivedAt = new Date(Date.now() - 30 * 86_400_000)) {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const { id: branchId } = await insertCompany(ctx.db, workspaceId, { cnpj: branch, name: 'FILIAL' })
  const inside = <T>(work: (db: Database) => Promise<T>, whole = ctx.db) =>
    inWorkspace({ db: whole }, workspaceId, ({ db }) => work(db))
  let nsu = 0
  const deliverTo = async (id: number, cnpj: string, files: readonly string[]) => {
    await inside(async (db) => {
      for (const xml of files)
        await receive({ db, log: ctx.log }, { workspaceId, companyId: id, cnpj }, /CTe/.test(xml) ? 'cte' : 'nfe', [
          arrive(++nsu, xml),
        ])
    })
    await owner.query('update receipt set received_at = $2 where workspace_id = $1', [workspaceId, arrivedAt])
  }
  return {
    workspaceId,
    companyId,
    branchId,
    inside,
    deliver: (...files: string[]) => deliverTo(companyId, company, files),
    deliverToBranch: (...files: string[]) => deliverTo(branchId, branch, files),
    rebuild: () => rebuildProjection(ctx, { workspaceId, companyId, cnpj: company }),
    list: (question: Partial<Question> = {}, of = ctx.db) =>
      inside(
        async (db) => (await listFindings({ ...ctx, db }, workspaceId, { ...open, ...question }, undefined)).items,
        of,
      ),
    sums: () => inside((db) => sumFindings({ db }, workspaceId, open)),
    stored: () =>
      inside(async (db) => {
        const { rows } = await sql<{ text: string }>`
          select f.code || ' ' || d.number || ' ' || f.sentence || ' ' || f.documents::text as text from freight_finding f
            join document d on d.workspace_id = f.workspace_id and d.id = f.document_id where f.workspace_id = ${workspaceId} order by 1`.execute(
          db,
        )
        return rows.map(({ text }) => text)
      }),
    mark: ({ idDFe, regra, frase }: FreightFinding, isRight: boolean, of = ctx.db) =>
      inside(
        (db) =>
          markFinding(
            { ...ctx, db },
            testSession(workspaceId),
            { id: ctx.ids.decode(workspaceId, idDFe)!, code: regra, sentence: frase },
            isRight,
          ),
        of,
      ),
  }
}

const freight = (number: number, options: TestFreight = {}) =>
  freightWith({
    number,
    issuer: carrier,
    recipient: company,
    payer: 3,
    amount: '300.00',
    issuedAt: `2026-11-${String(number).padStart(2, '0')}T10:00:00-03:00`,
    ...options,
  })
const note = (number: number, modFrete = '1') =>
  noteWith({ number, amount: '5000.00' }).replace('<modFrete>0<', `<modFrete>${modFrete}<`)
const today = `${new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`
const ever = { MesAte: '2099-12' }
const chave = (number: number) => chaveOf({ number })
const codes = (found: readonly FreightFinding[]) => found.map(({ regra, numero }) => `${regra} ${numero}`)

describe('a bill', () => {
  test('without note is told after five days, until the note comes, also as a resumo', async () => {
    const { deliver, list } = await newOffice()
    await deliver(freight(1, { notes: [chave(1)] }), freight(2, { notes: [chave(2)], issuedAt: today }), freight(3))
    await readEverything(ctx)
    expect(codes(await list(ever))).toEqual(['fr-sem-nota 3', 'fr-sem-nota 1'])
    await deliver(resNFe({ number: 1 }))
    await readEverything(ctx)
    expect(codes(await list())).toEqual(['fr-sem-nota 3'])
  })

  test('that came late is told without note five days after it came', async () => {
    const { deliver, list } = await newOffice(new Date())
    await deliver(freight(1, { notes: [chave(1)] }), freight(3))
    await readEverything(ctx)
    expect(codes(await list())).toEqual(['fr-sem-nota 3'])
  })

  test('is found charged to the wrong payer once its note is complete, and no more when the note is cancelled', async () => {
    const { deliver, list } = await newOffice()
    await deliver(freight(1, { notes: [chave(1)], issuedAt: today }), resNFe({ number: 1 }))
    await readEverything(ctx)
    expect(await list(ever)).toEqual([])
    await deliver(note(1, '0'))
    await readEverything(ctx)
    const [found] = await list(ever)
    expect(found).toMatchObject({
      regra: 'fr-tomador',
      nome: 'Tomador trocado',
      valor: 300,
      frase:
        'O frete de R$ 300,00 foi cobrado de 44.555.666/0001-81, mas na NF-e nº 1 o frete é CIF, por conta do remetente, 11.222.333/0001-81.',
      documentos: [{ tipoDFe: 0, numero: 1, valor: 5000 }],
      certo: null,
      desacordoAte: expect.any(String),
    })
    expect(found!.documentos[0]!.idDFe).not.toBeNull()
    await deliver(evento(110111, { number: 1 }))
    await readEverything(ctx)
    expect(await list(ever)).toEqual([])
  })

  test('charged twice is told of the later one, until the first is cancelled', async () => {
    const { deliver, list, sums } = await newOffice()
    await deliver(note(1), freight(2, { notes: [chave(1)], amount: '320.00' }), freight(1, { notes: [chave(1)] }))
    await readEverything(ctx)
    expect(codes(await list())).toEqual(['fr-dobro 2'])
    expect((await list())[0]!.documentos.map(({ tipoDFe, numero }) => [tipoDFe, numero])).toEqual([
      [2, 1],
      [0, 1],
    ])
    expect(await sums()).toMatchObject({ total: { totalDeItens: 1, valorTotal: 320 } })
    await deliver(eventoCte(110111, { number: 1, issuer: carrier }))
    await readEverything(ctx)
    expect(await list()).toEqual([])
  })

  test('that another establishment of the company pays is judged there, and what it only receives is asked for its note', async () => {
    const { deliver, deliverToBranch, list } = await newOffice()
    const ofBranch = freight(1, { notes: [chave(1)], payer: branch, recipient: company })
    await deliver(ofBranch, note(1, '0'), freight(2, { payer: carrier, notes: [chave(9)] }))
    await deliverToBranch(ofBranch)
    await readEverything(ctx)
    expect((await list()).map(({ regra, empresa, numero }) => [regra, empresa, numero])).toEqual([
      ['fr-sem-nota', 'EMPRESA', 2],
      ['fr-tomador', 'FILIAL', 1],
    ])
  })
})

test('what the database refuses of findings keeps no other finding back', async () => {
  const { deliver, list } = await newOffice()
  await owner.query('alter table freight_finding add constraint refused check (value <> 12345) not valid')
  await deliver(freight(1, { amount: '123.45' }))
  await readEverything(ctx)
  expect(await list()).toEqual([])
  await owner.query('alter table freight_finding drop constraint refused')
  await deliver(freight(2))
  await readEverything(ctx)
  expect(codes(await list())).toEqual(['fr-sem-nota 2', 'fr-sem-nota 1'])
})

const lane = Array.from({ length: 8 }, (_, index) => index + 1)

test('a freight far from what is usual in its lane is told with the trips, and judged anew when one of them falls out', async () => {
  const { deliver, list } = await newOffice()
  await deliver(
    freight(20, { amount: '900.00', notes: [chave(20)] }),
    ...[...lane, 20].map((number) => note(number)),
    ...lane.map((number) => freight(number, { notes: [chave(number)] })),
  )
  await readEverything(ctx)
  const found = await list()
  expect(codes(found)).toEqual(['fr-quilo 20', 'fr-valor 20'])
  expect(found[1]!.frase).toBe(
    'O frete de R$ 900,00 é 18% do valor da carga, 3 vezes a mediana de 8 viagens anteriores de São Paulo (SP) a Joinville (SC) (6%).',
  )
  expect(found[1]!.documentos).toHaveLength(8)
  await deliver(eventoCte(110111, { number: 4, issuer: carrier }))
  await readEverything(ctx)
  expect(await list()).toEqual([])
})

test('whatever comes in whichever order, is cancelled and is made anew, the findings are those of the documents', async () => {
  const all = [
    ...lane.map((number) => freight(number, { notes: [chave(number)] })),
    ...[1, 2, 3, 20, 21].map((number) => note(number, number === 3 ? '0' : '1')),
    resNFe({ number: 5 }),
    freight(20, { amount: '900.00', notes: [chave(20)] }),
    freight(21, { amount: '310.00', notes: [chave(20)] }),
    freight(22, { amount: '310.00', notes: [chave(21)] }),
    freight(23, { tpCTe: '3', notes: [chave(21)] }),
    eventoCte(110111, { number: 20, issuer: carrier }),
    eventoCte(110111, { number: 4, issuer: carrier }),
    evento(110111, { number: 3 }),
  ]
  const pick = fc.shuffledSubarray([...all.keys()], { minLength: all.length - 5 })
  await fc.assert(
    fc.asyncProperty(
      pick,
      fc.array(fc.nat(all.length), { maxLength: 4 }),
      fc.boolean(),
      async (order, pauses, anew) => {
        const [one, other] = [await newOffice(), await newOffice()]
        for (const [index, place] of order.entries()) {
          await one.deliver(all[place]!)
          if (pauses.includes(index)) await readEverything(ctx)
        }
        if (anew) await one.rebuild()
        await other.deliver(...order.toSorted((a, b) => a - b).map((place) => all[place]!))
        await readEverything(ctx)
        expect(await one.stored()).toEqual(await other.stored())
      },
    ),
    { numRuns: runs(24) },
  )
}, 120_000)

test('what a person found right is told no more, until it is reopened or says something else', async () => {
  const { workspaceId, deliver, list, mark, inside } = await newOffice()
  await deliver(note(1), freight(2, { notes: [chave(1)] }), freight(3, { notes: [chave(1)] }))
  await deliver(freight(1))
  await readEverything(ctx)
  const found = await list()
  expect(codes(found)).toEqual(['fr-dobro 3', 'fr-sem-nota 1'])
  await expect(mark({ ...found[0]!, frase: 'Outra.' }, true)).rejects.toThrow('mudou desde que você o viu')
  for (const one of found) expect(await mark(one, true)).toBe(true)
  expect(await mark(found[0]!, true)).toBe(false)
  expect(await list()).toEqual([])
  const right = await list({ Estado: 'certos' })
  expect(right[0]).toMatchObject({ certo: { quem: null, quando: expect.any(String) } })
  const id = ctx.ids.decode(workspaceId, found[0]!.idDFe)!
  expect(await inside((db) => findFindings({ ...ctx, db }, workspaceId, id))).toEqual([right[0]])
  expect(await mark(right[1]!, false)).toBe(true)
  expect(codes(await list())).toEqual(['fr-sem-nota 1'])
  // An earlier bill of the same note, other than the one that the person looked at.
  await deliver(freight(1, { number: 30, notes: [chave(1)], issuedAt: '2026-11-01T08:00:00-03:00' }))
  await readEverything(ctx)
  expect(codes(await list())).toContain('fr-dobro 3')
  const audit = await inside((db) => db.selectFrom('audit').select('description').orderBy('id').execute())
  expect(audit.map(({ description }) => description)).toEqual([
    `Aceitou a divergência de frete Cobrado em dobro do CT-e ${cteChaveOf({ number: 3, issuer: carrier })}.`,
    `Aceitou a divergência de frete Sem nota do CT-e ${cteChaveOf({ number: 1, issuer: carrier })}.`,
    `Reabriu a divergência de frete Sem nota do CT-e ${cteChaveOf({ number: 1, issuer: carrier })}.`,
  ])
  await expect(mark({ ...found[0]!, regra: 'fr-quilo' }, true)).rejects.toThrow('não existe mais')
})

test('the list is of a period, a company, a carrier and a rule, in pages; the sheet has all of it', async () => {
  const office = await newOffice()
  const { workspaceId, deliver, list, inside } = office
  await deliver(
    freight(1),
    freight(2, { issuer: '11111111000191' }),
    freight(3, { issuedAt: '2026-10-31T23:59:59-03:00' }),
    freight(4, { issuedAt: '2026-11-30T23:59:59-03:00' }),
  )
  await readEverything(ctx)
  expect(codes(await list())).toEqual(['fr-sem-nota 4', 'fr-sem-nota 2', 'fr-sem-nota 1'])
  const count = async (question: Partial<Question>) => (await list(question)).length
  expect(await count({ CampoPesquisa: '11.111.111' })).toBe(1)
  expect(await count({ CampoPesquisa: 'ninguém' })).toBe(0)
  for (const CampoPesquisa of ['—', '\u0303']) expect(await count({ CampoPesquisa })).toBe(0)
  expect(await count({ MesDe: '2026-10', MesAte: '2026-10' })).toBe(1)
  expect(await count({ companyId: office.branchId })).toBe(0)
  expect(await count({ Regra: 'fr-dobro' })).toBe(0)
  const pages: string[][] = []
  for (let after: string | undefined, more = true; more; ) {
    const page = await inside((db) => listFindings({ ...ctx, db }, workspaceId, open, after, 2))
    pages.push(codes(page.items))
    after = page.proximo ?? undefined
    more = page.proximo !== null
  }
  expect(pages).toEqual([['fr-sem-nota 4', 'fr-sem-nota 2'], ['fr-sem-nota 1']])
  for (const after of ['x', '99999999999999.fr-dobro.x'])
    await expect(inside((db) => listFindings({ ...ctx, db }, workspaceId, open, after, 2))).rejects.toThrow(
      'Esta página da lista não existe',
    )
  expect((await makeSheet(ctx, workspaceId, open, 'Todas as empresas')).subarray(0, 2).toString()).toBe('PK')
})

test('another workspace sees nothing, and who sees one company neither the other nor what is compared with it', async () => {
  const office = await newOffice()
  const { companyId, branchId, deliver, deliverToBranch, list } = office
  await deliver(note(1), freight(1, { notes: [chave(1)] }))
  await deliverToBranch(freight(2, { notes: [chave(1)], payer: branch }), freight(3, { payer: branch }))
  await readEverything(ctx)
  expect(codes(await list())).toEqual(['fr-sem-nota 3', 'fr-dobro 2'])
  expect(await (await newOffice()).list()).toEqual([])
  const of = (id: number) => limitTo(limited, [id], ctx.db)
  expect(await list({}, of(companyId))).toEqual([])
  const seen = await list({}, of(branchId))
  expect(codes(seen)).toEqual(['fr-sem-nota 3', 'fr-dobro 2'])
  expect(seen[1]).toMatchObject({
    frase: 'Compara com um documento de uma empresa que você não vê.',
    documentos: [
      { idDFe: null, valor: null, emitente: '' },
      { idDFe: null, valor: null },
    ],
  })
  await expect(office.mark(seen[1]!, true, of(branchId))).rejects.toThrow('que você não vê')
  await office.mark(seen[0]!, true, of(branchId))
  expect(codes(await list())).toEqual(['fr-dobro 2'])
})

test('the money of the dashboard: the dearest carriers by weight, what was charged twice, and what grave alerts are worth', async () => {
  const { workspaceId, deliver, inside } = await newOffice()
  const at = (number: number, options: TestFreight = {}) => freight(number, { issuedAt: today, ...options })
  const cheap = (number: number) => at(number, { issuer: '66777888000132', kilos: '3000.0000' })
  await deliver(
    ...[note(1), at(1, { notes: [chave(1)], issuedAt: `${today.slice(0, 10)}T00:00:00-03:00` })],
    ...[at(2, { notes: [chave(1)] }), at(3), cheap(11), cheap(12), cheap(13), at(21, { issuer: '55666777000101' })],
  )
  await readEverything(ctx)
  const money = () => inside((db) => readMoney({ db }, workspaceId))
  expect(await money()).toEqual({
    aConferir: { documentos: 0, valor: 0 },
    transportadoras: [
      expect.objectContaining({ cnpjCpf: carrier, documentos: 3, valor: 900, porQuilo: 1.5, aRecuperar: 300 }),
      expect.objectContaining({ documentos: 3, porQuilo: 0.1, aRecuperar: 0 }),
    ],
  })
  await inside((db) =>
    sql`update document set alert_band = case when number = 1 then 2 else 1 end where workspace_id = ${workspaceId} and type = 0`.execute(
      db,
    ),
  )
  expect((await money()).aConferir).toEqual({ documentos: 1, valor: 5000 })
})
