import { rules } from '@vigia/checks/alerts/rules'
import { defaultSettings } from '@vigia/checks/alerts/settings'
import type { AlertSettings } from '@vigia/contract/alert-settings'
import { type Alert, type AlertBand, type AlertRule, alertMax, type KnownAlert } from '@vigia/contract/alerts'
import { formatList, formatMoney } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { judgeAgain } from '../../documents/derived.ts'
import { recordsOf } from '../../documents/store.ts'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { beforeCommit, jsonTime } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { Session } from '../../platform/http/session.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { holdAlerts, readStoredSettings } from './judging.ts'
import { besideDocument, byBand, isLearning, isUnanswered, ruleName, showIssuers, showVerdicts } from './list.ts'

// Statements of people about alerts and rules. All hold the alerts of the workspace first.

async function holdUntilJudged({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await holdAlerts({ db }, workspaceId)
  beforeCommit({ db }, { lock: 'jobs', workspaceId }, () => queueJob({ db }, { kind: 'alerts', workspaceId }))
}

// All documents are judged anew, little by little.
const reviewAll = (db: Database, workspaceId: number) =>
  sql`update alert_setting set reviewed_id = 0 where workspace_id = ${workspaceId}`.execute(db)

export interface Statement {
  state: 'em-analise' | 'conhecida' | 'confirmada'
  /** Rules of `conhecida`; undefined: all that the alert has. */
  rules?: string[]
  /** Cents. */
  ceiling?: number
  until?: Date
}

interface Stated {
  id: bigint
  /** Cents. */
  amount: bigint
  companyId: number
  chave: string
  companyBase: string
  issuerBase: string
  rules: string[]
  state: string
}

const unsilenced = new Set(rules.filter(({ critical }) => critical === true).map(({ id }) => id))
// It is told of a deadline, and goes with the doubt.
const ofDeadline = 'S49'

/** Gives alerts a state; returns how many have another one now. `ctx.db` is a transaction inside the workspace. */
export async function setState(
  { db }: WithDatabase,
  session: Session,
  ids: readonly bigint[],
  { state, ...said }: Statement,
): Promise<number> {
  const { workspaceId, accountId } = session
  await holdUntilJudged({ db }, workspaceId)
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows: found } = await sql<Stated>`
    select a.document_id as id, a.company_id as "companyId", a.chave, a.company_base as "companyBase", a.issuer_base as "issuerBase",
           case when a.rules = '{}' then coalesce(a.stated_rules, '{}') else a.rules end as rules, a.state, (d.amount * 100)::bigint as amount
      from alert a join document d on d.workspace_id = a.workspace_id and d.id = a.document_id
     where ${sql.join([sql`a.workspace_id = ${workspaceId}`, sql`a.document_id = any (${ids}::bigint[])`, ...shown], sql` and `)}
     order by a.document_id`.execute(db)
  if (found.length < new Set(ids).size)
    throw new AppError('not-found', 'Um destes alertas não existe mais. Nada foi alterado; recarregue a lista.')
  // A repeated `conhecida` may name other rules.
  const changed = found.filter((one) => one.state !== state || state === 'conhecida')
  if (changed.length === 0) return 0
  const changedIds = changed.map(({ id }) => id)
  const taken = await takeBack(db, workspaceId, changedIds)
  const silenced = state === 'conhecida' ? await silence(db, session, changed, said) : []
  // A reason that is not among those that are known opens the alert again.
  const known = changed.map(({ id }) => ({
    id,
    rules: silenced.flatMap((entry) => (entry.id === id ? entry.rule : [])),
  }))
  await sql`
    update alert a set state = ${state}, state_by = ${accountId}, state_at = now(),
           stated_rules = ${
             state === 'conhecida'
               ? sql`r.rules`
               : sql`case when a.rules = '{}' then coalesce(a.stated_rules, '{}') else a.rules end`
           },
           stated_fired = case when a.rules = '{}' then a.stated_fired else a.fired end
      from ${recordsOf(known, { id: 'bigint', rules: 'text[]' })}
     where a.workspace_id = ${workspaceId} and a.document_id = r.id`.execute(db)
  const again = await findPairs(db, workspaceId, [...taken, ...silenced])
  await showVerdicts({ db }, workspaceId, changedIds, { again })
  await showIssuers(db, workspaceId, changedIds)
  const what = changed.length === 1 ? `do alerta do documento ${changed[0]!.chave}` : `de ${changed.length} alertas`
  await recordAudit({ db }, session, 'alerta', `Mudou o estado ${what} para ${stateNames[state]}.`)
  return changed.length
}

