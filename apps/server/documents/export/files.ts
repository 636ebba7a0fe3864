import { formatBrasiliaMoment, writeBrasiliaTime } from '@vigia/contract/text'
import type { PrintedForm } from '@vigia/dfe/families/family'
import { familyOf, statusNames } from '@vigia/dfe/families/lookup'
import { primaryRole, roleNames } from '@vigia/dfe/roles'
import { PrintError } from '@vigia/print/danfe'
import type { MergedForm } from '@vigia/print/merge'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { serviceOf } from '../../platform/service.ts'
import { type DocumentFile, xmlName } from '../files.ts'
import { eventName, eventText } from '../list/rows.ts'
import { formOf, orderOf } from '../print/printing.ts'
import { openReceived } from '../received/bytes.ts'
import { doubtOf, proofSentence } from '../signatures/proof.ts'
import { type Entry, safeName } from './archive.ts'
import { column, type SpreadsheetColumn, startSpreadsheet } from './spreadsheet.ts'
import { type ExportContents, readMe, type Tally } from './texts.ts'

interface ExportTask {
  rows: AsyncIterable<DocumentFile[]>
  contents: ExportContents
  /** The role that was asked for: each document shows that one. */
  role?: number
  /** The logo of the issuer with this CNPJ or CPF, when it is a company of the workspace. */
  logoOf: (taxId: string) => Promise<Uint8Array | undefined>
  productName: string
  filter: string
  made: string
  at: Date
  tally: Tally
  /** Lines about what could not be read and may belong here. */
  unread?: () => Promise<string[]>
}

export async function* exportFiles(task: ExportTask, ctx: Pick<Context, 'log' | 'printer'>): AsyncGenerator<Entry> {
  const { contents, filter, made, at, tally } = task
  const sheet = contents.planilha
    ? startSpreadsheet(
        [`Documentos fiscais · ${task.productName}`, `Filtro: ${filter}`, `Exportado em ${made}`],
        columns,
        at,
      )
    : null
  const folders = new Map<number, string>()
  for await (const rows of task.rows) {
    const lines: DocumentLine[] = []
    for (const [row, pdf] of printAhead(rows, contents.pdf, task.logoOf, ctx)) {
      tally.documents++
      if (!folders.has(row.company_id)) folders.set(row.company_id, folderOf(row))
      const { entries, problem } = await filesOf(row, pdf, folders.get(row.company_id)!, contents, tally, ctx)
      for (const entry of entries) yield { ...entry, at }
      lines.push({ ...row, role: task.role, file: entries[0]?.name ?? '', problem })
    }
    await sheet?.add(lines)
  }
  if (sheet) yield { name: 'planilha.xlsx', content: await sheet.end(), at, stored: true }
  tally.problems.push(...((await task.unread?.()) ?? []))
  yield { name: 'leia-me.txt', content: readMe(task, tally), at }
}

export async function* printedForms(
  { rows, tally, logoOf }: Pick<ExportTask, 'rows' | 'logoOf' | 'tally'>,
  ctx: Pick<Context, 'log' | 'printer'>,
): AsyncGenerator<MergedForm> {
  for await (const batch of rows)
    for (const [row, pdf] of printAhead(batch, true, logoOf, ctx)) {
      tally.documents++
      const printed = await printedOf(row, pdf, ctx.log)
      if (typeof printed === 'string') tally.problems.push(problemOf(row, printed))
      else {
        tally.pdf++
        yield { title: `${familyOf(row.type).name} ${row.number} · ${row.issuer_name}`, pdf: printed.pdf }
      }
    }
}

// Threads lay out the next documents while earlier ones are written. This is how many may wait, however long the export.
const aheadMax = 4

type Pdf = Promise<Uint8Array> | undefined

export function* printAhead(
  rows: readonly DocumentFile[],
  withPdf: boolean,
  logoOf: ExportTask['logoOf'],
  { printer }: Pick<Context, 'printer'>,
): Generator<[DocumentFile, Pdf]> {
  const begun: Pdf[] = []
  const begin = (row: DocumentFile): Pdf => {
    const form = formOf(row.chave)
    if (!withPdf || !row.complete || 'refusal' in form) return undefined
    const pdf = logoOf(row.issuer_tax_id).then((logo) =>
      printer.print(orderOf(form, { ...row, content: row.content! }, logo), { patient: true }),
    )
    // Its failure is reported when its turn comes; until then it must not count as unhandled.
    pdf.catch(() => {})
    return pdf
  }
  for (const [at, row] of rows.entries()) {
    const missing = rows.slice(at + begun.length, at + aheadMax)
    begun.push(...missing.map(begin))
    yield [row, begun.shift()]
  }
}

export function folderOf({ company_name, company_cnpj }: Pick<DocumentFile, 'company_name' | 'company_cnpj'>): string {
  return `${safeName(company_name) || 'Empresa'} (${company_cnpj})`
}

type File = Omit<Entry, 'at'>

