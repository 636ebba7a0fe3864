import type { Due } from '@vigia/contract/agenda'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { expect, test } from 'vitest'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { company, cteProc, deliverTo, nfeProc, resNFe } from '../testing.ts'
import { agendaRoutes } from './agenda.ts'

const { ctx } = await useContext()

const today = new Date(new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10))
const dayOf = (days: number) => new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10)
const at = (days: number) => `${dayOf(days)}T12:00:00-03:00`

test('answers are listed by the day until which they can be given, with companies and sums, archived ones left out', async () => {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const deliver = (service: 'nfe' | 'cte', ...files: string[]) =>
    deliverTo(ctx, { workspaceId, companyId }, service, files)
  await deliver(
    'nfe',
    // The Ciência until tomorrow and in three days.
    resNFe({ number: 1, issuedAt: at(-9), amount: '100.00' }),
    resNFe({ number: 2, issuedAt: at(-7), amount: '10.50' }),
    resNFe({ number: 3, issuedAt: at(-7), amount: '1.50' }),
    // A complete note takes its last answer 90 days after its authorisation: in five days.
    nfeProc({ number: 4, issuedAt: at(-85), amount: '7.00' }),
    nfeProc({ number: 5, issuedAt: at(-1), amount: '9.00' }),
  )
  await deliver('cte', cteProc({ payer: company, issuedAt: at(-44), amount: '50.00' }))
  const list = async () => {
    const [route] = agendaRoutes
    const input = { params: undefined, query: undefined as never, body: undefined as never, form: undefined }
    return ((await route!.run(ctx, input, testSession(workspaceId), testCaller)) as { data: Due[] }).data
  }
  const one = { totalDeEmpresas: 1, empresas: ['SOL'] }
  expect(await list()).toEqual([
    { dia: dayOf(1), tipoDFe: 0, para: 'ciencia', totalDeItens: 1, valorTotal: 100, ...one },
    { dia: dayOf(3), tipoDFe: 0, para: 'ciencia', totalDeItens: 2, valorTotal: 12, ...one },
    { dia: dayOf(5), tipoDFe: 0, para: 'manifestacao', totalDeItens: 1, valorTotal: 7, ...one },
    { dia: dayOf(1), tipoDFe: 2, para: 'desacordo', totalDeItens: 1, valorTotal: 50, ...one },
  ])
  await insertCompany(ctx.db, workspaceId, { cnpj: '11222333000181', name: 'Sol' })
  expect((await list())[0]).toMatchObject({ totalDeEmpresas: 1, empresas: [`SOL (${formatCnpj(company)})`] })
  await inWorkspace(ctx, workspaceId, ({ db }) => db.updateTable('company').set({ archived_at: new Date() }).execute())
  expect(await list()).toEqual([])
})
