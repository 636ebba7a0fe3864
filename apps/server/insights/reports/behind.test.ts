import { groupsOf, type ReportSubject, reportSubjects } from '@vigia/contract/reports'
import { contentsOf, type NfeContents, readDetails } from '@vigia/dfe/read'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { noteWith, readEverything } from '../../documents/contents/testing.ts'
import { searchDocuments } from '../../documents/list/list.ts'
import { openReceived } from '../../documents/received/bytes.ts'
import { receivedContent } from '../../documents/received/column.ts'
import { arrive, company, cteProc, deliverTo, evento, eventoCte } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { readWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { readReport } from './reports.ts'
import type { Question } from './sums.ts'

const { ctx } = await useContext()

const [one, other, customer] = ['11222333000181', '99888777000166', '33444555000181'] as const
const months = ['2026-10', '2026-11']
const types: Record<ReportSubject, 0 | 2> = { compras: 0, emitidas: 0, fretes: 2 }

const document = fc.record({
  kind: fc.constantFrom('bought' as const, 'issued' as const, 'freight' as const),
  issuer: fc.constantFrom(one, other),
  uf: fc.constantFrom('SP', 'PR'),
  month: fc.constantFrom(...months),
  // A devolução, an entry note, cancelled.
  finNFe: fc.constantFrom('1', '1', '1', '4', '6'),
  tpNF: fc.constantFrom('1', '1', '1', '0'),
  cancelled: fc.constantFrom(false, false, true),
  amount: fc.integer({ min: 1, max: 900_000 }).map((cents) => (cents / 100).toFixed(2)),
  items: fc.array(
    fc.record({
      name: fc.constantFrom('PAPEL', 'TINTA'),
      cfop: fc.constantFrom('5102', '6102'),
      ncm: fc.constantFrom('48025610', '34025000', '00'),
      value: fc.integer({ min: 1, max: 9_000 }).map((cents) => (cents / 100).toFixed(2)),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

function filesOf(documents: readonly (typeof document extends fc.Arbitrary<infer One> ? One : never)[]) {
  const files = { nfe: [] as string[], cte: [] as string[] }
  for (const [index, { kind, issuer, uf, month, finNFe, tpNF, cancelled, amount, items }] of documents.entries()) {
    const about = { number: index + 1, issuedAt: `${month}-10T09:15:00-03:00`, amount }
    if (kind === 'freight') {
      const freight = { ...about, issuer, payer: company, sender: customer }
      files.cte.push(
        cteProc(freight).replace('<dhEmi>', uf === 'PR' ? '<UFIni>SP</UFIni><UFFim>PR</UFFim><dhEmi>' : '<dhEmi>'),
      )
      if (cancelled) files.cte.push(eventoCte(110111, freight))
      continue
    }
    const note = { ...about, ...(kind === 'issued' ? { issuer: company, recipient: issuer } : { issuer }) }
    files.nfe.push(
      noteWith({ ...note, issuerUf: uf, items, finNFe }).replace(/<tpNF>1<\/tpNF>/, `<tpNF>${tpNF}</tpNF>`),
    )
    if (cancelled) files.nfe.push(evento(110111, note))
  }
  return files
}

test('the list behind every number of a report has as many documents and the same sum, to the cent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(document, { minLength: 1, maxLength: 14 }), async (documents) => {
      const workspaceId = await newWorkspace(ctx.db)
      const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
      const { nfe, cte } = filesOf(documents)
      for (const [service, files] of [
        ['nfe', nfe],
        ['cte', cte],
      ] as const)
        await deliverTo(ctx, { workspaceId, companyId }, service, files)
      await readEverything(ctx)
      for (const subject of reportSubjects)
        for (const group of groupsOf[subject])
          for (const [from, to] of [
            ['2026-11', '2026-11'],
            ['2026-10', '2026-11'],
          ] as const) {
            const question: Question = { subject, group, from, to, companyId: undefined, text: '' }
            const { linhas, total } = await readReport(ctx, workspaceId, question, 1)
            const list = async (line: string | undefined, [first, last]: [string, string]) => {
              const { rows, total, amount } = await searchDocuments(ctx, workspaceId, {
                TipoDFe: types[subject],
                DataDe: `${first}-01T00:00:00`,
                DataAte: `${last}-30T23:59:59`,
                ContaComo: subject,
                LinhaDoRelatorio: line,
                page: 1,
              })
              return { ids: rows.map(({ id }) => id), documents: total, value: Math.round(Number(amount) * 100) }
            }
            const cents = (reais: number) => Math.round(reais * 100)
            const whole = await list(undefined, [from, to])
            expect([subject, group, whole.value]).toEqual([subject, group, cents(total.valor)])
            if (total.documentos !== null) expect(whole.documents).toBe(total.documentos)
            for (const { chave, documentos, valor } of linhas) {
              const behind = await (group === 'mes'
                ? list(undefined, [chave, chave])
                : list(`${group}:${chave}`, [from, to]))
              expect([subject, group, chave, behind.documents]).toEqual([subject, group, chave, documentos])
              // A document may have items of other lines: of it, what belongs to this one.
              const value =
                group === 'cfop' || group === 'ncm' || group === 'produto'
                  ? await valueIn(workspaceId, behind.ids, group, chave)
                  : behind.value
              expect([subject, group, chave, value]).toEqual([subject, group, chave, cents(valor)])
            }
          }
    }),
    { numRuns: runs(6) },
  )
})

test('a root stands for all of its establishments', async () => {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const branch = '11222333000262'
  await deliverTo(
    ctx,
    { workspaceId, companyId },
    'nfe',
    [one, branch, other].map((issuer, index) => arrive(index + 1, noteWith({ number: index + 1, issuer }))),
  )
  await readEverything(ctx)
  const { total } = await searchDocuments(ctx, workspaceId, {
    TipoDFe: 0,
    ContaComo: 'compras',
    LinhaDoRelatorio: 'participante:11222333',
    page: 1,
  })
  expect(total).toBe(2)
})

async function valueIn(workspaceId: number, ids: readonly bigint[], group: 'cfop' | 'ncm' | 'produto', key: string) {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ content: Buffer }>`
      select ${receivedContent(workspaceId, 'r')} as content from document d join receipt r
          on r.workspace_id = d.workspace_id and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu
       where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])`.execute(db),
  )
  const contents = rows.map(({ content }) => contentsOf(readDetails(openReceived(content))!)!)
  const product = group === 'produto' ? await nameOf(workspaceId, Number(key)) : null
  const cents = (text: string | undefined) => Math.round(Number(text ?? 0) * 100)
  return contents.reduce((sum, one) => {
    const { items, totals, issuer } = one as NfeContents
    const all = items.reduce((sum, { prod }) => sum + cents(prod.vProd), 0)
    if (product === null && key === '') return sum + cents(totals.vNF) - all
    const belongs = ({ prod }: NfeContents['items'][number]) =>
      product
        ? prod.xProd === product.name && prod.NCM === product.ncm && issuer.CNPJ === product.issuer
        : (group === 'cfop' ? prod.CFOP : prod.NCM) === key
    return sum + items.filter(belongs).reduce((sum, { prod }) => sum + cents(prod.vProd), 0)
  }, 0)
}

const nameOf = (workspaceId: number, id: number) =>
  readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('product')
      .select(['issuer', 'name', 'ncm'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow(),
  )