export const stateNames: Record<Alert['estado'], string> = {
  nova: 'nova',
  'em-analise': 'em análise',
  conhecida: 'ignorada',
  confirmada: 'suspeita confirmada',
}

type Pair = Pick<Stated, 'companyBase' | 'issuerBase'>

async function silence(
  db: Database,
  { workspaceId, accountId }: Session,
  of: readonly Stated[],
  { rules: chosen, ceiling, until }: Omit<Statement, 'state'>,
): Promise<(Pair & { id: bigint; rule: string })[]> {
  const silenced = of.flatMap((one) => {
    const meant = one.rules.filter(
      (rule) => !unsilenced.has(rule) && rule !== ofDeadline && (chosen?.includes(rule) ?? true),
    )
    if (meant.length === 0)
      throw new AppError(
        'conflict',
        `O alerta do documento ${one.chave} não tem motivo que se possa ignorar: integridade quebrada e documento de teste são sempre mostrados. Nada foi alterado.`,
      )
    if (ceiling !== undefined && one.amount > BigInt(ceiling))
      throw new AppError(
        'conflict',
        `O documento ${one.chave} vale mais do que o teto: com ele, o alerta continuaria. Nada foi alterado; escolha um teto maior, ou nenhum.`,
      )
    return meant.map((rule) => ({ ...one, rule }))
  })
  await sql`
    insert into alert_known (workspace_id, company_id, document_id, ceiling, until, said_by, rule, company_base, issuer_base)
    select ${workspaceId}, r."companyId", r.id, ${ceiling ?? null}::bigint, least(${until ?? null}::timestamptz, now() + ${alertMax.knownMonths} * interval '1 month'),
           ${accountId}, r.rule, r."companyBase", r."issuerBase"
      from ${recordsOf(silenced, { companyId: 'int', id: 'bigint', rule: 'text', companyBase: 'text', issuerBase: 'text' })}
    returning id`.execute(db)
  return silenced
}

