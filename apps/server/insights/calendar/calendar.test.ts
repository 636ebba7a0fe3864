import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { receive } from '../../documents/receive.ts'
import { arrive, company, resNFe } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import type { Caller, Session } from '../../platform/http/session.ts'
import { insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { calendarRoutes } from './calendar.ts'

const { ctx } = await useContext({ PUBLIC_URL: 'https://vigia.example' })

const [state, change, read] = calendarRoutes
const nothing = { params: undefined, query: undefined, body: undefined, form: undefined }
const seen = async (session: Session, Calendario = 'prazos') =>
  (
    (await state!.run(ctx, { ...nothing, query: { Calendario } } as never, session, testCaller)) as {
      data: { desde: string | null }
    }
  ).data.desde
const set = async (session: Session, ligado: boolean, calendario = 'prazos') =>
  (
    (await change!.run(ctx, { ...nothing, body: { ligado, calendario } } as never, session, testCaller)) as {
      data: { endereco: string | null }
    }
  ).data.endereco
const fetched = async (address: string | null, caller: Caller = testCaller) => {
  const segredo = /^https:\/\/vigia\.example\/prazos\/(.{43})\.ics$/.exec(address ?? '')?.[1]
  const file = await read!.run(ctx, { ...nothing, params: { segredo } } as never, null, caller)
  return (file as { content: Buffer }).content.toString().replaceAll('\r\n ', '')
}

async function newPerson(): Promise<Session> {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const { rows } = await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const issuedAt = new Date(Date.now() - 7 * 86_400_000 - 3 * 3_600_000).toISOString().replace(/\..*/, '-03:00')
    await receive({ db, log: ctx.log }, { workspaceId, companyId, cnpj: company }, 'nfe', [
      arrive(1, resNFe({ number: 1, issuedAt, amount: '10.50' })),
      arrive(2, resNFe({ number: 2, issuedAt, amount: '1.50' })),
    ])
    return sql<{ id: number }>`
      insert into account (workspace_id, email, name, password_hash, role)
      values (${workspaceId}, ${`${randomBytes(6).toString('hex')}@exemplo.com.br`}, 'Ana', 'x', 'leitura') returning id`.execute(
      db,
    )
  })
  return { ...testSession(workspaceId), accountId: rows[0]!.id }
}
const give = (session: Session, rights: { all_companies?: boolean; access_until?: Date | null }) =>
  inWorkspace(ctx, session.workspaceId, ({ db }) =>
    db.updateTable('account').set(rights).where('id', '=', session.accountId).execute(),
  )

test('an address shows numbers by day and kind and no names, until another takes its place or it is revoked', async () => {
  const session = await newPerson()
  expect(await seen(session)).toBeNull()
  const first = await set(session, true)
  expect(await seen(session)).toEqual(expect.any(String))
  const text = await fetched(first)
  expect(text.match(/SUMMARY:.*/g)).toEqual(['SUMMARY:Ciência da Operação: 2 notas'])
  expect(text).toMatch(/DESCRIPTION:Último dia para 2 notas de 1 empresa\\, R\$\s12\\,00\./)
  expect(text).not.toMatch(/SOL|PAPELARIA/)
  const uid = /UID:.*/.exec(text)?.[0]
  expect(/UID:.*/.exec(await fetched(first))?.[0]).toBe(uid)
  const second = await set(session, true)
  await expect(fetched(first)).rejects.toMatchObject({ code: 'not-found' })
  expect(await fetched(second)).toContain(uid)
  await set(session, false)
  await expect(fetched(second)).rejects.toMatchObject({ code: 'not-found' })
  expect(await seen(session)).toBeNull()
})

test('an address shows what its person may see now, and nothing when the access has ended', async () => {
  const session = await newPerson()
  const address = await set(session, true)
  await give(session, { all_companies: false })
  expect(await fetched(address)).not.toContain('VEVENT')
  await give(session, { all_companies: true, access_until: new Date(Date.now() - 1000) })
  await expect(fetched(address)).rejects.toMatchObject({ code: 'not-found' })
  await give(session, { access_until: null })
  expect(await fetched(address)).toContain('VEVENT')
  await inWorkspace(ctx, session.workspaceId, ({ db }) =>
    db.deleteFrom('account').where('id', '=', session.accountId).execute(),
  )
  await expect(fetched(address)).rejects.toMatchObject({ code: 'not-found' })
})

test('a shared account gets none, and an address is not fetched without end', async () => {
  const session = await newPerson()
  await expect(set({ ...session, shared: true }, true)).rejects.toMatchObject({ code: 'conflict' })
  const address = await set(session, true)
  for (let n = 0; n < 30; n++) await fetched(address)
  await expect(fetched(address)).rejects.toMatchObject({ code: 'too-many' })
})

test('payments have an address of their own, with what falls due and is not marked as paid', async () => {
  const session = await newPerson()
  await inWorkspace(ctx, session.workspaceId, ({ db }) =>
    sql`
      insert into installment (workspace_id, document_id, place, company_id, due_on, amount, number, issuer, standing, paid_at)
      select d.workspace_id, d.id, p.place, d.company_id, (now() at time zone 'America/Sao_Paulo')::date + p.days, 100050, '1', '11222333000181', p.standing, p.paid
        from document d, (values (1, 0, true, null), (2, 0, true, now()), (3, 0, false, null), (4, -1, true, null), (5, 59, true, null), (6, 60, true, null))
             p (place, days, standing, paid)
       where d.workspace_id = ${session.workspaceId} and d.number = 1`.execute(db),
  )
  const [payments, deadlines] = [await set(session, true, 'vencimentos'), await set(session, true)]
  expect(await seen(session, 'vencimentos')).toEqual(expect.any(String))
  const text = await fetched(payments)
  expect(text.match(/SUMMARY:.*/g)).toEqual(
    Array(2).fill(expect.stringMatching(/^SUMMARY:Vencimentos: 1 parcela\\, R\$\s1\.000\\,50$/)),
  )
  expect(text).toContain('DESCRIPTION:1 parcela de 1 fornecedor\\, em aberto.')
  expect(text).toContain('X-WR-CALNAME:Vencimentos a pagar')
  expect(text).not.toMatch(/SOL|PAPELARIA/)
  expect(await fetched(deadlines)).toContain('Ciência')
  await set(session, false, 'vencimentos')
  await expect(fetched(payments)).rejects.toMatchObject({ code: 'not-found' })
  expect(await fetched(deadlines)).toContain('Ciência')
})
