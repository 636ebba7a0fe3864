import { gzipSync } from 'node:zlib'
import type { getCompleteness } from '@vigia/contract/companies'
import type { RouteData } from '@vigia/contract/route'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { showOnly } from '../companies/testing.ts'
import { readArrival } from '../documents/reading/read.ts'
import { receive } from '../documents/receive.ts'
import { arrive, chaveOf, nfeProc } from '../documents/testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import type { FileResponse } from '../platform/http/http.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'
import { noteFailure } from '../sefaz/circuit.ts'
import { listCapturedCompanies } from './state.ts'
import { addCertificate, call, newCompany, ours, retireLines, useInstallation } from './testing.ts'

// Texts that a person reads about a capture, and responses of the sync button.
const { ctx } = await useInstallation()

beforeEach(async () => {
  await retireLines(ctx)
  await ctx.db.deleteFrom('circuit').execute()
})

type Company = Awaited<ReturnType<typeof newCompany>>

interface Told {
  estado: string
  mensagem: string
  causaComum: string | null
  providencia: string | null
  proximaConsulta: string | null
}
const told = async (company: Company, asking = ctx): Promise<Told> => {
  const { data } = await call<{ data: { captura: Told[] }[] }>(asking, 'obter-empresas', company)
  return data[0]!.captura[0]!
}
const sync = (company: Company) =>
  call<{ data: { proximaConsulta: string | null }; message: string }>(ctx, 'sincronizar', company)
const change = (set: string, service = [0, 2]) =>
  inCapture(ctx, ({ db }) =>
    sql`update capture_line set ${sql.raw(set)} where cnpj = ${ours} and service = any(${service})`.execute(db),
  )
const fail = (service: 'nfe' | 'cte', reason: string) =>
  noteFailure(ctx, ctx.config.sefaz.endpoints.distribution[service], reason, 600_000)

describe('the list of companies', () => {
  test('counts what was issued in this month and the switches show', async () => {
    const { workspaceId, companyId } = await newCompany(ctx)
    const other = await newCompany(ctx, { cnpj: '11222333000181', workspaceId })
    const empty = await newCompany(ctx, { cnpj: '12ABC34501DE35', workspaceId })
    const count = (company: number, type: 0 | 2, roles: number, n: number, monthsAgo = 0) =>
      inWorkspace(ctx, workspaceId, ({ db }) =>
        sql`insert into count_month (workspace_id, type, month, company_id, roles, status, n, amount)
            values (${workspaceId}, ${type}, date_trunc('month', now() at time zone 'America/Sao_Paulo') - ${monthsAgo} * interval '1 month',
                    ${company}, ${roles}, 2, ${n}, 0)`.execute(db),
      )
    const counted = async () =>
      Object.fromEntries(
        (await listCapturedCompanies(ctx, workspaceId, undefined)).map(({ id, documents }) => [id, documents]),
      )
    await count(companyId, 0, 2, 3)
    await count(companyId, 0, 4, 5)
    await count(companyId, 2, 2, 7)
    await count(companyId, 0, 2, 100, 1)
    await count(other.companyId, 2, 128, 1)
    expect(await counted()).toEqual({ [companyId]: 15, [other.companyId]: 1, [empty.companyId]: 0 })
    await showOnly(ctx.db, workspaceId, { nfe: 507, cte: 509, companyId })
    expect(await counted()).toMatchObject({ [companyId]: 3 })
  })

  test('tells the lines of each company apart', async () => {
    const { workspaceId } = await newCompany(ctx)
    await newCompany(ctx, { cnpj: '11222333000181', workspaceId })
    await inCapture(ctx, ({ db }) => sql`update capture_line set message = cnpj || ' ' || service`.execute(db))
    for (const { cnpj, lines } of await listCapturedCompanies(ctx, workspaceId, undefined))
      expect(lines.map(({ message }) => message)).toEqual([`${cnpj} 0`, `${cnpj} 2`])
  })
})