// Removes earlier statements about these documents.
async function takeBack(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<Pair[]> {
  const { rows } = await sql<Pair>`
    delete from alert_known where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])
    returning company_base as "companyBase", issuer_base as "issuerBase"`.execute(db)
  return rows
}

// Documents of one pair of company and issuer that are judged again, newest first.
const pairDocumentsMax = 5_000

async function findPairs(db: Database, workspaceId: number, pairs: readonly Pair[]): Promise<bigint[]> {
  const distinct = new Map(pairs.map((pair) => [`${pair.companyBase} ${pair.issuerBase}`, pair]))
  const found: bigint[] = []
  for (const { companyBase, issuerBase } of distinct.values()) {
    const isIts = sql`workspace_id = ${workspaceId} and company_base = ${companyBase} and issuer_base = ${issuerBase}`
    const { rows } = await sql<{ id: bigint }>`
      (select document_id as id from document_facts where ${isIts} and purchase order by at desc, chave desc limit ${pairDocumentsMax})
      union select document_id from alert where ${isIts}`.execute(db)
    found.push(...rows.map(({ id }) => id))
  }
  return found
}

export async function listKnown({ db, ids }: Pick<Context, 'db' | 'ids'>, workspaceId: number): Promise<KnownAlert[]> {
  const { rows } = await sql<Omit<KnownAlert, 'idConhecido' | 'nome'> & { id: bigint }>`
    select k.id, k.rule as regra, k.issuer_base as "raizEmitente",
           coalesce((select s.name from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
                      where d.workspace_id = ${workspaceId} and s.workspace_id = ${workspaceId} and d.id = k.document_id), '') as emitente,
           c.public_id as "idEmpresa", c.name as empresa, k.ceiling::float8 / 100 as teto, ${jsonTime(sql`k.until`)} as ate,
           ${nameOfAuthor(workspaceId, 'k.said_by')} as quem, ${jsonTime(sql`k.said_at`)} as quando
      from alert_known k join company c on c.workspace_id = ${workspaceId} and c.id = k.company_id
     where k.workspace_id = ${workspaceId} and k.until > now()
     order by k.id desc limit 1000`.execute(db)
  return rows.map(({ id, regra, ...known }) => ({
    idConhecido: ids.encode(workspaceId, id),
    regra,
    nome: ruleName(regra),
    ...known,
  }))
}

export async function removeKnown({ db }: WithDatabase, session: Session, id: bigint | null): Promise<void> {
  const { workspaceId } = session
  await holdUntilJudged({ db }, workspaceId)
  const { rows } = await sql<Pair & { rule: string; documentId: bigint }>`
    delete from alert_known where workspace_id = ${workspaceId} and id = ${id ?? 0n}
    returning rule, document_id as "documentId", company_base as "companyBase", issuer_base as "issuerBase"`.execute(db)
  if (rows.length === 0) throw new AppError('not-found', 'Esta exceção não existe mais. Nada foi alterado.')
  const [{ rule, issuerBase, documentId }] = rows as [(typeof rows)[number]]
  // Reopens the alert of the statement when nothing else about it is known.
  await sql`
    update alert set state = 'em-analise', state_by = ${session.accountId}, state_at = now()
     where workspace_id = ${workspaceId} and document_id = ${documentId} and state = 'conhecida'
       and not exists (select from alert_known k
                        where k.workspace_id = ${workspaceId} and k.document_id = ${documentId})`.execute(db)
  await showVerdicts({ db }, workspaceId, [documentId], { again: await findPairs(db, workspaceId, rows) })
  await recordAudit({ db }, session, 'alerta', `Apagou a exceção da regra ${rule} para o emitente ${issuerBase}.`)
}

const families = {
  identity: 'identidade',
  value: 'valor',
  timing: 'tempo',
  logistics: 'transporte',
  tax: 'tributos',
  integrity: 'integridade',
  cancellation: 'cancelamento',
} as const

export async function listRules({ db }: WithDatabase, workspaceId: number): Promise<AlertRule[]> {
  // Alerts with a statement count even when no rule fires any more; one that is known again stands for what was said of it.
  const { rows } = await sql<{ rule: string; fired: number; confirmed: number; known: number }>`
    select rule, sum(fired)::int as fired, sum(confirmed)::int as confirmed, sum(known)::int as known from (
      select r.rule, 1 as fired, (a.state = 'confirmada' and r.rule = any (a.stated_rules))::int as confirmed, 0 as known
        from alert a cross join lateral (select unnest(a.rules) as rule union select unnest(a.stated_rules)) r
       where a.workspace_id = ${workspaceId}
      union all
      select k.rule, 0, 0, 1 from (select distinct rule, document_id from alert_known where workspace_id = ${workspaceId}) k) x
     group by 1`.execute(db)
  const { off } = await readStoredSettings({ db }, workspaceId)
  return rules.map(({ id, name, family, weight }) => {
    const { fired = 0, confirmed = 0, known = 0 } = rows.find(({ rule }) => rule === id) ?? {}
    return {
      id,
      nome: name,
      familia: families[family],
      peso: weight,
      ligada: !off.includes(id),
      fixa: unsilenced.has(id),
      disparos: fired,
      confirmados: confirmed,
      conhecidos: known,
      precisao: confirmed + known === 0 ? null : Math.round((100 * confirmed) / (confirmed + known)) / 100,
    }
  })
}

export async function switchRule({ db }: WithDatabase, session: Session, id: string, on: boolean): Promise<void> {
  const { workspaceId } = session
  const rule = rules.find((one) => one.id === id)
  if (!rule) throw new AppError('not-found', 'Esta regra não existe. Nada foi alterado.')
  if (!on && unsilenced.has(id))
    throw new AppError(
      'conflict',
      `A regra ${rule.name} não pode ser desligada: o que ela mostra nunca é esperado. Nada foi alterado.`,
    )
  await holdUntilJudged({ db }, workspaceId)
  const { rows } = await sql`
    insert into alert_setting as s (workspace_id, off) values (${workspaceId}, ${on ? [] : [id]}::text[])
    on conflict (workspace_id) do update set off = ${on ? sql`array_remove(s.off, ${id}::text)` : sql`array_append(s.off, ${id}::text)`}
      where (${id}::text = any (s.off)) = ${on}
    returning 1`.execute(db)
  if (rows.length === 0) return
  // Switched off: judges the rule's alerts again. Switched on: any document may fire, so reviews all.
  if (on) await reviewAll(db, workspaceId)
  else {
    const { rows: found } = await sql<{ id: bigint }>`
      select a.document_id as id from alert a where a.workspace_id = ${workspaceId} and a.rules @> array[${id}::text]`.execute(
      db,
    )
    await judgeAgain(
      { db },
      workspaceId,
      found.map(({ id }) => id),
    )
  }
  await recordAudit({ db }, session, 'alerta', `${on ? 'Ligou' : 'Desligou'} a regra ${id} (${rule.name}).`)
}

export async function readAlertSettings({ db }: WithDatabase, workspaceId: number): Promise<AlertSettings> {
  const { approvalLimit, groups } = await readStoredSettings({ db }, workspaceId)
  const isUsual = approvalLimit === defaultSettings.approvalLimit
  return { limite: approvalLimit / 100, limitePadrao: isUsual, grupos: groups.map((group) => [...group]) }
}

/** Changes it: a limit in cents, null for the usual one, and groups of bases. `ctx.db` is a transaction inside the workspace. */
export async function saveAlertSettings(
  { db }: WithDatabase,
  session: Session,
  { limit, groups }: { limit: number | null; groups: readonly (readonly string[])[] },
): Promise<void> {
  const { workspaceId } = session
  await holdUntilJudged({ db }, workspaceId)
  const before = await readStoredSettings({ db }, workspaceId)
  const after = { approvalLimit: limit ?? defaultSettings.approvalLimit, groups }
  const limitChanged = before.approvalLimit !== after.approvalLimit
  const groupsChanged = JSON.stringify(before.groups) !== JSON.stringify(groups)
  if (!limitChanged && !groupsChanged) return
  await sql`
    insert into alert_setting (workspace_id, approval_limit, groups) values (${workspaceId}, ${limit}, ${JSON.stringify(groups)})
    on conflict (workspace_id) do update
       set approval_limit = excluded.approval_limit, groups = excluded.groups`.execute(db)
  // Any document may fire now, so all are reviewed.
  await reviewAll(db, workspaceId)
  const what = [
    ...(limitChanged ? [`o limite de aprovação para ${formatMoney(after.approvalLimit / 100)}`] : []),
    ...(groupsChanged ? [`os grupos de CNPJ relacionados (${groups.length})`] : []),
  ]
  await recordAudit({ db }, session, 'alerta', `Mudou ${formatList(what)}, que as regras dos alertas levam em conta.`)
}

/** How many alerts are open, by band, and how many wait for the habits of their company. */
export async function countOpen(
  { db }: WithDatabase,
  workspaceId: number,
): Promise<{ bands: Record<AlertBand, number>; learning: number }> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows } = await sql<{ band: number | null; n: number }>`
    select case when not ${isLearning} then a.band end as band, count(*)::int as n
      from alert a ${besideDocument(shown)}
     where ${sql.join([sql`a.workspace_id = ${workspaceId}`, isUnanswered, ...shown], sql` and `)}
     group by 1`.execute(db)
  return { bands: byBand(rows), learning: rows.find(({ band }) => band === null)?.n ?? 0 }
}
