import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { hashPassword } from '../../accounts/passwords.ts'
import {
  addCertificate,
  changeLines,
  linesOf,
  newCompany,
  openInstallation,
  ours,
  pause,
} from '../../capture/testing.ts'
import { addKey, keys, listKeys } from '../../companies/keys/keys.ts'
import { receive } from '../../documents/receive.ts'
import { arrive, chaveOf, evento, nfeProc } from '../../documents/testing.ts'
import { useOwner } from '../../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../../platform/database.ts'
import { insertAccount, newWorkspace, testSession } from '../../platform/testing.ts'
import { askForDeletion, deleteWorkspaceOf, eraseDue, eraseUnused, keepAccount } from './deletion.ts'

const password = 'segredo1'
const installation = await openInstallation()
afterAll(() => installation[Symbol.asyncDispose]())
const owner = await useOwner(installation.url)
const opened = installation.openProcess()
const ctx = { ...opened, config: { ...opened.config, passwordCost: { memoryCost: 1024, timeCost: 1 } } }

beforeEach(() => changeLines(ctx, 'cnpj = id::text, next_at = null'))

type Company = Awaited<ReturnType<typeof newCompany>>

const inside = <T>({ workspaceId }: Company, work: (db: (typeof ctx)['db']) => Promise<T>) =>
  inWorkspace(ctx, workspaceId, ({ db }) => work(db))

/** A company with a certificate and an account that somebody enters. */
async function newOffice(options: Parameters<typeof newCompany>[1] = {}) {
  const company = await newCompany(ctx, options)
  await addCertificate(ctx, company, { holder: ours, key: 'k', validTo: '2090-01-01' })
  const account = await insertAccount(ctx.db, company.workspaceId, { passwordHash: await hashPassword(ctx, password) })
  return { ...company, ...account, session: testSession(company.workspaceId, account.id) }
}

const keep = (company: Company, numbers: number[]) =>
  inside(company, (db) =>
    receive(
      { ...ctx, db },
      { ...company, cnpj: ours },
      'nfe',
      numbers.map((number) => arrive(number, nfeProc({ number, recipient: ours }))),
    ),
  )

/** Sets the position delivered to a company in its NF-e captures, and the cursor of their line. */
async function stand(company: Company, delivered: number, cursor: number): Promise<void> {
  await changeLines(ctx, `last_nsu = ${cursor}, max_nsu = ${cursor}`)
  await owner.query('update capture_subscription set delivered_nsu = $2 where workspace_id = $1', [
    company.workspaceId,
    delivered,
  ])
}

const chavesOf = (company: Company) =>
  inside(company, async (db) =>
    (await db.selectFrom('document').select('chave').orderBy('number').execute()).map(({ chave }) => chave),
  )

const keysOf = (company: Company) =>
  inside(company, async (db) =>
    (await db.selectFrom('certificate').select('key_id').execute()).map((row) => row.key_id),
  )

const subscribersOf = () =>
  inCapture(ctx, ({ db }) =>
    sql<{ workspace_id: number }>`
      select distinct workspace_id from capture_subscription s join capture_line l on l.id = s.line_id where l.cnpj = ${ours}`
      .execute(db)
      .then(({ rows }) => rows.map((row) => row.workspace_id)),
  )