describe('a company without a proved certificate', () => {
  test('reads of an outage', async () => {
    const company = await newCompany(ctx, { proved: false })
    expect(await told(company)).toMatchObject({ estado: 'aguardando', proximaConsulta: null })
    await fail('nfe', 'tls-chain')
    expect(await told(company)).toMatchObject({
      estado: 'falha',
      mensagem: expect.stringMatching(/para todas .*identidade do servidor/),
    })
  })

  test('reads that the first query does not succeed, or is not made', async () => {
    const company = await newCompany(ctx, { proved: false })
    await addCertificate(ctx, company, { holder: ours, key: 'x', validTo: '2090-01-01' })
    await change("state = 'failed', failures = 1, next_at = now() + interval '1 hour', message = 'de outro'")
    const failed = await told(company)
    expect(failed).toMatchObject({ estado: 'falha', proximaConsulta: null })
    expect(failed.mensagem).toMatch(/^Ainda não conseguimos .* npm run sefaz -- check\.$/)
    await change("state = 'waiting', failures = 0, next_at = now() - interval '16 minutes'")
    expect((await told(company)).mensagem).toMatch(/^Ainda não conseguimos .* \(worker\) está em execução\.$/)
    await change("state = 'stopped', next_at = null")
    expect(await told(company)).toMatchObject({ estado: 'parada', mensagem: expect.stringMatching(/Envie um cert/) })
  })

  test('reads nothing of the times and the block of others', async () => {
    await newCompany(ctx)
    const stranger = await newCompany(ctx, { proved: false })
    await change(
      "state = 'blocked', allowed_at = now() + interval '40 minutes', next_at = now() + interval '41 minutes', message = 'bloqueada'",
    )
    expect(await told(stranger)).toMatchObject({ estado: 'aguardando', proximaConsulta: null })
    expect(await sync(stranger)).toEqual({
      data: { proximaConsulta: null },
      message: 'Pedido anotado. A consulta é feita sozinha assim que a SEFAZ permitir.',
    })
  })
})

