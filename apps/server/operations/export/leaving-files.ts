import { deletionDays, planKinds } from '@vigia/contract/codes'
import { exportMax } from '@vigia/contract/document-files'
import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { families } from '@vigia/dfe/families/all'
import { familyOf } from '@vigia/dfe/families/lookup'
import { roleNames } from '@vigia/dfe/roles'
import { type RawBuilder, sql } from 'kysely'
import { writeAudit } from '../../accounts/audit/csv.ts'
import { readHiding, shownRoles } from '../../companies/switches.ts'
import type { Arrival } from '../../documents/arrival.ts'
import type { Entry } from '../../documents/export/archive.ts'
import {
  columns,
  type DocumentLine,
  filesOf,
  folderOf,
  onlySummary,
  placeOf,
  printAhead,
} from '../../documents/export/files.ts'
import type { Place, Volume } from '../../documents/export/keeping.ts'
import { readByChave, readInBatches } from '../../documents/export/rows.ts'
import { type Spreadsheet, startSpreadsheet } from '../../documents/export/spreadsheet.ts'
import { missingLines, type Tally, textFile } from '../../documents/export/texts.ts'
import { type DocumentFile, xmlName } from '../../documents/files.ts'
import { readApart } from '../../documents/reading/reading.ts'
import { openReceived } from '../../documents/received/bytes.ts'
import { receivedContent } from '../../documents/received/column.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { jsonTime, readWorkspace } from '../../platform/database.ts'
import { nsuText, type ServiceCode, serviceOf } from '../../platform/service.ts'

interface LeavingTask {
  workspaceId: number
  volume: Volume
  logoOf: (taxId: string) => Promise<Uint8Array | undefined>
  productName: string
  made: string
  at: Date
  /** Filled as it goes on; counts receipts as documents. */
  tally: Tally
  abandoned: AbortSignal
}

type LeavingContext = Pick<Context, 'db' | 'log' | 'printer'>

/** Counts of a volume's contents besides the documents. */
interface Rest {
  events: number
  versions: number
  unread: number
}

/**
 * The files of a volume: every receipt as it arrived, whatever the switches hide and whether or not it could be read; the first volume also has
 * spreadsheets, audit and settings.
 */
export async function* leavingFiles(task: LeavingTask, ctx: LeavingContext): AsyncGenerator<Entry> {
  const { volume, at, workspaceId } = task
  const rest: Rest = { events: 0, versions: 0, unread: 0 }
  for await (const receipts of readReceipts(ctx, task)) yield* filesOfReceipts(receipts, task, rest, ctx)
  if (volume.number === 1) {
    yield* spreadsheets(task, ctx)
    yield { name: 'Auditoria/auditoria.csv', content: writeAudit(ctx, workspaceId), at }
    const settings = await readWorkspace(ctx, workspaceId, (ctx) => readSettings(ctx, workspaceId))
    const json = JSON.stringify({ feitoEm: at.toISOString(), ...settings }, null, 2)
    yield { name: 'Configurações/configuracoes.json', content: Buffer.from(`${json}\n`), at }
  }
  const name = volume.number === 1 ? 'LEIA-ME.txt' : `LEIA-ME-${volume.number}.txt`
  yield { name, content: textFile(readMeOf(task, rest)), at }
}

interface Receipt {
  companyId: number
  company_name: string
  company_cnpj: string
  service: number
  nsu: bigint
  schema: string
  problem: string | null
  receivedAt: Date
  content: Buffer
}

const batchSize = 100

// Each batch is a short transaction of its own.
async function* readReceipts(
  ctx: WithDatabase,
  { workspaceId, volume: { after, upto }, abandoned }: LeavingTask,
): AsyncGenerator<Receipt[]> {
  const place = ([companyId, service, nsu]: Place) => sql`(${companyId}::int, ${service}::smallint, ${nsu}::bigint)`
  const until = upto ? sql`(company_id, service, nsu) <= ${place(upto)}` : sql`true`
  for (let last = after; ; ) {
    abandoned.throwIfAborted()
    const since: RawBuilder<unknown> = last ? sql`(company_id, service, nsu) > ${place(last)}` : sql`true`
    const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
      sql<Receipt>`
        with r as materialized (
          select * from receipt where workspace_id = ${workspaceId} and ${since} and ${until}
           order by company_id, service, nsu limit ${batchSize})
        select c.id as "companyId", c.name as company_name, c.cnpj as company_cnpj, r.service, r.nsu, r.schema, r.problem, r.received_at as "receivedAt", ${receivedContent(workspaceId, 'r')} as content
          from r join company c on c.workspace_id = r.workspace_id and c.id = r.company_id
         order by r.company_id, r.service, r.nsu`.execute(db),
    )
    const end = rows.at(-1)
    if (!end) return
    yield rows
    last = [end.companyId, end.service, String(end.nsu)]
  }
}

