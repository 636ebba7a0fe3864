import { formatCnpj } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { receive } from '../../documents/receive.ts'
import { arrive, company, resNFe } from '../../documents/testing.ts'
import type { Database } from '../../platform/context.ts'
import { useContext, useOwner } from '../../platform/database.testing.ts'
import { asOperator, inWorkspace, limitedRole, openDatabase } from '../../platform/database.ts'
import type { Job } from '../../platform/jobs/jobs.ts'
import type { Letter } from '../../platform/mail/mail.ts'
import { insertAccount, insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { keepChoice, lettersJob, nextMorning, queueLetters, scheduleReports } from './letters.ts'
import { letterMails } from './mails.ts'
import { addMonthly } from './monthly.ts'
import { letterRoutes } from './routes.ts'

const { url, ctx } = await useContext({ PUBLIC_URL: 'https://vigia.example' })
const owner = await useOwner(url)
const limited = openDatabase(url, { role: limitedRole })
afterAll(() => limited.destroy())

const minuteMs = 60_000
const later = (minutes: number) => new Date(Date.now() + minutes * minuteMs)

interface Mail {
  id: bigint
  kind: string
  recipient: string
  payload: unknown
}

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const own = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const other = await insertCompany(ctx.db, workspaceId, { cnpj: '11222333000181', name: 'LUA' })
  const inside = <T>(work: (db: Database) => Promise<T>) => inWorkspace(ctx, workspaceId, ({ db }) => work(db))
  let number = 0
  return {
    workspaceId,
    own,
    other,
    inside,
    person: async (role: 'administrador' | 'fiscal' | 'leitura' = 'fiscal', companies?: number[]) => {
      const { id: accountId, email } = await insertAccount(ctx.db, workspaceId)
      await inside(async (db) => {
        await sql`update account set role = ${role}, all_companies = ${!companies}, created_at = now() - interval '1 day' where id = ${accountId}`.execute(
          db,
        )
        for (const id of companies ?? [])
          await sql`insert into account_company values (${workspaceId}, ${accountId}, ${id})`.execute(db)
      })
      return { workspaceId, accountId, email }
    },
    /** An alert that has just come, as the judging writes it down. */
    alert: async (
      score: number,
      { companyId = own.id, learning = false, sentence = 'Fornecedor nunca visto.', compared = [] as string[] } = {},
    ) => {
      const band = score < 30 ? 0 : score < 60 ? 1 : score < 85 ? 2 : 3
      await inside(async (db) => {
        await receive({ db, log: ctx.log }, { workspaceId, companyId, cnpj: company }, 'nfe', [
          arrive(++number, resNFe({ number, amount: '100.00' })),
        ])
        const fired = JSON.stringify([
          { id: 'S01', version: 1, family: 'identity', weight: score / 100, inputs: {}, compared, sentence, learning },
        ])
        await sql`
          insert into alert (workspace_id, document_id, company_id, at, score, band, company_base, issuer_base, chave, rules, fired, learning)
          select workspace_id, id, company_id, ${number}, ${learning ? 0 : score}, ${learning ? 0 : band}, '', '', chave, '{S01}', ${fired}::json, ${learning}
            from document where workspace_id = ${workspaceId} and number = ${number} and company_id = ${companyId}`.execute(
          db,
        )
        const news = db.selectFrom('alert').select(['workspace_id', 'document_id', 'company_id', 'band'])
        const raised = await news.where('workspace_id', '=', workspaceId).where('at', '=', BigInt(number)).execute()
        await db.insertInto('alert_news').values(raised).execute()
      })
    },
    /** Mails queued since the last call. */
    queued: async (): Promise<Mail[]> => {
      const { rows } = await asOperator(ctx, ({ db }) =>
        sql<Mail>`delete from mail where workspace_id = ${workspaceId} returning id, kind, recipient, payload`.execute(
          db,
        ),
      )
      return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    write: (mail: Mail): Promise<Letter | null> =>
      letterMails[mail.kind]!({ ...ctx, limited }, { ...mail, workspaceId }),
    choose: (
      person: { workspaceId: number; accountId: number },
      choice: Parameters<typeof keepChoice>[2],
      now = new Date(),
    ) => inside((db) => keepChoice({ db }, person, choice, now)),
  }
}

const textOf = (letter: Letter | null) =>
  letter &&
  [letter.subject, ...letter.paragraphs, ...(letter.lines ?? []).flatMap(({ title, detail }) => [title, detail])].join(
    '\n',
  )

test('who answers is written of critical alerts, several of some minutes in one letter, and once', async () => {
  const { workspaceId, person, alert, queued, write } = await newOffice()
  const ana = await person('fiscal')
  await person('leitura')
  await alert(90)
  await alert(95)
  await alert(70)
  expect(await queueLetters(ctx, workspaceId, later(0))).toEqual(expect.any(Date))
  expect(await queued()).toEqual([])
  // Two workers at once.
  await Promise.all([1, 2].map(() => queueLetters(ctx, workspaceId, later(3))))
  const [mail, ...others] = await queued()
  expect([mail?.kind, mail?.recipient, others]).toEqual(['alertas-criticos', ana.email, []])
  const letter = await write(mail!)
  expect(letter?.subject).toBe(`2 alertas críticos: CNPJ ${formatCnpj(company)}`)
  expect(letter?.lines?.map(({ title }) => title.replace(/\s/g, ' '))).toEqual([
    expect.stringMatching(/^NF-e 2 de .*, para SOL, R\$ 100,00: crítico$/),
    expect.stringMatching(/^NF-e 1 de /),
  ])
  expect(letter?.lines?.[0]?.url).toMatch(/^https:\/\/vigia\.example\/alertas\?documento=[\w-]{22}$/)
  // The next one waits, and then tells of what came since.
  await alert(99)
  await queueLetters(ctx, workspaceId, later(6))
  expect(await queued()).toEqual([])
  await queueLetters(ctx, workspaceId, later(20))
  const [next] = await queued()
  expect(textOf(await write(next!))).toMatch(/^Alerta crítico: [\s\S]*NF-e 4 de/)
  await queueLetters(ctx, workspaceId, later(60))
  expect(await queued()).toEqual([])
})

test('a process that ends between letter and mark leaves neither', async () => {
  const { workspaceId, person, alert, queued } = await newOffice()
  await person()
  await alert(90)
  await owner.query('alter table letter_choice add constraint gone check (critical_at is null) not valid')
  await expect(queueLetters(ctx, workspaceId, later(3))).rejects.toThrow('gone')
  await owner.query('alter table letter_choice drop constraint gone')
  expect(await queued()).toEqual([])
  await queueLetters(ctx, workspaceId, later(3))
  expect(await queued()).toHaveLength(1)
})

test('a letter says what is still true when it leaves, to who may still be told', async () => {
  const { workspaceId, inside, person, alert, queued, write, choose } = await newOffice()
  const ana = await person()
  const bia = await person()
  await alert(90)
  await queueLetters(ctx, workspaceId, later(3))
  const mails = await queued()
  const [toAna, toBia] = [ana, bia].map(({ email }) => mails.find(({ recipient }) => recipient === email))
  await choose(ana, { alerts: 'nenhum' })
  expect(await write(toAna!)).toBeNull()
  await choose(ana, { alerts: 'criticos' })
  expect(await write(toAna!)).not.toBeNull()
  await inside((db) =>
    sql`update account set access_until = now() - interval '1 second' where id = ${bia.accountId}`.execute(db),
  )
  expect(await write(toBia!)).toBeNull()
  expect(await write({ ...toAna!, recipient: 'antigo@exemplo.com.br' })).toBeNull()
  await inside((db) => sql`update alert set state = 'conhecida' where workspace_id = ${workspaceId}`.execute(db))
  expect(await write(toAna!)).toBeNull()
  await alert(90)
  await inside((db) => sql`delete from account where id = ${ana.accountId}`.execute(db))
  await queueLetters(ctx, workspaceId, later(30))
  expect(await queued()).toEqual([])
})

test('who sees chosen companies is written of these only, and of no numbers of others', async () => {
  const { workspaceId, own, other, person, alert, queued, write } = await newOffice()
  await person('fiscal', [own.id])
  await alert(90, { companyId: other.id })
  await alert(91, { sentence: 'Igual à nota 77.', compared: ['35261112345678000195550010000000771000000770'] })
  await queueLetters(ctx, workspaceId, later(3))
  const letter = await write((await queued())[0]!)
  expect(textOf(letter)).toContain(`Alerta crítico: CNPJ ${formatCnpj(company)}\n`)
  expect(textOf(letter)).toContain('Compara com um documento de uma empresa que você não vê.')
  expect(textOf(letter)).not.toMatch(/LUA|77/)
})

test('a digest comes at seven when it was chosen, with what is new since then, without what is only learnt, and with an end', async () => {
  const { workspaceId, person, alert, queued, write, choose } = await newOffice()
  const ana = await person('leitura')
  await alert(50)
  const now = new Date()
  await choose(ana, { alerts: 'resumo' }, now)
  await alert(40, { learning: true })
  const seven = nextMorning(now)
  expect([seven.getUTCHours(), seven.getUTCMinutes()]).toEqual([10, 0])
  expect(await queueLetters(ctx, workspaceId, new Date(seven.getTime() - 1))).toEqual(seven)
  expect(await queued()).toEqual([])
  expect(await queueLetters(ctx, workspaceId, seven)).toEqual(nextMorning(seven))
  // There is something new, but nothing to say of it.
  expect(await write((await queued())[0]!)).toBeNull()
  for (let n = 0; n < 27; n++) await alert(n === 13 ? 90 : 10, { sentence: 'Veja www.golpe.com: paguei R$ 1.200,00.' })
  await queueLetters(ctx, workspaceId, nextMorning(seven))
  const [mail] = await queued()
  const letter = await write(mail!)
  expect(letter?.subject).toMatch(/^27 alertas novos: CNPJ /)
  expect(letter?.paragraphs[0]).toContain('aqui estão 25, e mais 2 na lista')
  expect(letter?.lines).toHaveLength(25)
  expect(letter?.lines?.[0]?.title).toMatch(/: crítico$/)
  // Text written by others becomes no link.
  expect(letter?.lines?.[0]?.detail).toBe('Veja www. golpe. com: paguei R$ 1.200,00.')
  await queueLetters(ctx, workspaceId, nextMorning(nextMorning(seven)))
  expect(await queued()).toEqual([])
})

test('deadlines come by day or on Mondays, with certificates, and not at all when nothing ends', async () => {
  const { workspaceId, own, inside, person, queued, write, choose } = await newOffice()
  const ana = await person('leitura')
  const now = new Date()
  await choose(ana, { deadlines: 'semanal' }, now)
  const monday = nextMorning(now, { weekly: true })
  expect(monday.getUTCDay()).toBe(1)
  expect(await queueLetters(ctx, workspaceId, monday)).toEqual(nextMorning(monday))
  await queueLetters(ctx, workspaceId, nextMorning(monday))
  const [empty, ...others] = await queued()
  expect(others).toEqual([])
  expect(empty?.kind).toBe('resumo-prazos')
  expect(await write(empty!)).toBeNull()
  await inside((db) => {
    const issuedAt = new Date(Date.now() - 8 * 86_400_000 - 3 * 3_600_000).toISOString().replace(/\..*/, '-03:00')
    return receive({ db, log: ctx.log }, { workspaceId, companyId: own.id, cnpj: company }, 'nfe', [
      arrive(1, resNFe({ number: 1, issuedAt, amount: '10.50' })),
    ])
  })
  const letter = await write(empty!)
  expect(letter?.subject).toBe('Prazos: 1 documento para responder em até 15 dias')
  expect(textOf(letter)).toMatch(/Até \d\d\/\d\d\/\d{4}: Ciência da Operação, 1 nota\nSOL · R\$\s10,50/)
  await choose(ana, { deadlines: 'diario' }, now)
  expect(await queueLetters(ctx, workspaceId, now)).toEqual(nextMorning(now))
})

test('the link in a letter ends its kind without a login, and no other link does', async () => {
  const { workspaceId, inside, person, alert, queued, write, choose } = await newOffice()
  const ana = await person()
  await choose(ana, { deadlines: 'diario' })
  await alert(90)
  await queueLetters(ctx, workspaceId, later(3))
  const { stopUrl } = (await write((await queued())[0]!))!
  const secret = /^https:\/\/vigia\.example\/avisos\/([\w-]+)$/.exec(stopUrl ?? '')![1]!
  const [read, , stop] = letterRoutes
  const call = (segredo: string) => stop!.run(ctx, { params: { segredo } } as never, null, testCaller)
  const altered = Buffer.from(secret, 'base64url')
  altered[20]! ^= 1
  for (const wrong of ['', 'x'.repeat(60), altered.toString('base64url')])
    await expect(call(wrong)).rejects.toMatchObject({ code: 'not-found' })
  const session = { ...testSession(workspaceId, ana.accountId), role: 'fiscal' as const }
  const chosen = async () => ((await read!.run(ctx, {} as never, session, testCaller)) as { data: object }).data
  expect(await chosen()).toEqual({ alertas: 'criticos', prazos: 'diario' })
  await call(secret)
  await call(secret)
  expect(await chosen()).toEqual({ alertas: 'nenhum', prazos: 'diario' })
  const { rows } = await inside((db) => sql`select account_id, action, description from audit`.execute(db))
  expect(rows).toEqual([
    {
      account_id: ana.accountId,
      action: 'conta',
      description: 'Encerrou os e-mails sobre alertas pelo link de um deles.',
    },
  ])
})

test('letters of alerts are useful as long as they are tried: no other tells of the same', async () => {
  const { workspaceId, person, alert, choose } = await newOffice()
  const ana = await person()
  await choose(ana, { alerts: 'criticos-e-resumo', deadlines: 'diario' })
  await alert(90)
  const seven = nextMorning(new Date())
  await Promise.all([1, 2].map(() => queueLetters(ctx, workspaceId, seven)))
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql`select kind, useless_at is null as always from mail where workspace_id = ${workspaceId} order by id`.execute(
      db,
    ),
  )
  expect(rows).toEqual([
    { kind: 'alertas-criticos', always: true },
    { kind: 'resumo-alertas', always: true },
    { kind: 'resumo-prazos', always: false },
  ])
})

