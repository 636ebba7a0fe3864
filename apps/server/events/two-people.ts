import { formatCount, formatMoney } from '@vigia/contract/text'
import { families } from '@vigia/dfe/families/all'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { nameOfAuthor } from '../accounts/authors.ts'
import { isWrittenTo } from '../accounts/email-proof.ts'
import { companyNameIn } from '../companies/topics.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { holdLock } from '../platform/locks.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { announce } from '../platform/outbox.ts'
import { noteSettled } from './settle.ts'

// Answers above a value leave only when two people want them: docs/decisions/0048-two-people.md. Nothing claims an `asked` row.

const rivals = [...new Set(families.flatMap(({ answers }) => answers.map((answer) => answer.rivals)))].filter(
  ({ length }) => length > 1,
)

/** Answers that need two people above the value: those that another answer can replace. */
export const ofTwoPeople: readonly number[] = rivals.flat()

/** The amount, in reais, from which an answer of the workspace needs a second person, as decimal text; null: none does. */
export async function readTwoFrom({ db }: WithDatabase, workspaceId: number): Promise<string | null> {
  const { rows } = await sql<{ two_from: string | null }>`
    select two_from from answer_setting where workspace_id = ${workspaceId}`.execute(db)
  return rows[0]?.two_from ?? null
}

// The workspace is a number in these, not a joined column: so Citus sees that both rows are on one server.

export const needsTwo = (
  workspaceId: number,
) => sql<boolean>`(o.requested_by is not null and o.tp_evento = any (${sql.lit(`{${ofTwoPeople.join()}}`)}::int[])
  and exists (select from answer_setting t where t.workspace_id = ${workspaceId} and t.two_from is not null and coalesce(d.amount >= t.two_from, true)))`

const areRivals = sql`e.tp_evento <> o.tp_evento
  and (${sql.join(
    rivals.map((some) => sql`${[...some]}::int[] @> array[e.tp_evento, o.tp_evento]`),
    sql` or `,
  )})`

/** Whether the registered `document_event e` takes the place of the outgoing event `o`. */
export const isRival = (
  workspaceId: number,
) => sql<boolean>`(e.workspace_id = ${workspaceId} and e.company_id = o.company_id and e.chave = o.chave
  and e.author = o.cnpj and e.rank > 0 and ${areRivals})`

/** Whether the outgoing event `e` is another answer of the same document that somebody asked for after `o`. */
export const isLaterRequest = (
  workspaceId: number,
) => sql<boolean>`(e.workspace_id = ${workspaceId} and e.document_id = o.document_id and e.id > o.id
  and e.state <> 'rejected' and ${areRivals})`

export const overtakenByRequest = 'Outra resposta foi pedida depois desta: nada foi enviado.'

/** In the reason of an event, before who approved it. */
export const approvedMark = '; aprovada por '

/** The account that an author of `o` stands for: an API key for who made it, as long as it is good. */
export const personOf = (workspaceId: number, author: RawBuilder<unknown>) => sql`(case when ${author} < 0
  then (select k.created_by from api_key k where k.workspace_id = ${workspaceId} and k.id = ${author} and k.token_hash is not null
                                              and (k.expires_at is null or k.expires_at > now()))
  else ${author} end)`

/** Whether the account `a` may answer for the company of `o` now. */
const mayAnswer = (workspaceId: number, alias: string) => {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql`${column('role')} in ('administrador', 'fiscal') and (${column('access_until')} is null or ${column('access_until')} > now())
    and (${column('all_companies')} or exists (
          select from account_company m where m.workspace_id = ${workspaceId} and m.account_id = ${column('id')} and m.company_id = o.company_id))`
}

/** Whether an account may answer for the company of `o` now. */
export const mayAnswerFor = (workspaceId: number, account: RawBuilder<unknown>) => sql<boolean>`exists (
  select from account a where a.workspace_id = ${workspaceId} and a.id = ${account} and ${mayAnswer(workspaceId, 'a')})`

const homeOf = (alias: string) => {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql`(coalesce(${column('home_workspace_id')}, ${column('workspace_id')}), coalesce(${column('home_account_id')}, ${column('id')}))`
}

/** Whether who asked for `o` and `second`, an account, may both answer now, and are not one. */
export const areTwo = (workspaceId: number, second: RawBuilder<unknown>) => sql<boolean>`exists (
  select from account a join account b on b.workspace_id = ${workspaceId}
   where a.workspace_id = ${workspaceId} and a.id = ${personOf(workspaceId, sql`o.requested_by`)} and b.id = ${second}
     and ${mayAnswer(workspaceId, 'a')} and ${mayAnswer(workspaceId, 'b')} and ${homeOf('a')} <> ${homeOf('b')})`