describe('a company', () => {
  test('tells apart what is wrong for all from what it has of its own', async () => {
    const company = await newCompany(ctx)
    expect(await told(company)).toMatchObject({ causaComum: null, providencia: null })
    await fail('nfe', 'timeout')
    const outage = await told(company)
    expect(outage).toMatchObject({
      estado: 'falha',
      causaComum: expect.stringMatching(/para todas/),
      providencia: null,
    })
    expect(outage.causaComum).toBe(outage.mensagem)
    const refused = 'A SEFAZ não aceitou o certificado.'
    const refuse = (text: string | null) =>
      inCapture(ctx, ({ db }) => sql`update capture_subscription set refused = ${text}`.execute(db))
    await refuse(refused)
    expect(await told(company)).toMatchObject({ causaComum: null, providencia: 'certificado' })
    await refuse(null)
    await change("state = 'blocked', allowed_at = now() + interval '1 hour', next_at = now() + interval '1 hour'")
    expect(await told(company)).toMatchObject({ estado: 'bloqueada', causaComum: null, providencia: null })
    const stranger = await newCompany(ctx, { proved: false })
    expect((await told(stranger)).causaComum).toBe(outage.causaComum)
    const full = { ...ctx, storage: { ...ctx.storage, trouble: { reason: 'no-space' as const, since: new Date() } } }
    expect((await told(company, full)).causaComum).toMatch(/liberar espaço/)
    // The capture process is away: no light stays green.
    await noteTrouble(ctx, 'trabalho', 'O processo que captura não está funcionando.')
    const away = await told(stranger)
    expect(away).toMatchObject({ estado: 'falha', causaComum: expect.stringMatching(/^A captura, .* em pausa/) })
    await endTrouble(ctx, 'trabalho')
    expect((await told(stranger)).causaComum).toBe(outage.causaComum)
  })

  test('is listed whatever the authority said of its positions', async () => {
    const company = await newCompany(ctx)
    await inCapture(ctx, ({ db }) =>
      sql`insert into capture_gap (line_id, from_nsu, to_nsu)
          select id, 1, 999999999999999 from capture_line where cnpj = ${ours}`.execute(db),
    )
    expect((await told(company)).mensagem).toContain('999999999999999')
  })

  test('whose query is late reads so, and a request does not hide it', async () => {
    const company = await newCompany(ctx)
    await change("next_at = '2026-03-09T15:30:00Z', message = 'Em dia.'")
    const late = {
      estado: 'falha',
      mensagem: expect.stringMatching(/^A captura está atrasada desde 09\/03 às 12:30\./),
    }
    expect(await told(company)).toMatchObject(late)
    const { data, message } = await sync(company)
    expect(message).toMatch(/^Pedido anotado, mas a captura está atrasada/)
    expect(Date.parse(data.proximaConsulta!)).toBeGreaterThan(Date.parse('2026-03-09T15:30:00Z'))
    expect(await told(company)).toMatchObject(late)
    await change("lease_until = now() + interval '1 minute'")
    expect(await told(company)).toMatchObject({ estado: 'capturando', mensagem: 'Em dia.' })
    await change("lease_until = null, allowed_at = now() - interval '14 minutes'")
    expect(await told(company)).toMatchObject({ estado: 'aguardando', mensagem: 'Em dia.' })
  })

  test('that is up to date and was asked about longer ago than any pause lasts is late, whatever its next time says', async () => {
    const company = await newCompany(ctx)
    await change(
      "next_at = now() + interval '20 hours', message = 'Em dia.', last_success_at = now() - interval '2 hours'",
    )
    expect(await told(company)).toMatchObject({ estado: 'aguardando', mensagem: 'Em dia.' })
    await change("last_success_at = now() - interval '3 hours'")
    expect(await told(company)).toMatchObject({
      estado: 'falha',
      mensagem: expect.stringMatching(/^A captura está atrasada desde/),
    })
  })

  test('that is captured only on request is not late before one', async () => {
    const company = await newCompany(ctx)
    await inWorkspace(ctx, company.workspaceId, ({ db }) =>
      db.updateTable('company').set({ automatic: false }).execute(),
    )
    await change("automatic = false, next_at = now() - interval '3 days', message = 'Em dia.'")
    expect(await told(company)).toMatchObject({ estado: 'aguardando' })
    expect((await sync(company)).message).toMatch(/^Sincronização iniciada\./)
    expect(await told(company)).toMatchObject({ estado: 'aguardando' })
  })

  test('reads how many positions the authority has no more', async () => {
    const company = await newCompany(ctx)
    await inCapture(ctx, ({ db }) =>
      sql`insert into capture_gap (line_id, from_nsu, to_nsu, lost, found_at)
          select id, n, n + 2, n < 30, now() - n * interval '10 days' from capture_line, unnest(array[1, 20, 30]) n
           where cnpj = ${ours} and service = 0`.execute(db),
    )
    expect((await told(company)).mensagem).toMatch(
      /Faltam 3 documentos, .* 3 posições que faltavam não estão mais na SEFAZ: a completude mostra quais\./,
    )
  })

  test('reads which files could not be read, and fetches their bytes', async () => {
    const company = await newCompany(ctx)
    await inCapture(ctx, ({ db }) =>
      sql`update capture_subscription set proved_at = now() where workspace_id = ${company.workspaceId}`.execute(db),
    )
    const [text, damaged] = [`<nfeProc><infNFe Id="NFe${chaveOf()}">`, Buffer.from('sem gzip')]
    const arrivals = [
      readArrival({ nsu: 7n, schema: 'procNFe_v4.00.xsd', content: gzipSync(text) }),
      // Its position was fetched whole meanwhile, and that of the next one is still missing.
      readArrival({ nsu: 8n, schema: 'resNFe_v1.01.xsd', content: damaged }),
      readArrival({ nsu: 9n, schema: 'resNFe_v1.01.xsd', content: damaged }),
      // The database refuses its value.
      arrive(10, nfeProc({ amount: '9999999999999.999' })),
    ]
    const refused = vi.spyOn(ctx.log, 'error')
    await inWorkspace(ctx, company.workspaceId, ({ db }) =>
      receive({ ...ctx, db }, { ...company, cnpj: ours }, 'nfe', arrivals),
    )
    await inCapture(ctx, ({ db }) =>
      sql`insert into capture_gap (line_id, from_nsu, to_nsu) select id, 9, 9 from capture_line
           where cnpj = ${ours} and service = 0`.execute(db),
    )
    expect(refused).toHaveBeenCalledWith(expect.objectContaining({ nsu: '10' }), 'a document is kept as bytes only')
    expect((await told(company)).mensagem).toMatch(/3 arquivos recebidos não puderam .*: a completude mostra quais\.$/)
    const { data } = await call<{ data: RouteData<typeof getCompleteness> }>(ctx, 'completude', company)
    expect(data[0]).toMatchObject({
      totalNaoLidos: 3,
      naoLidos: [
        {
          nsu: '7',
          esquema: 'procNFe_v4.00.xsd',
          recebidoEm: expect.any(String),
          chave: chaveOf(),
          motivo: expect.stringMatching(/\.$/),
        },
        { nsu: '9', esquema: 'resNFe_v1.01.xsd', chave: null, motivo: expect.stringMatching(/corrompido/) },
        { nsu: '10', chave: chaveOf(), motivo: expect.stringMatching(/não conseguimos lê-lo por inteiro/) },
      ],
    })
    const fetchFile = (nsu: string) =>
      call<FileResponse>(ctx, 'arquivo-nao-lido', company, { query: { servico: 'nfe', nsu } })
    expect(await fetchFile('7')).toEqual({ content: Buffer.from(text), fileName: 'NF-e-NSU7.xml' })
    expect(await fetchFile('9')).toEqual({ content: damaged, fileName: 'NF-e-NSU9.gz' })
    await expect(fetchFile('1')).rejects.toMatchObject({ code: 'not-found' })
    const { rows } = await inWorkspace(ctx, company.workspaceId, ({ db }) =>
      sql<{ description: string }>`select description from audit where action = 'leitura' order by id`.execute(db),
    )
    // The same position of another company is another file.
    expect(rows[0]?.description).toBe(`Baixou o arquivo não lido NF-e-NSU7 da empresa ${formatCnpj(ours)}.`)
  })

  test('is not in order while documents are known to be missing; positions that may be empty are told', async () => {
    const company = await newCompany(ctx)
    const gap = (from: number, to: number, passed: boolean) =>
      inCapture(ctx, ({ db }) =>
        sql`insert into capture_gap (line_id, from_nsu, to_nsu, passed)
            select id, ${from}, ${to}, ${passed} from capture_line where cnpj = ${ours} and service = 0`.execute(db),
      )
    await change("message = 'Em dia. Nenhum documento novo na última consulta.', last_success_at = now()")
    await gap(1, 2, true)
    expect(await told(company)).toMatchObject({
      estado: 'aguardando',
      mensagem:
        'Em dia. Nenhum documento novo na última consulta. A SEFAZ avançou 2 posições sem entregar documento: a captura pergunta por elas uma a uma, até vinte por hora.',
    })
    await gap(5, 5, false)
    expect(await told(company)).toMatchObject({
      estado: 'falha',
      mensagem: expect.stringMatching(/^Nenhum documento novo na última consulta\. .* Falta 1 documento,/),
    })
  })

  test('whose own certificate was not accepted reads so while others go on', async () => {
    const company = await newCompany(ctx)
    await change("message = 'Em dia.'")
    await inCapture(ctx, ({ db }) => sql`update capture_subscription set refused = 'Foi revogado.'`.execute(db))
    expect((await told(company)).mensagem).toBe('Em dia. O seu certificado não foi aceito: Foi revogado.')
  })
})