test('who chose a digest and may not be written to for a while gets it when they may again', async () => {
  const { workspaceId, inside, person, choose, queued } = await newOffice()
  const ana = await person()
  const now = new Date()
  const monday = nextMorning(now, { weekly: true })
  const until = (at: string) =>
    inside((db) => sql`update account set access_until = ${sql.raw(at)} where id = ${ana.accountId}`.execute(db))
  await choose(ana, { deadlines: 'semanal' }, now)
  await until('now()')
  expect(await queueLetters(ctx, workspaceId, monday)).toEqual(nextMorning(monday))
  expect(await queued()).toEqual([])
  await until('null')
  const erase = (at: string) =>
    inside((db) => sql`update workspace set erase_at = ${sql.raw(at)} where id = ${workspaceId}`.execute(db))
  // A workspace that is to be erased sends no letters.
  await erase(`now() + interval '9 days'`)
  await queueLetters(ctx, workspaceId, monday)
  expect(await queued()).toEqual([])
  await erase('null')
  await queueLetters(ctx, workspaceId, monday)
  expect(await queued()).toHaveLength(1)
})

test('what was not chosen stays what is usual for the role', async () => {
  const { workspaceId, inside, person } = await newOffice()
  const ana = await person('leitura')
  const [read, change] = letterRoutes
  const as = (role: 'leitura' | 'fiscal') => ({ ...testSession(workspaceId, ana.accountId), role })
  await change!.run(ctx, { body: { alertas: 'nenhum', prazos: 'diario' } } as never, as('leitura'), testCaller)
  const { rows } = await inside((db) => sql`select alerts, deadlines from letter_choice`.execute(db))
  expect(rows).toEqual([{ alerts: null, deadlines: 'diario' }])
  const { data } = (await read!.run(ctx, {} as never, as('fiscal'), testCaller)) as { data: object }
  expect(data).toEqual({ alertas: 'criticos', prazos: 'diario' })
})

