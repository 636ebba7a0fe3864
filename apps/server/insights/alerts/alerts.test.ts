import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type RawBuilder, sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { execute } from '../../../../tests/support/database.ts'
import { readZip } from '../../../../tests/support/zip.ts'
import { rebuildProjection } from '../../documents/rebuild.ts'
import { arrive, chaveOf, company, deliverTo, evento, nfeProc, resNFe } from '../../documents/testing.ts'
import { acknowledgePending } from '../../events/ciencia.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { carryOutDue } from '../../platform/jobs/testing.ts'
import { insertAccount, insertCompany, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { readStoredSettings } from './judging.ts'
import { isOpen, showVerdicts } from './list.ts'
import { nightJob } from './night.ts'
import { alertJob, reviewAlerts } from './queue.ts'
import { readCompanies } from './reading.ts'
import { alertRoutes } from './routes.ts'
import { testJob } from './trying.ts'

const { url, ctx } = await useContext()
const offices: number[] = []

async function compareColumns() {
  for (const id of offices) {
    const { rows } = await inWorkspace(ctx, id, ({ db }) =>
      sql`
        select d.id, d.alert_band, a.band
          from document d left join alert a on a.workspace_id = d.workspace_id and a.document_id = d.id and ${isOpen}
         where d.workspace_id = ${id} and d.alert_band is distinct from a.band`.execute(db),
    )
    expect(rows).toEqual([])
    const { rows: suspects } = await inWorkspace(ctx, id, ({ db }) =>
      sql`
        select d.id, d.suspect, s.suspect as issuer from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
         where d.workspace_id = ${id}
           and (d.suspect <> exists (select from alert a where a.workspace_id = d.workspace_id and a.chave = d.chave
                                        and (a.state = 'confirmada' or a.state <> 'conhecida' and a.score >= 60))
                or s.suspect <> exists (select from alert a where a.workspace_id = d.workspace_id and a.issuer_base = substr(d.chave, 7, 8)
                                           and a.state = 'confirmada'))`.execute(db),
    )
    expect(suspects).toEqual([])
  }
}
// Documents show the bands of open alerts and whether they are suspect, whatever a test or a person did to these.
afterEach(async () => {
  await compareColumns()
  offices.length = 0
})

type Who = ReturnType<typeof testSession>

interface Item {
  idDFe: string
  numero: number
  score: number
  faixa: string
  estado: string
  motivos: { regra: string; frase: string; comparados: { numero: number; idDFe: string | null }[] }[]
  motivoNovo: boolean
}

async function run(method: string, path: string, who: Who, input: { params?: object; query?: object; body?: object }) {
  const found = alertRoutes.find(({ route }) => route.path.endsWith(path) && route.method === method)!
  const given = { params: undefined, query: undefined, body: undefined, form: undefined, ...input }
  const answer = (await found.run(ctx, given as never, who, testCaller)) as { data: never }
  if (method !== 'GET') await compareColumns()
  return answer
}

// Until nothing is left to do; other workspaces are judged on the way.
const judge = () => carryOutDue(ctx, [alertJob, nightJob])

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  offices.push(workspaceId)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company })
  const person = async (role: Who['role'] = 'fiscal'): Promise<Who> => ({
    ...testSession(workspaceId),
    accountId: (await insertAccount(ctx.db, workspaceId)).id,
    role,
  })
  const ana = await person()
  return {
    workspaceId,
    companyId,
    ana,
    deliver: (...files: string[]) => deliverTo(ctx, { workspaceId, companyId }, 'nfe', files),
    judge,
    night: async () => {
      await judge()
      await inWorkspace(ctx, workspaceId, ({ db }) => queueJob({ db }, { kind: nightJob.name, workspaceId }))
      await judge()
    },
    list: async (query: object = {}, who = ana) =>
      ((await run('GET', '/Alertas', who, { query: { Estado: 'abertos', ...query } })).data as { items: Item[] }).items,
    summary: async () =>
      (await run('GET', '/resumo', ana, {})).data as { situacao: string; faltam: number; abertos: object },
    say: (body: object) => run('POST', '/estado', ana, { body }),
    held: (condition: RawBuilder<unknown>) =>
      inWorkspace(ctx, workspaceId, async ({ db }) => {
        const { rows } = await sql<{ number: number }>`
          select d.number::int from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
           where d.workspace_id = ${workspaceId} and ${condition} order by 1`.execute(db)
        return rows.map(({ number }) => number)
      }),
  }
}

