import { formatCount, formatList } from '@vigia/contract/text'
import type { MessageKind } from '@vigia/contract/workspace'
import { type RawBuilder, sql } from 'kysely'

/** Writes the text for all that happened of one kind. */
export interface Writer {
  topic: Topic
  /** `items` in the order in which they happened, at least one; null: there is nothing to say after all. */
  write(items: readonly TopicItem[]): Omit<Announcement, 'topic'> | null
}

/** The part of the screens that an announcement is about. */
type Topic = 'captura' | 'manifestacao' | 'empresa' | 'certificado' | 'documento' | 'exportacao' | 'aviso'

/** The texts of an announcement on open pages. */
export interface Announcement {
  topic: Topic
  /** How the page shows it (section 4 of the specification). */
  kind: MessageKind
  header: string
  body: string
  /** Path of the screen that shows it; undefined: none shows more than the text. */
  link?: string
  /** The path of a second screen, where one does not show all of it. */
  otherLink?: string
}

/** One of several happenings that become one announcement. */
export interface TopicItem {
  companyId: number | null
  /** Its name and public id, when there is a company. */
  company: string | null
  companyPublicId: string | null
  payload: unknown
}

const namedMax = 2

/** The path of the screen of the one company that all items are about, or of `several`. */
export function companyScreen(items: readonly Pick<TopicItem, 'companyPublicId'>[], several: string): string {
  const one = onlyCompany(items)
  return one ? `/empresas/editar/${one}` : several
}

/** The path of a list of documents of any date, narrowed to the one company that all items are about. */
export function listScreen(
  list: string,
  items: readonly Pick<TopicItem, 'companyPublicId'>[],
  narrowing: Readonly<Record<string, string>>,
): string {
  const one = onlyCompany(items)
  return `${list}?${new URLSearchParams({ ...(one && { empresa: one }), periodo: 'todos', ...narrowing })}`
}

function onlyCompany(items: readonly Pick<TopicItem, 'companyPublicId'>[]): string | null {
  const [first, ...others] = new Set(items.map(({ companyPublicId }) => companyPublicId))
  return others.length === 0 ? (first ?? null) : null
}

/** The first names, and how many companies there are besides. */
export function named(companies: Iterable<string | null>): string {
  const names = [...new Set([...companies].map((name) => name ?? 'uma empresa'))]
  const others = names.length - namedMax
  if (others <= 0) return formatList(names)
  return formatList([...names.slice(0, namedMax), `mais ${formatCount(others, 'empresa', 'empresas')}`])
}

/**
 * The name of the company in alias `c`, with its CNPJ where another one of the workspace has the same name, for texts that name no id. The
 * shared names are one set: comparing each company with each takes half a minute for ten thousand.
 */
export const companyNameIn = (workspaceId: number): RawBuilder<string> => sql`case
  when lower(c.name) in (select lower(o.name) from company o where o.workspace_id = ${workspaceId} group by 1 having count(*) > 1)
  then c.name || ' (' || regexp_replace(c.cnpj, '^(.{2})(.{3})(.{3})(.{4})(.{2})$', '\\1.\\2.\\3/\\4-\\5') || ')'
  else c.name end`