export function placeOf({ issued_at, type }: Pick<DocumentFile, 'issued_at' | 'type'>, folder: string): string {
  return `${folder}/${issued_at.slice(0, 7)}/${familyOf(type).files.folder}`
}

/** The files of one document; what has none is a line of `tally`. */
export async function filesOf(
  row: DocumentFile,
  pdf: Pdf,
  folder: string,
  { xml: withXml, pdf: withPdf }: ExportContents,
  tally: Tally,
  { log }: Pick<Context, 'log'>,
): Promise<{ entries: File[]; problem: string }> {
  if (!row.complete) tally.summaries++
  const doubt = doubtOf(row.proof)
  if (doubt) tally.doubts.push(problemOf(row, doubt))
  if (!withXml && !withPdf) return { entries: [], problem: row.complete ? '' : onlySummary }
  const place = placeOf(row, folder)
  const short = (entries: File[], problem: string) => {
    tally.problems.push(problemOf(row, problem))
    return { entries, problem }
  }
  let content: Buffer
  try {
    content = openReceived(row.content!)
  } catch (err) {
    log.error({ err, chave: row.chave }, 'a document could not be opened')
    return short([], 'não conseguimos abrir o arquivo guardado.')
  }
  const entries: File[] = []
  if (withXml) {
    tally.xml++
    entries.push({ name: `${place}/${xmlName(row)}`, content })
  }
  if (!row.complete) return { entries, problem: onlySummary }
  if (!withPdf) return { entries, problem: '' }
  const printed = await printedOf(row, pdf, log)
  if (typeof printed === 'string') return short(entries, printed)
  tally.pdf++
  entries.push({ name: `${place}/${row.chave}-${printed.form.name}.pdf`, content: printed.pdf, stored: true })
  return { entries, problem: '' }
}

async function printedOf(
  row: DocumentFile,
  pdf: Pdf,
  log: Context['log'],
): Promise<{ form: PrintedForm; pdf: Uint8Array } | string> {
  if (!row.complete) return onlySummary
  const form = formOf(row.chave)
  if ('refusal' in form) return form.refusal
  try {
    return { form, pdf: (await pdf)! }
  } catch (error) {
    if (error instanceof AppError) return error.message
    // A document that prevents its own printing is no fault of ours.
    if (!(error instanceof PrintError)) log.error({ err: error, chave: row.chave }, 'a document could not be printed')
    return `não conseguimos montar o ${form.name}. O XML original está guardado e íntegro.`
  }
}

export function problemOf({ type, number, issuer_name, chave }: DocumentFile, what: string): string {
  return `${familyOf(type).name} ${number} de ${issuer_name.replace(/\s+/g, ' ')} (${chave}): ${what}`
}

export const onlySummary = 'Só o resumo chegou até agora.'

/** A document in the spreadsheet, with its file and what is missing of it. `role`: the one that was asked for. */
export interface DocumentLine extends DocumentFile {
  role?: number | undefined
  file: string
  problem: string
}

export const columns: readonly SpreadsheetColumn<DocumentLine>[] = [
  column('Tipo', 7, (row) => familyOf(row.type).name),
  column('Número', 11, (row) => String(row.number), 'whole'),
  column('Série', 7, (row) => String(row.series ?? ''), 'whole'),
  column('Emissão', 17, (row) => row.issued_at.replace(' ', 'T'), 'date'),
  column('CNPJ ou CPF do emitente', 24, (row) => row.issuer_tax_id),
  column('Emitente', 40, (row) => row.issuer_name),
  column('Valor (R$)', 15, (row) => row.amount, 'money'),
  column('Status', 24, (row) => statusNames[row.status] ?? ''),
  column('Último evento', 32, (row) => eventText(serviceOf(row.type), row)),
  column('Participação', 15, (row) => roleNames[row.role ?? primaryRole(serviceOf(row.type), row.roles)] ?? ''),
  column('Empresa', 40, (row) => row.company_name),
  column('CNPJ da empresa', 17, (row) => row.company_cnpj),
  column('Chegada (Brasília)', 18, (row) => writeBrasiliaTime(row.created_at), 'date'),
  column('Chave de acesso', 48, (row) => row.chave),
  column('Arquivo', 40, (row) => row.file),
  column('Observação', 40, (row) => row.problem),
  column('Assinatura, protocolo e chave', 40, ({ proof, base_status, complete }) =>
    proof ? proofSentence(proof, base_status) : complete ? 'Não conferidos.' : '',
  ),
  column('Conferida por', 30, (row) => byWhom(row.checked_by, row.checked_at)),
  column('Lançada por', 30, (row) => byWhom(row.booked_by, row.booked_at)),
  column('Entregue por', 30, (row) => byWhom(row.delivered_by, row.delivered_at)),
  column('Mudou depois', 26, (row) => (row.altered_at === null ? '' : eventName(serviceOf(row.type), row.altered_by!))),
  column('Anotações', 50, (row) => row.remark_texts ?? ''),
]

function byWhom(name: string | null, at: Date | null): string {
  return at ? `${name ?? 'Alguém que não tem mais conta'}, em ${formatBrasiliaMoment(at)}` : ''
}