const rules = ({ numero, motivos }: Item) => [numero, ...motivos.map(({ regra }) => regra)]

const daysAgo = (days: number) => `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19)}-03:00`

// Two notes of one value within five days.
const twins = [
  resNFe({ number: 1, amount: '2000.00' }),
  resNFe({ number: 2, amount: '2000.00', issuedAt: '2026-11-12T09:15:00-03:00' }),
]

test('what arrives is judged, and at night what was compared with a note that was cancelled', async () => {
  const { deliver, judge, night, list, summary } = await newOffice()
  await deliver(...twins)
  expect(await summary()).toMatchObject({ situacao: 'construindo', faltam: 2 })
  await judge()
  expect(await summary()).toMatchObject({ situacao: 'em-dia', faltam: 0 })
  const [second] = await list({ Regra: 'S10' })
  expect(rules(second!)).toEqual([2, 'S10', 'S01'].slice(0, rules(second!).length))
  expect(second!.motivos[0]!.comparados).toMatchObject([{ numero: 1, idDFe: expect.any(String) }])
  await deliver(evento(110111, { number: 1 }))
  expect(await summary()).toMatchObject({ situacao: 'avaliando', faltam: 1 })
  await night()
  expect(await list({ Regra: 'S10' })).toEqual([])
})

test('a document of a family that no rule names is not judged', async () => {
  const { workspaceId, deliver, judge, list, summary } = await newOffice()
  await deliver(...twins)
  await judge()
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero)).toEqual([2])
  await execute(url, `update receipt set service = 1 where workspace_id = ${workspaceId}`)
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update document set type = 1, judged_at = null where workspace_id = ${workspaceId}`.execute(db),
  )
  await reviewAlerts(ctx, workspaceId)
  await judge()
  expect(await list()).toEqual([])
  expect(await summary()).toMatchObject({ situacao: 'em-dia', faltam: 0 })
})

test('what does not count yet is shown by itself and is no work', async () => {
  const { deliver, judge, list, summary } = await newOffice()
  // The first document of a supplier, of a company whose suppliers are not known yet.
  await deliver(resNFe({ number: 5, amount: '90.00' }))
  await judge()
  expect((await list({ Estado: 'em-aprendizado' })).map(rules)).toEqual([[5, 'S02']])
  expect(await list()).toEqual([])
  expect(await summary()).toMatchObject({ abertos: { informativo: 0 }, emAprendizado: 1 })
})

test('what nobody queued is judged after the next review', async () => {
  const { workspaceId, deliver, judge, list } = await newOffice()
  await deliver(...twins, nfeProc({ number: 3, amount: '90.00' }))
  await inWorkspace(ctx, workspaceId, ({ db }) => sql`delete from job where workspace_id = ${workspaceId}`.execute(db))
  await judge()
  expect(await list()).toEqual([])
  await reviewAlerts(ctx, workspaceId)
  await judge()
  expect((await list()).map(rules)).toContainEqual(expect.arrayContaining([2, 'S10']))
})

test('a rebuild leaves alerts as they were, and has habits made anew', async () => {
  const { workspaceId, companyId, deliver, judge, list } = await newOffice()
  await deliver(...twins)
  await judge()
  const inside = <T>(query: RawBuilder<T>) =>
    inWorkspace(ctx, workspaceId, async ({ db }) => (await query.execute(db)).rows)
  const months = () => inside(sql`select * from company_month where workspace_id = ${workspaceId} order by type, month`)
  const before = [await list(), await months()]
  await inside(sql`update company_month set notes = 7 where workspace_id = ${workspaceId}`)
  await rebuildProjection(ctx, { workspaceId, companyId, cnpj: company })
  await judge()
  // It may have found documents that were not judged yet.
  await inside(sql`update job set run_at = now() where workspace_id = ${workspaceId} and kind = ${nightJob.name}`)
  await judge()
  expect([await list(), await months()]).toEqual(before)
})

test('what is known is silent for the issuer, up to a value, and told again when that is taken back', async () => {
  const { ana, deliver, judge, list, say } = await newOffice()
  await deliver(...twins)
  await judge()
  const [alert] = await list({ Regra: 'S10' })
  const about = { idsDFe: [alert!.idDFe] }
  await say({ ...about, estado: 'conhecida', regras: ['S10'], teto: '2000.00' })
  await judge()
  expect(await list({ Regra: 'S10' })).toEqual([])
  expect(await list({ Estado: 'conhecida' })).toMatchObject([{ numero: 2, estado: 'conhecida' }])
  const known = (await run('GET', '/conhecidos', ana, {})).data as { regra: string; teto: number }[]
  expect(known).toMatchObject([{ regra: 'S10', teto: 2000 }])
  // Dearer ones of the same issuer are told.
  await deliver(
    resNFe({ number: 3, amount: '3000.00' }),
    resNFe({ number: 4, amount: '3000.00', issuedAt: '2026-11-12T09:15:00-03:00' }),
  )
  await judge()
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero)).toEqual([4])
  await say({ ...about, estado: 'em-analise' })
  await judge()
  expect((await list({ Regra: 'S10' })).map(({ numero, estado }) => [numero, estado])).toEqual([
    [4, 'nova'],
    [2, 'em-analise'],
  ])
  expect((await run('GET', '/conhecidos', ana, {})).data).toEqual([])
  // Taken back before it is judged again.
  await say({ ...about, estado: 'conhecida', regras: ['S10'] })
  const [again] = (await run('GET', '/conhecidos', ana, {})).data as { idConhecido: string }[]
  await run('POST', '/apagar-conhecido', ana, { body: { idConhecido: again!.idConhecido } })
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero)).toEqual([4, 2])
})

test('a rule that is switched off is silent, and speaks again when it is switched on; that of integrity stays', async () => {
  const { ana, deliver, judge, list } = await newOffice()
  const turn = (id: string, ligada: boolean) => run('PUT', '/{id}', ana, { params: { id }, body: { ligada } })
  await deliver(...twins)
  await judge()
  const before = (await list()).map(rules)
  await turn('S10', false)
  await judge()
  expect((await list()).flatMap(rules)).not.toContain('S10')
  await turn('S10', true)
  await judge()
  expect((await list()).map(rules)).toEqual(before)
  await expect(turn('S24', false)).rejects.toMatchObject({ code: 'conflict' })
  await expect(turn('S99', false)).rejects.toMatchObject({ code: 'not-found' })
})

test('a graver band comes before a higher score, over the pages', async () => {
  const { workspaceId, ana, deliver, judge } = await newOffice()
  await deliver(...Array.from({ length: 60 }, (_, index) => resNFe({ number: index + 1, amount: '2000.00' })))
  await judge()
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ id: bigint }>`
      update alert set band = 2 + document_id % 2, score = 70 - document_id % 2 where workspace_id = ${workspaceId} and rules @> '{S10}'
      returning document_id as id`.execute(db)
    await showVerdicts(
      { db },
      workspaceId,
      rows.map(({ id }) => id),
    )
  })
  const page = async (query: object) =>
    (await run('GET', '/Alertas', ana, { query: { Estado: 'abertos', Regra: 'S10', ...query } })).data as {
      items: Item[]
      proximo: string | null
    }
  const first = await page({})
  const second = await page({ depoisDe: first.proximo })
  const items = [...first.items, ...second.items]
  const bands = items.map(({ faixa }) => faixa)
  expect(second.items.length).toBeGreaterThan(0)
  expect(new Set(items.map(({ idDFe }) => idDFe)).size).toBe(items.length)
  expect(new Set(bands)).toEqual(new Set(['critico', 'alto']))
  expect(bands.lastIndexOf('critico')).toBeLessThan(bands.indexOf('alto'))
})

test('no automatic answer is queued before a document was judged, an hour at most, nor while an alert stands against it', async () => {
  const { workspaceId, companyId, deliver, judge, list, say } = await newOffice()
  const other = '99888777000166'
  const note = (number: number, issuer?: string) =>
    resNFe({ number, issuer, amount: '2000.00', issuedAt: daysAgo(2 - number / 10) })
  const change = (statement: RawBuilder<unknown>) => inWorkspace(ctx, workspaceId, ({ db }) => statement.execute(db))
  const queued = async () => {
    await acknowledgePending(ctx, workspaceId, companyId)
    const { rows } = await change(sql`
      select d.number::int from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
       where o.workspace_id = ${workspaceId} order by 1`)
    return (rows as { number: number }[]).map(({ number }) => number)
  }
  await deliver(note(1), note(2))
  await judge()
  const [alert] = await list({ Regra: 'S10' })
  await say({ idsDFe: [alert!.idDFe], estado: 'confirmada' })
  await change(sql`update company set acknowledges_since = now() where workspace_id = ${workspaceId}`)
  await execute(
    url,
    `alter table document add constraint dies check (judged_at is null or workspace_id <> ${workspaceId} or number < 3)`,
  )
  await deliver(note(3), note(4, other))
  await expect(judge()).rejects.toThrow('dies')
  await change(
    sql`update document set created_at = now() - interval '59 minutes' where workspace_id = ${workspaceId} and number = 4`,
  )
  expect(await queued()).toEqual([])
  await change(sql`update document set created_at = now() - interval '61 minutes' where workspace_id = ${workspaceId}`)
  expect(await queued()).toEqual([4])
  await execute(url, 'alter table document drop constraint dies')
  await change(sql`delete from job where workspace_id = ${workspaceId}`)
  await deliver(note(5, other))
  expect(await queued()).toEqual([4])
  await judge()
  expect(await queued()).toEqual([4, 5])
  await say({ idsDFe: [alert!.idDFe], estado: 'em-analise' })
  expect(await queued()).toEqual([1, 2, 3, 4, 5])
})

test('what two companies of one base have is judged once, as the one that came first, whichever is seen first', async () => {
  const { workspaceId, deliver, judge, list } = await newOffice()
  const branch = '44555666000262'
  const { id } = await insertCompany(ctx.db, workspaceId, { cnpj: branch })
  const judged = async () => {
    await judge()
    return inWorkspace(ctx, workspaceId, async ({ db }) => {
      const { rows } = await sql<{ company: number }>`
        select company_id as company from alert where workspace_id = ${workspaceId} order by document_id`.execute(db)
      return rows.map(({ company }) => company === id)
    })
  }
  await deliverTo(ctx, { workspaceId, companyId: id, cnpj: branch }, 'nfe', [arrive(1, twins[0]!)])
  expect(await judged()).toEqual([true])
  await deliver(...twins)
  expect(await judged()).toEqual([true, false])
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero)).toEqual([2])
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`with f as (update document_facts set document_id = -1 where workspace_id = ${workspaceId} and chave = ${chaveOf({ number: 1 })} and company_id <> ${id})
        update document set id = -1, judged_at = null where workspace_id = ${workspaceId} and number = 1 and company_id <> ${id}`.execute(
      db,
    ),
  )
  await reviewAlerts(ctx, workspaceId)
  expect(await judged()).toEqual([false, false])
})

test('a reason that was not said to be known opens the alert again, and a ceiling below the document is refused', async () => {
  const { deliver, judge, list, say } = await newOffice()
  await deliver(...twins)
  await judge()
  const [alert] = await list({ Regra: 'S10' })
  const all = alert!.motivos.map(({ regra }) => regra)
  const others = all.filter((regra) => regra !== 'S10')
  const about = { idsDFe: [alert!.idDFe], estado: 'conhecida' }
  await expect(say({ ...about, teto: '1999.99' })).rejects.toMatchObject({ code: 'conflict' })
  if (others.length > 0) {
    await say({ ...about, regras: others })
    await judge()
    expect(await list({ Regra: 'S10' })).toMatchObject([{ numero: 2, estado: 'nova' }])
  }
  await say(about)
  await judge()
  expect(await list({ Regra: 'S10' })).toEqual([])
})

test('what a person confirmed is answered by nobody else, nor what else its issuer sends', async () => {
  const { deliver, judge, list, say, held } = await newOffice()
  await deliver(...twins)
  await judge()
  expect(await held(sql`(d.suspect or s.suspect)`)).toEqual([])
  const [alert] = await list({ Regra: 'S10' })
  await say({ idsDFe: [alert!.idDFe], estado: 'confirmada' })
  await deliver(resNFe({ number: 9 }))
  expect(await held(sql`(d.suspect or s.suspect)`)).toEqual([1, 2, 9])
})

test('what was booked and is then cancelled is grave', async () => {
  const { workspaceId, deliver, judge, list } = await newOffice()
  await deliver(nfeProc({ number: 1 }))
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`insert into document_reliance (workspace_id, company_id, document_id, booked_at) select workspace_id, company_id, id, '2026-11-20T12:00:00Z' from document
         where workspace_id = ${workspaceId}`.execute(db),
  )
  await deliver(evento(110111, { number: 1, at: '2026-11-21T12:00:00-03:00' }))
  await judge()
  const [{ motivos } = { motivos: [] }] = await list({ Regra: 'S36' })
  expect(motivos.find(({ regra }) => regra === 'S36')?.frase).toMatch(/depois de lançada em 20\/11\/2026\.$/)
})

test('goods that nobody carried are missed only as far as the CT-e were captured', async () => {
  const { workspaceId, deliver } = await newOffice()
  await deliver(nfeProc({ number: 1 }))
  const known = await inWorkspace(ctx, workspaceId, ({ db }) => readCompanies({ db, config: ctx.config }, workspaceId))
  const until = [...known.values()].flatMap(({ establishments }) => establishments.map(({ until }) => until))
  // Nothing has ever been asked for.
  expect(until).toEqual([{ nfe: null, cte: null }])
})

test('nobody sees or changes alerts of others', async () => {
  const { ana, deliver, judge, list } = await newOffice()
  await deliver(...twins)
  await judge()
  const [alert] = await list()
  const stranger = await newOffice()
  const about = { idsDFe: [alert!.idDFe], estado: 'confirmada' }
  await expect(stranger.say(about)).rejects.toMatchObject({ code: 'not-found' })
  await expect(run('POST', '/estado', { ...ana, shared: true }, { body: about })).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(await stranger.list()).toEqual([])
})

test('a document that the database refuses keeps nobody else from being judged, and is not tried again and again', async () => {
  const { deliver, judge, night, list, summary, held } = await newOffice()
  const [first, second, third] = [4001, 4002, 4003].map((number) => ({ number, amount: '7000.00' }))
  const refuse = (table: string, { number }: { number: number }) =>
    execute(url, `alter table ${table} add constraint refused_${number} check (chave <> '${chaveOf({ number })}')`)
  await refuse('document_facts', first!)
  await refuse('alert', third!)
  await deliver(...[first, second, third].map((note) => resNFe(note)), resNFe({ number: 4004, amount: '7000.00' }))
  await judge()
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero)).toEqual([4004])
  // One without facts is judged by its own bytes. The other is said to be missing, and nothing takes it for judged.
  expect(await summary()).toMatchObject({ situacao: 'avaliando', faltam: 1 })
  expect(await held(sql`d.judged_at < 'infinity'`)).toEqual([4001, 4002, 4004])
  await execute(url, 'alter table alert drop constraint refused_4003')
  await night()
  expect((await list({ Regra: 'S10' })).map(({ numero }) => numero).sort()).toEqual([4003, 4004])
})

test('a rule is tried on the last ninety days, switched off or on, and nothing changes', async () => {
  const { ana, deliver, judge, list, say } = await newOffice()
  const twin = (number: number, days: number) =>
    resNFe({ number, amount: `${1000 + days}.00`, issuedAt: daysAgo(days) })
  const pairs = [1, 3, 5].flatMap((number, n) => {
    const days = [20, 40, 120][n]!
    return [
      twin(number, days),
      resNFe({ number: number + 1, amount: `${1000 + days}.00`, issuedAt: daysAgo(days - 1) }),
    ]
  })
  await deliver(...pairs)
  await judge()
  const path = '/regras/{id}/teste'
  const params = { id: 'S10' }
  const tested = async () => {
    await run('POST', '/testar', ana, { params })
    await carryOutDue(ctx, [testJob])
    return (await run('GET', path, ana, { params })).data as Record<string, number> & {
      maisFortes: { numero: number }[]
    }
  }
  await expect(run('GET', path, ana, { params })).rejects.toMatchObject({ code: 'not-found' })
  const on = await tested()
  expect(on).toMatchObject({ situacao: 'pronto', avaliados: 4, total: 4, marcados: 2, conhecidos: 0, confirmados: 0 })
  expect(on.alertasNovos! + on.mudamDeFaixa!).toBe(2)
  expect(on.maisFortes.map(({ numero }) => numero).sort()).toEqual([2, 4])
  const [one] = await list({ Regra: 'S10' })
  await say({ idsDFe: [one!.idDFe], estado: 'confirmada' })
  await run('PUT', '/regras/{id}', ana, { params, body: { ligada: false } })
  await judge()
  const before = await list()
  expect(await tested()).toEqual({
    ...on,
    pedidoEm: expect.any(String),
    confirmados: 1,
    maisFortes: expect.any(Array),
  })
  expect(await list()).toEqual(before)
  const stranger = await newOffice()
  await expect(run('GET', path, stranger.ana, { params })).rejects.toMatchObject({ code: 'not-found' })
  await expect(run('POST', '/testar', ana, { params: { id: 'S99' } })).rejects.toMatchObject({ code: 'not-found' })
})

test('the evidence of an alert is its document, those compared, their events and the words, as bytes', async () => {
  const { ana, workspaceId, deliver, judge, list, say } = await newOffice()
  await deliver(...twins, evento(210210, { number: 1 }))
  await judge()
  const [alert] = await list({ Regra: 'S10' })
  await say({ idsDFe: [alert!.idDFe], estado: 'confirmada' })
  const take = async (who: Who) => {
    const given = { params: { idDFe: alert!.idDFe }, query: undefined, body: undefined, form: undefined }
    const found = alertRoutes.find(({ route }) => route.path.includes('/evidencias/'))!
    const { content } = (await found.run(ctx, given as never, who, testCaller)) as { content: Readable }
    return readZip(await buffer(content))
  }
  const files = await take(ana)
  const [one, two] = [1, 2].map((number) => chaveOf({ number }))
  expect([...files.keys()]).toEqual([
    'alerta.txt',
    'alerta.json',
    `documento/${two}-resNFe.xml`,
    `comparados/${one}/${one}-resNFe.xml`,
    `comparados/${one}/eventos/210210-1-91.xml`,
    'sha256.txt',
  ])
  expect(String(files.get(`documento/${two}-resNFe.xml`))).toBe(twins[1])
  const text = String(files.get('alerta.txt'))
  for (const word of [alert!.motivos[0]!.frase, 'suspeita confirmada', 'Chegou o resumo', `Comparado com ${one}`])
    expect(text).toContain(word)
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{
      description: string
    }>`select description from audit where workspace_id = ${workspaceId} order by id desc limit 1`.execute(db)
    expect(rows[0]!.description).toContain(`evidências do alerta do documento ${two}`)
  })
  const stranger = await newOffice()
  await expect(take(stranger.ana)).rejects.toMatchObject({ code: 'not-found' })
})

test('the limit of approval and the related CNPJ that people choose are those that documents are judged by, anew', async () => {
  const { deliver, judge, ana, workspaceId } = await newOffice()
  await deliver(...twins)
  await judge()
  const body = { limite: 5_000, grupos: [['11222333', '44555666']] }
  await run('PUT', '/ajustes', { ...ana, role: 'administrador' }, { body })
  expect((await run('GET', '/ajustes', ana, {})).data).toEqual({ ...body, limitePadrao: false })
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const stored = await readStoredSettings({ db }, workspaceId)
    expect(stored).toMatchObject({ approvalLimit: 500_000, groups: body.grupos })
    const { rows } =
      await sql`select reviewed_id::int as id from alert_setting where workspace_id = ${workspaceId}`.execute(db)
    expect(rows).toEqual([{ id: 0 }])
  })
})
