import {
  groupName,
  type Report,
  type ReportGroup,
  type ReportRow,
  type ReportSubject,
  reportTaxes,
  subjectNames,
} from '@vigia/contract/reports'
import { formatMonth } from '@vigia/contract/text'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { type Figures, isAdditive, type Line, type Question, readSums, restOf } from './sums.ts'

const pageSize = 50

export async function readReport(
  ctx: WithDatabase,
  workspaceId: number,
  question: Question,
  page: number,
  size = pageSize,
): Promise<Omit<Report, 'faltam'>> {
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const part = { skip: (page - 1) * size, take: size }
    const { lines, total, lineCount } = await readSums(ctx, workspaceId, question, part)
    const rest = restOf(total, lines)
    const otherLines = lineCount - lines.length
    return {
      linhas: await namedLines(ctx, workspaceId, question.group, lines),
      // Months are all there, and each is compared with the one before it.
      demais:
        question.group === 'mes' || (otherLines === 0 && rest.value === 0 && rest.before === 0 && rest.yearBefore === 0)
          ? null
          : { linhas: otherLines, ...toFigures(isAdditive(question.group) ? rest : { ...rest, documents: null }) },
      total: toFigures(total),
      totalDeLinhas: lineCount,
      totalDePaginas: Math.ceil(lineCount / size),
    }
  })
}

async function namedLines(
  { db }: WithDatabase,
  workspaceId: number,
  group: ReportGroup,
  lines: readonly Line[],
): Promise<ReportRow[]> {
  const keys = lines.map(({ key }) => key)
  const products = group === 'produto' ? await readProducts({ db }, workspaceId, keys.map(Number)) : new Map()
  const names = await readNames(
    { db },
    workspaceId,
    group === 'participante' ? keys : [...products.values()].map(({ issuer }) => issuer),
  )
  return lines.map((line) => {
    const product = products.get(Number(line.key))
    return {
      chave: line.key,
      nome: product?.name ?? nameOf(group, line.key, names),
      ...toFigures(line),
      produto: product
        ? {
            codigo: product.code,
            fornecedor: names.get(product.issuer) ?? formatTaxId(product.issuer),
            cnpjCpf: product.issuer,
            ncm: product.ncm,
            unidade: product.unit,
            quantidade: Number(line.quantity ?? 0),
            precoMedio: priceOf(line.value, line.quantity),
          }
        : null,
    }
  })
}

function nameOf(group: ReportGroup, key: string, names: ReadonlyMap<string, string>): string {
  if (group === 'participante') return key === '' ? 'Sem CNPJ nem CPF' : (names.get(key) ?? formatTaxId(key))
  if (group === 'mes') return formatMonth(key)
  if (group === 'ncm' && key.length === 8) return key.replace(/^(....)(..)(..)$/, '$1.$2.$3')
  if (group === 'trecho') return /^..-..$/.test(key) ? key.replace('-', ' → ') : 'Sem trecho'
  if (key !== '') return key
  return group === 'uf' ? 'Sem UF' : 'Fora dos itens'
}

export const formatTaxId = (taxId: string) => (taxId.length === 11 ? formatCpf(taxId) : formatCnpj(taxId))

/** Reais for one unit, to the tenth decimal; null: there is no quantity. */
export function priceOf(value: number, quantity: string | null): number | null {
  const units = Number(quantity ?? 0)
  return units > 0 ? Math.round((value / 100 / units) * 1e10) / 1e10 : null
}

export interface Product {
  id: number
  issuer: string
  code: string
  name: string
  ncm: string
  unit: string
  gtin: string | null
}

export async function readProducts(
  { db }: WithDatabase,
  workspaceId: number,
  ids: readonly number[],
): Promise<Map<number, Product>> {
  const { rows } = await sql<Product>`
    select id, issuer, code, name, ncm, unit, gtin from product
     where workspace_id = ${workspaceId} and id = any (${ids}::int[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

export async function readNames(
  { db }: WithDatabase,
  workspaceId: number,
  taxIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ taxId: string; name: string }>`
    select distinct on (s.tax_id) s.tax_id as "taxId", s.name from supplier s
     where s.workspace_id = ${workspaceId} and s.tax_id = any (${[...new Set(taxIds)]}::text[])
     order by s.tax_id, s.id desc`.execute(db)
  return new Map(rows.map(({ taxId, name }) => [taxId, name]))
}

const reais = (cents: number) => cents / 100

function toFigures({ documents, value, before, yearBefore, taxes }: Figures): Report['total'] {
  return {
    documentos: documents,
    valor: reais(value),
    anterior: reais(before),
    anoAnterior: reais(yearBefore),
    impostos:
      taxes && (Object.fromEntries(reportTaxes.map((tax) => [tax, reais(taxes[tax])])) as Report['total']['impostos']),
  }
}

export function titleOf({ subject, group }: { subject: ReportSubject; group: ReportGroup }): string {
  return `${subjectNames[subject]} por ${groupName(subject, group)}`
}

/** "de janeiro a março de 2026" in short: "01/2026 a 03/2026". */
export function periodText(from: string, to: string): string {
  const written = (month: string) => `${month.slice(5)}/${month.slice(0, 4)}`
  return from === to ? written(from) : `${written(from)} a ${written(to)}`
}

export async function aboutOf(ctx: WithDatabase, workspaceId: number, companyId: number | undefined): Promise<string> {
  if (companyId === undefined) return 'Todas as empresas'
  const { rows } = await readWorkspace({ db: ctx.db }, workspaceId, ({ db }) =>
    sql<{ name: string }>`
      select name from company where workspace_id = ${workspaceId} and id = ${companyId}`.execute(db),
  )
  return rows[0]!.name
}