test('the first critical letter tells nothing of before the person came, nor what is older than a day', async () => {
  const { workspaceId, inside, person, alert, queued, write } = await newOffice()
  const age = (hours: number) =>
    inside((db) =>
      sql`update alert_news set at = now() - ${hours} * interval '1 hour' where id = (select max(id) from alert_news)`.execute(
        db,
      ),
    )
  const { email } = await person()
  await alert(90)
  await age(30)
  await alert(91)
  await age(2)
  const bia = await person()
  await inside((db) =>
    sql`update account set created_at = now() - interval '1 hour' where id = ${bia.accountId}`.execute(db),
  )
  await alert(92)
  await queueLetters(ctx, workspaceId, later(3))
  const mails = await queued()
  expect(mails.map(({ recipient }) => recipient)).toEqual([email, bia.email])
  const counts = await Promise.all(mails.map(async (mail) => (await write(mail))?.lines?.length))
  expect(counts).toEqual([2, 1])
})

test('a digest that is overdue from another day waits for seven, and leaves later on that day', async () => {
  const { workspaceId, person, alert, queued, choose } = await newOffice()
  const ana = await person()
  await choose(ana, { alerts: 'resumo' })
  await alert(50)
  const due = nextMorning(new Date())
  const after = (hours: number) => new Date(due.getTime() + hours * 60 * minuteMs)
  // Two o'clock of the night after.
  expect(await queueLetters(ctx, workspaceId, after(19))).toEqual(after(24))
  expect(await queued()).toEqual([])
  expect(await queueLetters(ctx, workspaceId, after(30))).toEqual(after(48))
  expect(await queued()).toHaveLength(1)
})

