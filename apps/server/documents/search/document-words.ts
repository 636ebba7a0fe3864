import { reachMax } from '@vigia/contract/documents'
import { sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { executePrepared } from '../../platform/database.ts'
import { type Place, serviceCodes } from '../../platform/service.ts'
import type { Criteria, Range } from '../list/filter.ts'

// Documents by what is inside them: `document_words`.

export interface DocumentWords {
  id: bigint
  /** Local time without offset: `document.issued_at`. */
  issuedAt: string
  terms: readonly string[]
}

/** Writes by which terms documents are found; `db` is inside the workspace. */
export async function putWords(
  db: Database,
  { workspaceId, companyId, service }: Place,
  documents: readonly DocumentWords[],
): Promise<void> {
  if (documents.length === 0) return
  const of = <T>(pick: (document: DocumentWords) => T) => documents.map(pick)
  const statement = sql`
    insert into document_words as w (workspace_id, type, company_id, document_id, issued_at, words)
    select ${workspaceId}, ${serviceCodes[service]}, ${companyId}, u.* from unnest(${of(({ id }) => id)}::bigint[],
      ${of(({ issuedAt }) => issuedAt)}::timestamp[], ${of((document) => wordsOf(workspaceId, document))}::tsvector[]) u
    on conflict (workspace_id, document_id) do update
       set company_id = excluded.company_id, issued_at = excluded.issued_at, words = excluded.words
     where (w.company_id, w.issued_at, w.words) is distinct from (excluded.company_id, excluded.issued_at, excluded.words)`
  await executePrepared(db, statement)
}

function wordsOf(workspaceId: number, { issuedAt, terms }: DocumentWords): string {
  const month = issuedAt.slice(2, 4) + issuedAt.slice(5, 7)
  return terms
    .filter(isStorable)
    .map((term) => lexeme(workspaceId, month, term))
    .join(' ')
}

// A tsvector refuses words of 2,047 bytes, and PostgreSQL the character 0.
const isStorable = (term: string) => term !== '' && term.length <= 500 && !term.includes('\0')

/**
 * A term in the text of a tsvector or tsquery. It begins with workspace and month, because the index reads all that begins alike:
 * `7.2611papel`, and with a colon what is no word: `7:2611cod:ab12`.
 */
const lexeme = (workspaceId: number, month: string, term: string): string =>
  `'${workspaceId}${term.includes(':') ? ':' : '.'}${month}${term.replace(/['\\]/g, (character) => character + character)}'`

/** Terms of which a document has one; with `*` at its end, all that begin so. */
export type AnyOf = readonly string[]

// `documents_with_words` puts each month in the place of `~`.
const tsquery = (workspaceId: number, all: readonly AnyOf[]): string =>
  all
    .map((any) =>
      any.map((term) =>
        term.endsWith('*') ? `${lexeme(workspaceId, '~', term.slice(0, -1))}:*` : lexeme(workspaceId, '~', term),
      ),
    )
    .map((any) => `(${any.join('|')})`)
    .join('&')

export interface Having {
  /** As one text: there may be thousands. */
  ids: string
  isEmpty: boolean
  /** Time of issue of the oldest one, where more have the words; null: these are all. */
  since: string | null
}

/** The documents that have some of all terms of each question. A statement of its own: the planner cannot tell how many a function returns. */
export async function findWithWords(
  db: Database,
  workspaceId: number,
  { TipoDFe, companyId = null }: Pick<Criteria, 'TipoDFe'> & { companyId?: number | null | undefined },
  { from, until }: Range,
  questions: readonly (readonly AnyOf[])[],
): Promise<Having[]> {
  if (questions.length === 0) return []
  const { rows } = await sql<Having>`
    select x.ids, x.ids = '{}' as "isEmpty", x.since from unnest(${questions.map((all) => tsquery(workspaceId, all))}::text[]) with ordinality q (words, place),
      lateral (select coalesce((array_agg(w.document_id))[:${reachMax}], '{}')::text as ids,
                      case when count(*) > ${reachMax} then (array_agg(w.issued_at))[${reachMax}]::text end as since
                 from documents_with_words(${workspaceId}, q.words, ${TipoDFe}::smallint, ${companyId}::int,
                                           ${from}::timestamp, ${until}::timestamp, ${reachMax + 1}) w) x
     order by q.place`.execute(db)
  return rows.map((row) => ({ ...row, since: row.since?.replace(' ', 'T') ?? null }))
}
