import { viewsMax } from '@vigia/contract/views'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertAccount, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { viewRoutes } from './views.ts'

const { ctx } = await useContext()

interface View {
  idVisao: string
  nome: string
  endereco: string
  inicial: boolean
}

type Who = ReturnType<typeof testSession>

async function run(method: string, who: Who, body?: object): Promise<View[]> {
  const found = viewRoutes.find(({ route }) => route.method === method)!
  const input = { params: undefined, query: undefined, body: body as never, form: undefined }
  return ((await found.run(ctx, input, who, testCaller)) as { data: View[] }).data
}

async function person(workspaceId: number): Promise<Who> {
  const account = await insertAccount(ctx.db, workspaceId)
  return { ...testSession(workspaceId), accountId: account.id }
}

const view = (nome: string, endereco = 'status=1', inicial = false) => ({ tipoDFe: 0, nome, endereco, inicial })

test('a view is for everybody in the workspace, the one with which somebody begins for that person alone', async () => {
  const workspaceId = await newWorkspace(ctx.db)
  const [ana, bia] = [await person(workspaceId), await person(workspaceId)]
  await run('PUT', ana, view('Resumos', 'status=1', true))
  await run('PUT', ana, view('Maiores', 'ordem=valor', true))
  const told = async (who: Who) => (await run('GET', who)).map(({ nome, inicial }) => [nome, inicial])
  expect(await told(ana)).toEqual([
    ['Maiores', true],
    ['Resumos', false],
  ])
  expect(await told(bia)).toEqual([
    ['Maiores', false],
    ['Resumos', false],
  ])
  expect(await run('GET', await person(await newWorkspace(ctx.db)))).toEqual([])
})

test('one with the same name takes its place, and one that is removed takes its beginnings along', async () => {
  const ana = await person(await newWorkspace(ctx.db))
  await run('PUT', ana, view('Resumos', 'status=1', true))
  const [kept, ...others] = await run('PUT', ana, view('Resumos', 'status=8', true))
  expect(others).toEqual([])
  expect(kept).toMatchObject({ endereco: 'status=8', inicial: true })
  await expect(run('POST', await person(await newWorkspace(ctx.db)), { idVisao: kept!.idVisao })).rejects.toMatchObject(
    {
      code: 'not-found',
    },
  )
  expect(await run('POST', ana, { idVisao: kept!.idVisao })).toEqual([])
})

test('there are not more than the list has room for, and the shared account keeps none of its visitors', async () => {
  const ana = await person(await newWorkspace(ctx.db))
  await inWorkspace(ctx, ana.workspaceId, ({ db }) =>
    sql`insert into saved_view (workspace_id, type, name, address, saved_by)
        select ${ana.workspaceId}, 0, n::text, '', 1 from generate_series(1, ${viewsMax}) n returning 1`.execute(db),
  )
  await expect(run('PUT', ana, view('Mais uma'))).rejects.toMatchObject({ code: 'conflict' })
  expect(await run('PUT', ana, view('7', 'status=8'))).toHaveLength(viewsMax)
  await expect(run('PUT', { ...ana, shared: true }, view('7'))).rejects.toMatchObject({ code: 'conflict' })
})