test('of certificates only those are told that end soon or ended some days ago, and the lines have an end', async () => {
  const { workspaceId, own, other, inside, person, queued, write, choose } = await newOffice()
  const ana = await person()
  await choose(ana, { deadlines: 'diario' })
  await queueLetters(ctx, workspaceId, nextMorning(new Date()))
  const [mail] = await queued()
  const certificate = (companyId: number, cnpj: string, days: number) =>
    inside((db) =>
      db
        .insertInto('certificate')
        .values({
          workspace_id: workspaceId,
          company_id: companyId,
          holder_cnpj: cnpj,
          holder_name: 'TITULAR',
          issuer: 'AC',
          serial_number: '1',
          valid_from: '2020-01-01T00:00:00Z',
          valid_to: new Date(Date.now() + days * 86_400_000),
          certificate_pem: 'x',
          chain_pem: [],
          key_encrypted: Buffer.from('x'),
          key_id: 'x',
          uploaded_by: ana.accountId,
        })
        .execute(),
    )
  await certificate(own.id, company, 29)
  await certificate(other.id, '11222333000181', -3)
  expect((await write(mail!))?.subject).toBe('Prazos: 1 certificado vencido e 1 certificado a vencer em até 30 dias')
  await inside((db) =>
    sql`update certificate set valid_to = now() + interval '31 days' where company_id = ${own.id}`.execute(db),
  )
  await inside((db) =>
    sql`update certificate set valid_to = now() - interval '8 days' where company_id = ${other.id}`.execute(db),
  )
  expect(await write(mail!)).toBeNull()
})