/** How many rows of a workspace are left, in every table that has any. */
async function leftOf({ workspaceId }: Company): Promise<Record<string, number>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'workspace_id' order by 1`,
  )
  const left: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await owner.query(`select count(*)::int as n from ${name} where workspace_id = $1`, [workspaceId])
    if (rows[0].n > 0) left[name] = rows[0].n
  }
  const { rows } = await owner.query('select from workspace where id = $1', [workspaceId])
  return rows.length > 0 ? { ...left, workspace: 1 } : left
}

const endWait = ({ workspaceId }: Company) =>
  owner.query("update workspace set erase_at = now() - interval '1 s' where id = $1", [workspaceId])

describe('asking for it', () => {
  test('destroys the keys at once, stops the captures, tells the person, and deletes nothing else yet', async () => {
    const office = await newOffice()
    await keep(office, [1])
    await addKey(ctx, office.session, { nome: 'ERP', permissoes: ['exportar'] })
    const at = await askForDeletion(ctx, office.session, password)
    expect(await listKeys(ctx, office.workspaceId)).toEqual([])
    expect(Math.round((at.getTime() - Date.now()) / 3_600_000)).toBe(30 * 24)
    expect(await keysOf(office)).toEqual([''])
    expect(await leftOf(office)).not.toHaveProperty('workspace_key')
    for (const line of await linesOf(ctx)) expect(line).toMatchObject({ state: 'stopped', next_at: null })
    expect(await eraseDue(ctx)).toBe(0)
    expect(await chavesOf(office)).toHaveLength(1)
    const { rows: mails } = await owner.query('select kind, recipient from mail where workspace_id = $1', [
      office.workspaceId,
    ])
    expect(mails).toContainEqual({ kind: 'exclusao-pedida', recipient: office.email })
    // A second request does not prolong it.
    expect(await askForDeletion(ctx, office.session, password)).toEqual(at)
  })

  test('needs the password', async () => {
    const office = await newOffice()
    await expect(askForDeletion(ctx, office.session, 'errada')).rejects.toThrow('A senha atual não confere.')
    expect(await keysOf(office)).toEqual([expect.stringMatching(/^\w{16}$/)])
    expect((await leftOf(office)).workspace).toBe(1)
  })

  test('can be taken back until the time is over', async () => {
    const office = await newOffice()
    expect(await keepAccount(ctx, office.session)).toBe(false)
    await addKey(ctx, office.session, { nome: 'ERP', permissoes: ['exportar'] })
    const call = { method: 'GET', path: '/v1/api/Dashboard' } as const
    const { rows } = await owner.query<{ id: number }>('select id from api_key where workspace_id = $1', [
      office.workspaceId,
    ])
    await keys.note(ctx, { ...office.session, accountId: rows[0]!.id }, call, true)
    await askForDeletion(ctx, office.session, password)
    expect(await keepAccount(ctx, office.session)).toBe(true)
    expect(await eraseDue(ctx)).toBe(0)
    await askForDeletion(ctx, office.session, password)
    await endWait(office)
    expect(await keepAccount(ctx, office.session)).toBe(false)
    expect(await eraseDue(ctx)).toBe(0)
    expect(await leftOf(office)).toEqual({})
  })
})

describe('a deletion', () => {
  test('leaves no row of the workspace, nor its capture lines, and one that tells nothing of a person', async () => {
    const office = await newOffice()
    const { workspaceId, companyId } = office
    await keep(office, [1, 2])
    await owner.query(
      "insert into certificate_use (workspace_id, certificate_id, service, purpose) select workspace_id, id, 's', 'p' from certificate where workspace_id = $1 returning 1",
      [workspaceId],
    )
    await inside(office, async (db) => {
      await receive({ ...ctx, db }, { ...office, cnpj: ours }, 'nfe', [arrive(3, evento(110111, { number: 1 }))])
      await recordAudit({ db }, office.session, 'login', 'Entrou.')
      for (const statement of [
        sql`insert into mail (workspace_id, kind, recipient) values (${workspaceId}, 'x', ${office.email})`,
        sql`insert into mail (kind, recipient) values ('recuperar-senha', ${office.email})`,
        sql`insert into company_family values (${workspaceId}, ${companyId}, 0, 0)`,
        sql`insert into company_logo values (${workspaceId}, ${companyId}, '')`,
        sql`with export as (insert into document_export (workspace_id, account_id, form, total, request) values (${workspaceId}, 1, 'zip', 1, '{}') returning id)
          insert into export_part (workspace_id, export_id, n, content) select ${workspaceId}, id, 0, '' from export`,
        sql`insert into notice (workspace_id, key) values (${workspaceId}, 'x')`,
        sql`insert into happening (workspace_id, what) values (${workspaceId}, 'x')`,
        sql`insert into announcement (workspace_id, topic, kind, header, body) values (${workspaceId}, 'aviso', 'alert', 'x', 'x')`,
        sql`insert into session (workspace_id, token_hash, account_id, expires_at) values (${workspaceId}, ${Buffer.from(`${workspaceId}`)}, ${office.id}, now() + interval '1 day')`,
        sql`insert into mail_link (workspace_id, token_hash, account_id, purpose, expires_at) values (${workspaceId}, ${Buffer.from(`${workspaceId}`)}, ${office.id}, 'password', now())`,
        sql`insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name) values (${workspaceId}, ${office.id}, '', '', '', 0, '{}', 'x')`,
        sql`insert into calendar_feed (workspace_id, account_id, token_hash) values (${workspaceId}, ${office.id}, '')`,
        sql`insert into announcement_position select s.workspace_id, s.public_id, 1 from session s`,
        sql`insert into manifestation_text (workspace_id, type, choice, text) values (${workspaceId}, 0, 1, 'x')`,
        sql`insert into answer_rule (workspace_id, position, name, active, answer, conditions, saved_by) values (${workspaceId}, 0, 'x', true, 'perguntar', '{}', 1)`,
        sql`insert into answer_setting (workspace_id, saved_by) values (${workspaceId}, 1)`,
        sql`insert into saved_view (workspace_id, type, name, address, saved_by) values (${workspaceId}, 0, 'x', '', 1)`,
        sql`insert into document_remark (workspace_id, company_id, document_id, text, written_by) select workspace_id, company_id, id, 'x', 1 from document`,
        sql`insert into document_reliance (workspace_id, company_id, document_id) select workspace_id, company_id, id from document on conflict do nothing`,
        sql`insert into partner (workspace_id, first_at, company_base, issuer_base, name, first_chave) values (${workspaceId}, now(), '', '', '', '')`,
        sql`insert into partner_contact (workspace_id, company_base, contact, issuer_base) values (${workspaceId}, '', '', '')`,
        sql`insert into company_month (workspace_id, type, month, notes, company_base, amounts, chapters) values (${workspaceId}, 0, now(), 0, '', '{}', '{}')`,
        sql`insert into alert (workspace_id, document_id, company_id, at, score, band, company_base, issuer_base, chave, rules, fired, learning)
            select workspace_id, id, company_id, 0, 0, 0, '', '', chave, '{}', '[]', false from document`,
        sql`insert into alert_verdict (workspace_id, document_id, company_id, judged_at, score, band, rules, text)
            select workspace_id, id, company_id, now(), 0, 0, '{}', '' from document`,
        sql`insert into alert_news (workspace_id, document_id, company_id, band) select workspace_id, id, company_id, 3 from document`,
        sql`insert into letter_choice (workspace_id, account_id) values (${workspaceId}, ${office.id})`,
        sql`insert into monthly_report (workspace_id, account_id, subject, grouping) values (${workspaceId}, ${office.id}, 'compras', 'mes')`,
        sql`insert into alert_known (workspace_id, document_id, company_id, until, said_by, rule, company_base, issuer_base)
            select workspace_id, id, company_id, now(), 1, '', '', '' from document`,
        sql`insert into alert_setting (workspace_id) values (${workspaceId})`,
        sql`insert into product (workspace_id, issuer, code, name, ncm, unit, bare) values (${workspaceId}, '', '', '', '', '', '')`,
        sql`insert into document_facts (workspace_id, document_id, company_id, type, chave, purchase, standing, counted, month, at, cents, company_base, issuer_base, facts, sums)
            select workspace_id, id, company_id, type, chave, true, true, true, now(), now(), 0, '', '', '{}', '{}' from document on conflict do nothing`,
        sql`insert into document_words select workspace_id, id, type, company_id, issued_at, 'papel' from document on conflict do nothing`,
        sql`insert into content_sum select workspace_id, company_id, '2026-01-01', 0, 0, 1, chave, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 from document on conflict do nothing`,
        sql`insert into product_sum select workspace_id, 1, company_id, '2026-01-01', 0, 1, 0, 0 from document group by 1, 3`,
        sql`insert into installment (workspace_id, document_id, company_id, place, due_on, amount, number, issuer, standing)
            select workspace_id, id, company_id, 1, now(), 0, '', '', true from document on conflict do nothing`,
        sql`insert into document_cite (workspace_id, chave, document_id) select workspace_id, chave, id from document on conflict do nothing`,
        sql`insert into freight_finding (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
            select workspace_id, id, company_id, issued_at, now(), 0, '', '', '{}' from document`,
        sql`insert into freight_mark (workspace_id, document_id, company_id, said_by, code, sentence)
            select workspace_id, id, company_id, 1, '', '' from document`,
        sql`insert into alert_test (workspace_id, rule, document_ids, capped, unread, counts, strongest)
            values (${workspaceId}, 'S01', '{}', false, false, '{}', '[]')`,
        sql`insert into first_view select workspace_id, 1, 0, id from saved_view`,
        sql`with w as (insert into webhook (workspace_id, url, kinds, secret, version) values (${workspaceId}, '', '{}', '', 0) returning id)
          insert into webhook_delivery (workspace_id, webhook_id, kind, body) select ${workspaceId}, id, '', '' from w`,
        sql`insert into announcement_reading select workspace_id, id, 1 from account`,
        sql`insert into token_directory values (${Buffer.from(`${workspaceId}`)}, ${workspaceId}, now())`,
        sql`insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, why)
            select workspace_id, company_id, id, 0, ${ours}, chave, 210200, 1, 'x' from document where number = 1`,
      ])
        await sql`${statement} returning 1`.execute(db)
    })
    await owner.query(
      `insert into capture_call (line_id, query, answer, nsu_before, nsu_after) select id, 'page', 'page', 0, 3 from capture_line where cnpj = $1`,
      [ours],
    )
    const seeded = await leftOf(office)
    // Without a row of it a table shows nothing: large workspaces have days, and certificates that were refused.
    expect(Object.keys(seeded).length).toBeGreaterThanOrEqual(25)
    const neighbour = await newOffice({ cnpj: '11222333000181' })
    await keep(neighbour, [1])
    await deleteWorkspaceOf(ctx, office.email, { now: true })
    expect(await eraseDue(ctx)).toBe(0)
    expect(await leftOf(office)).toEqual({})
    expect(await linesOf(ctx)).toEqual([])
    expect((await owner.query('select from mail where recipient = $1', [office.email])).rows).toEqual([])
    expect(await chavesOf(neighbour)).toHaveLength(1)
    const { rows } = await owner.query('select * from erasure order by ended_at desc limit 1')
    expect(rows).toEqual([
      {
        workspace: expect.stringMatching(/^[0-9a-f-]{36}$/),
        began_at: expect.any(Date),
        companies: 1,
        documents: '2',
        ended_at: expect.any(Date),
      },
    ])
  })

  test.each([
    ['behind', false],
    ['behind, and its capture pauses', true],
  ])('first gives what a line brought to another workspace that is %s', async (_, paused) => {
    const leaving = await newOffice()
    const staying = await newOffice()
    await keep(leaving, [1, 2, 3])
    await stand(leaving, 3, 3)
    await stand(staying, 0, 3)
    if (paused) await pause(ctx, staying.workspaceId)
    await deleteWorkspaceOf(ctx, leaving.email, { now: true })
    expect(await eraseDue(ctx)).toBe(0)
    expect(await chavesOf(staying)).toEqual([1, 2, 3].map((number) => chaveOf({ number })))
    expect(await subscribersOf()).toEqual([staying.workspaceId])
    for (const line of await linesOf(ctx))
      expect(line).toMatchObject({ last_nsu: 3n, paused, lease_by: null, catch_up: false })
  })

  test('has a line asked anew when those who are left have proved nothing, and gives them nothing', async () => {
    const leaving = await newOffice()
    const stranger = await newOffice({ proved: false })
    await keep(leaving, [1, 2])
    await stand(leaving, 2, 2)
    await stand(stranger, 0, 2)
    await deleteWorkspaceOf(ctx, leaving.email, { now: true })
    expect(await eraseDue(ctx)).toBe(0)
    expect(await chavesOf(stranger)).toEqual([])
    for (const line of await linesOf(ctx)) expect(line).toMatchObject({ last_nsu: 0n, max_nsu: 0n })
  })

  test('waits for a turn that is under way, and for the pause of a line that goes', async () => {
    const office = await newOffice()
    await keep(office, [1])
    await changeLines(ctx, "allowed_at = now() + interval '1 hour'")
    await deleteWorkspaceOf(ctx, office.email, { now: true })
    expect(await eraseDue(ctx)).toBe(1)
    await changeLines(ctx, "allowed_at = now(), lease_by = gen_random_uuid(), lease_until = now() + interval '1 hour'")
    expect(await eraseDue(ctx)).toBe(1)
    expect(await chavesOf(office)).toHaveLength(1)
    await changeLines(ctx, 'lease_until = now()')
    expect(await eraseDue(ctx)).toBe(0)
    expect(await leftOf(office)).toEqual({})
  })

  test('is refused by the database when nobody asked, or while a line is received', async () => {
    const office = await newOffice()
    const erase = () => inside(office, (db) => sql`select erase_workspace(${office.workspaceId}, 10)`.execute(db))
    await expect(erase()).rejects.toThrow('nobody wants')
    await endWait(office)
    await expect(erase()).rejects.toThrow('may be the only one')
    const [line] = await linesOf(ctx)
    await expect(inCapture(ctx, ({ db }) => sql`select erase_line(${line!.id})`.execute(db))).rejects.toThrow('in use')
    await owner.query('update workspace set erase_at = null where id = $1', [office.workspaceId])
  })
})

test('an account that nobody entered for a month goes, and one that somebody did, or that has a plan, stays', async () => {
  const newAccount = async (enteredAt: Date | null, change: string) => {
    const workspaceId = await newWorkspace(ctx.db)
    await insertAccount(ctx.db, workspaceId, { enteredAt })
    await owner.query(`update workspace set ${change} where id = $1`, [workspaceId])
    await eraseUnused(ctx, workspaceId)
    return workspaceId
  }
  const old = "created_at = now() - interval '31 days'"
  const goes = await newAccount(null, old)
  const stay = [
    await newAccount(null, "created_at = now() - interval '29 days'"),
    await newAccount(new Date(), old),
    await newAccount(null, `${old}, paid_from = now()`),
  ]
  expect(await eraseDue(ctx)).toBe(0)
  const { rows } = await owner.query('select id from workspace where id = any ($1) order by id', [[goes, ...stay]])
  expect(rows.map(({ id }) => id)).toEqual(stay)
})