async function* filesOfReceipts(
  receipts: Receipt[],
  task: LeavingTask,
  rest: Rest,
  ctx: LeavingContext,
): AsyncGenerator<Entry> {
  const { workspaceId, volume, tally, at } = task
  const { pdf } = volume
  const arrivals = await readApart(ctx, receipts, { patient: true })
  const documents = await documentsOf(ctx, workspaceId, receipts, arrivals)
  const best: DocumentFile[] = []
  for (const [index, receipt] of receipts.entries()) {
    tally.documents++
    const { facts } = arrivals[index]!
    const document = facts && documents.get(keyOf(receipt.companyId, facts.chave))
    if (facts?.kind === 'document' && document?.nsu === receipt.nsu)
      best.push({ ...document, content: receipt.content })
    else yield { ...restOf(receipt, arrivals[index]!, document, rest, tally), at }
  }
  for (const [row, printed] of printAhead(best, pdf, task.logoOf, ctx)) {
    const { entries } = await filesOf(row, printed, folderOf(row), { xml: true, pdf, planilha: false }, tally, ctx)
    for (const entry of entries) yield { ...entry, at }
  }
}

const keyOf = (companyId: number, chave: string) => `${companyId}/${chave}`

// List rows of the documents that the receipts are, or are about.
async function documentsOf(
  ctx: WithDatabase,
  workspaceId: number,
  receipts: readonly Receipt[],
  arrivals: readonly Arrival[],
): Promise<Map<string, DocumentFile>> {
  const wanted = receipts.flatMap(({ companyId, service }, index) => {
    const facts = arrivals[index]!.facts
    return facts?.type === serviceOf(service) ? [{ companyId, chave: facts.chave }] : []
  })
  if (wanted.length === 0) return new Map()
  const rows = await readWorkspace(ctx, workspaceId, (ctx) => readByChave(ctx, workspaceId, wanted))
  return new Map(rows.map((row) => [keyOf(row.company_id, row.chave), row]))
}

// An event, an earlier version of a document, or what could not be read. The NSU tells one file from another.
function restOf(
  receipt: Receipt,
  arrival: Arrival,
  document: DocumentFile | null | undefined,
  rest: Rest,
  tally: Tally,
): Omit<Entry, 'at'> {
  const { service, schema } = receipt
  const { facts } = arrival
  const nsu = `NSU${receipt.nsu < 0n ? receipt.nsu : nsuText(receipt.nsu)}`
  const folder = folderOf(receipt)
  const file = openedOf(receipt)
  if (file.isOpen && facts?.kind === 'event' && facts.type === serviceOf(service)) {
    rest.events++
    const { chave, tpEvento, nSeqEvento } = facts
    // An event may come before its document, whose chave has year and month.
    const issued_at = document?.issued_at ?? `20${chave.slice(2, 4)}-${chave.slice(4, 6)}`
    const place = placeOf({ issued_at, type: service }, folder)
    return { name: `${place}/Eventos/${chave}-${tpEvento}-${nSeqEvento}-${nsu}.xml`, content: file.content }
  }
  if (file.isOpen && facts?.kind === 'document' && document) {
    rest.versions++
    const name = xmlName({ ...document, complete: facts.complete }).replace(/\.xml$/, `-${nsu}.xml`)
    return { name: `${placeOf(document, folder)}/Outras versões/${name}`, content: file.content }
  }
  rest.unread++
  const name = `${folder}/Não lidos/${familyOf(service).name}-${nsu}.${file.isOpen ? 'xml' : 'xml.gz'}`
  const why = receipt.problem ?? arrival.problem ?? 'Não está na lista de documentos.'
  tally.problems.push(
    `${name} (${schema}), recebido em ${formatBrasiliaMoment(receipt.receivedAt)}: guardado como chegou. ${why}`,
  )
  return { name, content: file.content }
}

function openedOf({ content }: Receipt): { content: Buffer; isOpen: boolean } {
  try {
    return { content: openReceived(content), isOpen: true }
  } catch {
    return { content, isOpen: false }
  }
}