test('a workspace is looked at when somebody chose something, and again when something is due', async () => {
  const { workspaceId, inside, person, alert, queued, choose } = await newOffice()
  const ana = await person()
  const look = () => lettersJob.run(ctx, { workspaceId } as Job, new AbortController().signal)
  await look()
  expect(await queued()).toEqual([])
  await alert(90)
  const again = (await look())!
  expect(again.waitMs).toBeGreaterThan(60_000)
  expect(again.waitMs).toBeLessThanOrEqual(120_000)
  await inside((db) => sql`update alert_news set at = ${new Date(Date.now() - 120_000)}`.execute(db))
  await look()
  expect(await queued()).toHaveLength(1)
  await choose(ana, { alerts: 'resumo' })
  const { rows } = await inside((db) => sql`select kind from job where kind = 'letters'`.execute(db))
  expect(rows).toHaveLength(1)
})

test('a report of the month that ended comes on the first day at seven, once, until its person no longer wants it', async () => {
  const { workspaceId, own, other, inside, person, queued, write } = await newOffice()
  const ana = await person('leitura', [own.id])
  await inside(async (db) => {
    for (const [companyId, month, value] of [
      [own.id, '2026-11', 150_000],
      [own.id, '2026-10', 100_000],
      [other.id, '2026-11', 900_000],
    ] as const)
      for (const [kind, key] of [
        [0, '11222333000181'],
        [3, 'SP'],
      ] as const)
        await sql`
          insert into content_sum (workspace_id, company_id, month, side, kind, documents, key, value, icms, st, ipi, pis, cofins, ibs, cbs, "is", fcp)
          values (${workspaceId}, ${companyId}, ${`${month}-01`}, 0, ${kind}, 1, ${key}, ${value}, 0, 0, 0, 0, 0, 0, 0, 0, 0)`.execute(
          db,
        )
    await addMonthly({ db }, ana, { subject: 'compras', group: 'participante', companyId: null })
    await scheduleReports({ db }, ana, new Date('2026-11-20T12:00:00Z'))
  })
  expect(await queueLetters(ctx, workspaceId, new Date('2026-12-01T09:59:00Z'))).toEqual(
    new Date('2026-12-01T10:00:00Z'),
  )
  expect(await queued()).toEqual([])
  await queueLetters(ctx, workspaceId, new Date('2026-12-01T10:00:00Z'))
  await queueLetters(ctx, workspaceId, new Date('2026-12-01T10:05:00Z'))
  const [mail, ...others] = await queued()
  expect([mail?.kind, mail?.recipient, others]).toEqual(['relatorio-mensal', ana.email, []])
  const letter = await write(mail!)
  expect(letter?.subject).toBe('Compras por fornecedor: novembro de 2026')
  expect(letter?.paragraphs[0]?.replace(/\s/g, ' ')).toBe(
    'Em novembro de 2026 foram R$ 1.500,00 em 1 documento, 50% a mais que no mês anterior (R$ 1.000,00).',
  )
  expect(letter?.lines?.map(({ title }) => title.replace(/\s/g, ' '))).toEqual([
    `${formatCnpj('11222333000181')}: R$ 1.500,00`,
  ])
  expect(letter?.lines?.[0]?.url).toBe(
    'https://vigia.example/relatorios?tipo=compras&por=participante&de=2026-11&ate=2026-11',
  )
  // The link of the letter ends them.
  const stop = letterRoutes.find(({ route }) => route.path === '/avisos/{segredo}')!
  const segredo = letter!.stopUrl!.split('/').at(-1)!
  await stop.run(ctx, { params: { segredo } } as never, null, testCaller)
  expect(await write(mail!)).toBeNull()
  await queueLetters(ctx, workspaceId, new Date('2027-01-01T12:00:00Z'))
  expect(await queued()).toEqual([])
})

test('nobody receives more than five reports', async () => {
  const { person, inside } = await newOffice()
  const ana = await person()
  const add = (group: 'participante' | 'mes' | 'cfop' | 'ncm' | 'uf' | 'produto') =>
    inside((db) => addMonthly({ db }, ana, { subject: 'compras', group, companyId: null }))
  for (const group of ['participante', 'mes', 'cfop', 'ncm', 'uf', 'uf'] as const) await add(group)
  await expect(add('produto')).rejects.toThrow('Cada pessoa recebe até 5 relatórios por mês.')
})