/** Whether two different people who both may answer now want the outgoing event `o`. */
export const hasTwo = (workspaceId: number) => sql<boolean>`coalesce(${areTwo(workspaceId, sql`o.approved_by`)}, false)`

export const waitsForSecond =
  'Espera a aprovação de uma segunda pessoa que possa responder por esta empresa: nada é enviado até lá.'

/** Ends answers that wait for a second person, `which` of the workspace. `ctx.db` is a transaction inside it. */
export async function endAsked(
  { db }: WithDatabase,
  workspaceId: number,
  which: RawBuilder<unknown>,
  message: string,
): Promise<void> {
  const { rows } = await sql<{ id: bigint; documentId: bigint; companyId: number }>`
    update outgoing_event set state = 'rejected', message = ${message}
     where workspace_id = ${workspaceId} and state = 'asked' and ${which}
    returning id, document_id as "documentId", company_id as "companyId"`.execute(db)
  noteSettled({ db }, workspaceId, rows)
}

/** Reads the setting, and the visible companies in which fewer than two people may answer. Inside the workspace. */
export async function readTwoPeople(
  { db }: WithDatabase,
  { workspaceId, companies }: Pick<Session, 'workspaceId' | 'companies'>,
) {
  const { rows } = await sql<{ twoFrom: number | null; by: string | null; at: Date }>`
    select two_from::float8 as "twoFrom", ${nameOfAuthor(workspaceId, 'answer_setting.saved_by')} as by, saved_at as at
     from answer_setting where workspace_id = ${workspaceId}`.execute(db)
  const { rows: alone } = await sql<{ name: string }>`
    select o.name from (select c.workspace_id, c.id as company_id, ${companyNameIn(workspaceId)} as name from company c where c.workspace_id = ${workspaceId} and c.active
                     and (${companies}::int[] is null or c.id = any (${companies}::int[]))) o
     where (select count(distinct ${homeOf('a')}) from account a where a.workspace_id = ${workspaceId} and ${mayAnswer(workspaceId, 'a')}) < 2
     order by o.name`.execute(db)
  return { setting: rows[0] ?? null, alone: alone.map(({ name }) => name) }
}

/** Sets the amount in reais from which answers need a second person (null: none), and writes to administrators. Refused where nobody could approve. */
export async function saveTwoFrom({ db, config }: WithConfig, session: Session, twoFrom: number | null): Promise<void> {
  const { workspaceId } = session
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await holdLock({ db }, 'answerRules', workspaceId)
    const { setting, alone } = await readTwoPeople({ db }, session)
    if ((setting?.twoFrom ?? null) === twoFrom) return
    if (twoFrom !== null && alone.length > 0)
      throw new AppError(
        'conflict',
        `Em ${alone.length === 1 ? alone[0]! : formatCount(alone.length, 'empresa', 'empresas')} só uma pessoa pode responder: nenhuma resposta a partir deste valor sairia mais. Nada foi alterado; convide antes outra pessoa que possa responder.`,
      )
    await sql`
      insert into answer_setting (workspace_id, two_from, saved_by, saved_at)
      values (${workspaceId}, ${twoFrom}, ${session.accountId}, ${new Date()})
          on conflict (workspace_id) do update
         set two_from = excluded.two_from, saved_by = excluded.saved_by, saved_at = excluded.saved_at`.execute(db)
    const what =
      twoFrom === null
        ? 'Desligou a aprovação de respostas por uma segunda pessoa.'
        : `Ligou a aprovação de respostas por uma segunda pessoa, a partir de ${formatMoney(twoFrom)}.`
    const before = setting?.twoFrom != null ? ` Antes: a partir de ${formatMoney(setting.twoFrom)}.` : ''
    await recordAudit({ db }, session, 'manifestacao', `${what}${before}`)
    await announce({ db }, workspaceId, {
      what: 'duas-pessoas',
      payload: { from: twoFrom, by: session.accountName },
    })
    const { rows: administrators } = await sql<{ email: string }>`
      select email from account
       where workspace_id = ${workspaceId} and role = 'administrador' and ${isWrittenTo({ config })}
       order by id`.execute(db)
    const payload = {
      at: new Date().toISOString(),
      address: session.address,
      by: session.accountName,
      from: twoFrom,
      before: setting?.twoFrom ?? null,
    }
    for (const { email } of administrators)
      await queueMail({ db }, { workspaceId, kind: 'duas-pessoas-mudou', recipient: email, payload })
  })
}