describe('the button', () => {
  test('says what is true of each service', async () => {
    const company = await newCompany(ctx)
    expect((await sync(company)).message).toMatch(/^Sincronização iniciada\./)
    await change("state = 'blocked', allowed_at = '2099-01-01T13:40:00Z', next_at = '2099-01-01T13:40:00Z'", [2])
    expect((await sync(company)).message).toBe(
      'NF-e: Sincronização iniciada. Os documentos novos aparecem em instantes. CT-e: A SEFAZ bloqueou as consultas deste CNPJ; perguntar agora só aumentaria a espera. A captura volta sozinha às 10:40.',
    )
    await change("state = 'waiting', allowed_at = '2099-01-01T13:40:00Z'")
    expect((await sync(company)).message).toBe(
      'A SEFAZ permite uma consulta por hora. A próxima será feita sozinha às 10:40.',
    )
  })

  test('does not say that something began during an outage', async () => {
    const company = await newCompany(ctx)
    await fail('nfe', 'timeout')
    await fail('cte', 'timeout')
    expect((await sync(company)).message).toMatch(/fora do ar para todas .* O pedido está anotado/)
  })

  test('nor when the certificate has expired', async () => {
    const company = await newCompany(ctx)
    await addCertificate(ctx, company, { holder: ours, key: `old ${company.companyId}`, validTo: '2021-01-01' })
    expect(await sync(company)).toEqual({
      data: { proximaConsulta: null },
      message: expect.stringMatching(/^O certificado digital desta empresa venceu/),
    })
  })
})