// Several: one is held as a whole until it ends.
async function* spreadsheets(
  { workspaceId, productName, made, at, abandoned }: LeavingTask,
  ctx: LeavingContext,
): AsyncGenerator<Entry> {
  const head = [`Documentos fiscais · ${productName}`, 'Todos os documentos', `Exportado em ${made}`]
  let sheet: Spreadsheet<DocumentLine> | null = null
  let lines = 0
  let number = 0
  const finish = async (open: Spreadsheet<DocumentLine>): Promise<Entry> => {
    sheet = null
    lines = 0
    number++
    return { name: `Planilhas/documentos-${number}.xlsx`, content: await open.end(), at, stored: true }
  }
  for await (const rows of readInBatches(ctx, workspaceId, 'everything', { withContent: false, abandoned })) {
    sheet ??= startSpreadsheet(head, columns, at)
    await sheet.add(
      rows.map((row) => ({
        ...row,
        file: `${placeOf(row, folderOf(row))}/${xmlName(row)}`,
        problem: row.complete ? '' : onlySummary,
      })),
    )
    lines += rows.length
    if (lines >= exportMax.documents) yield await finish(sheet)
  }
  if (sheet) yield await finish(sheet)
}

const rolesIn = (mask: number) => roleNames.filter((_, role) => (mask & (1 << role)) !== 0)

// No password, no key, no secret of a webhook.
async function readSettings({ db }: WithDatabase, workspaceId: number) {
  const { rows: accounts } = await sql<{ plano: number }>`
    select name as nome, plan as plano, created_at as "criadaEm", trial_until as "testeAte", paid_from as "pagaDesde", paid_until as "pagaAte"
      from workspace where id = ${workspaceId}`.execute(db)
  const { rows: pessoas } = await sql`
    select name as nome, email, phone as celular, created_at as "criadaEm" from account
     where workspace_id = ${workspaceId} order by id`.execute(db)
  const { rows: companies } = await sql<{
    id: number
    cnpj: string
    cienciaAutomaticaDesde: Date | null
    certificado: unknown
  }>`
    select c.id, c.name as "razaoSocial", c.cnpj, c.uf, c.email, c.created_at as "cadastradaEm", c.archived_at as "arquivadaEm",
           c.automatic as "sincronizacaoAutomatica", c.acknowledges_since as "cienciaAutomaticaDesde",
           (select json_build_object('titular', k.holder_name, 'cnpj', k.holder_cnpj, 'emissor', k.issuer, 'numeroDeSerie', k.serial_number,
                                     'validoDe', ${jsonTime(sql`k.valid_from`)}, 'validoAte', ${jsonTime(sql`k.valid_to`)})
              from certificate k where k.workspace_id = c.workspace_id and k.company_id = c.id and k.replaced_at is null) as certificado
      from company c where c.workspace_id = ${workspaceId} order by c.id`.execute(db)
  const { rows: visoes } = await sql<{ tipo: ServiceCode }>`
    select type as tipo, name as nome, address as endereco, saved_at as "guardadaEm" from saved_view
     where workspace_id = ${workspaceId} order by id`.execute(db)
  const { rows: justificativas } = await sql<{ tipo: ServiceCode }>`
    select type as tipo, choice as "tipoManifestacao", text as texto from manifestation_text
     where workspace_id = ${workspaceId} order by kept_at`.execute(db)
  // The conditions are those of events/rules.ts.
  const { rows: rules } = await sql<{ empresas: number[] | null }>`
    select name as nome, active as ativa, answer as resposta, after_days as dias, conditions -> 'empresas' as empresas,
           coalesce(nullif(conditions -> 'emitentes', 'null'), '"todos"') as emitentes, conditions -> 'emitenteNovo' as "emitenteNovo",
           conditions -> 'comAlerta' as "comAlerta", conditions -> 'valorDe' as "valorDe", conditions -> 'valorAte' as "valorAte", saved_at as "guardadaEm"
      from answer_rule where workspace_id = ${workspaceId} order by position`.execute(db)
  const { rows: webhooks } = await sql<{ empresas: number[] | null }>`
    select url, kinds as tipos, company_ids as empresas, created_at as "criadoEm", paused_at as "pausadoEm" from webhook
     where workspace_id = ${workspaceId} order by id`.execute(db)
  const hiding = await readHiding({ db }, workspaceId)
  const cnpjs = new Map(companies.map(({ id, cnpj }) => [id, cnpj]))
  const cnpjsOf = (ids: number[] | null) => ids?.map((id) => cnpjs.get(id) ?? null) ?? 'todas'
  const ofFamily = <T extends { tipo: ServiceCode }>(one: T) => ({ ...one, tipo: familyOf(one.tipo).name })
  return {
    conta: accounts.map((one) => ({
      ...one,
      plano: planKinds[one.plano as keyof typeof planKinds]?.name ?? String(one.plano),
    }))[0],
    pessoas,
    empresas: companies.map(({ id, cienciaAutomaticaDesde, certificado, ...one }) => ({
      ...one,
      ...Object.fromEntries(
        families.map((family) => [`mostra${family.name.replace('-', '')}`, rolesIn(shownRoles(hiding, id, family.id))]),
      ),
      cienciaAutomaticaDesde,
      certificado,
    })),
    visoes: visoes.map(ofFamily),
    justificativas: justificativas.map(ofFamily),
    regrasDeResposta: rules.map((one) => ({ ...one, empresas: cnpjsOf(one.empresas) })),
    webhooks: webhooks.map((one) => ({ ...one, empresas: cnpjsOf(one.empresas) })),
  }
}

function readMeOf({ productName, made, volume, tally }: LeavingTask, { events, versions, unread }: Rest): string[] {
  const { number, of, pdf } = volume
  const { xml, summaries, pdf: printed, problems, doubts } = tally
  const isFirst = number === 1
  return [
    `Tudo o que o ${productName} guarda desta conta`,
    '',
    `Feito em ${made}`,
    ...(of > 1 ? [`Arquivo ${number} de ${of}. Extraia todos na mesma pasta: juntos são uma coisa só.`] : []),
    '',
    'O QUE ESTÁ AQUI',
    'Pastas: empresa (CNPJ) / ano e mês da emissão / NF-e ou CT-e. O nome de cada arquivo começa com a chave de acesso.',
    `- ${formatCount(xml, 'documento', 'documentos')} em XML, exatamente como a SEFAZ entregou${
      summaries > 0 ? `; de ${formatCount(summaries, 'nota', 'notas')}, só o resumo (…-resNFe.xml)` : ''
    }. Também os que as suas preferências escondem da lista.`,
    ...(pdf ? [`- ${formatCount(printed, 'PDF', 'PDF')} (DANFE ou DACTE).`] : []),
    `- Eventos: ${formatCount(events, 'XML', 'XML')} (cancelamentos, manifestações e outros).`,
    `- Outras versões: ${formatCount(versions, 'XML', 'XML')} que depois chegaram mais completos ou de novo, como os resumos.`,
    ...(unread > 0
      ? [
          `- Não lidos, na pasta da empresa: ${formatCount(unread, 'arquivo', 'arquivos')} que guardamos como chegaram e não conseguimos ler (os .gz, nem abrir).`,
        ]
      : []),
    ...(isFirst
      ? [
          '- Planilhas: uma linha por documento, com o lugar do XML.',
          '- Auditoria: quem fez o quê, e como conferir que nada foi mudado.',
          '- Configurações/configuracoes.json: pessoas, empresas com suas preferências, visões, justificativas e webhooks.',
        ]
      : ['- Planilhas, auditoria e configurações estão no arquivo 1.']),
    '',
    'O QUE FALTA',
    ...missingLines(summaries, { xml: true, pdf, planilha: false }, problems),
    ...(doubts.length > 0 ? ['', 'O QUE NÃO CONFERE', ...doubts.map((doubt) => `- ${doubt}`)] : []),
    '',
    'O QUE NUNCA ESTÁ AQUI',
    '- As chaves privadas dos certificados: elas não saem do sistema, e a exclusão da conta as apaga na hora. O arquivo .pfx continua com você.',
    '- Senhas, códigos de verificação e segredos de webhooks.',
    '',
    'O QUE FICA, SE VOCÊ EXCLUIR A CONTA',
    `- Conosco: tudo, por ${deletionDays} dias, para você poder desistir. Depois, só um número sem nome, com as datas e quantas empresas e documentos eram; e as cópias de segurança de quem opera o sistema, até vencerem.`,
    '- Na SEFAZ: as notas, os conhecimentos e os eventos continuam registrados. Para buscar de novo, ela entrega só cerca de 90 dias.',
    '- Com a empresa: a lei manda guardar os documentos fiscais por pelo menos cinco anos (CTN, art. 173, 174 e 195). Guarde este arquivo.',
    '',
  ]
}
