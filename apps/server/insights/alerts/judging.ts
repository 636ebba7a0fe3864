import { setImmediate } from 'node:timers/promises'
import { type AlertCompany, type AlertFacts, baseOf, isPurchase } from '@vigia/checks/alerts/facts'
import {
  askOf,
  contactsMax,
  type Freight,
  type History,
  monthOf,
  type PairDocument,
  pairDocument,
  pairMax,
  probesOf,
  type Sharer,
  sharedMax,
  twinMs,
  twinRange,
  twinsMax,
} from '@vigia/checks/alerts/history'
import { type Band, type Fired, judge, textOf, type Verdict } from '@vigia/checks/alerts/judge'
import { type AllowEntry, defaultSettings, type Settings } from '@vigia/checks/alerts/settings'
import { isNote } from '@vigia/checks/alerts/values'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { guarded, isDataError } from '../../platform/database.ts'
import { noteRisen, type Risen } from './news.ts'
import { unpackFacts } from './packed.ts'
import { readCaptured } from './reading.ts'
import {
  boughtAt,
  finite,
  firstContacts,
  firstSeen,
  histogramKey,
  monthsAround,
  readHistograms,
  readLearned,
  records,
  thresholdsAt,
} from './store.ts'

// Looks up what is known around documents, judges them, and keeps what is wrong.

export const bands: readonly Band[] = ['informativo', 'médio', 'alto', 'crítico']

export interface Judging {
  /** Milliseconds. */
  asOf: number
  /** Current facts of companies, by base; for other companies, the facts stored with their documents. */
  companies?: ReadonlyMap<string, AlertCompany>
  /** Notifies nobody, because the documents were here before or are judged by another rule. */
  silent?: boolean
}

/** A transaction inside the workspace that holds its position. */
export type Within = Pick<Context, 'db' | 'log'>

/** Does `work` with all of these, or, when that fails, with each by itself; `refused` is called with each that fails alone. */
export async function together<T>(
  { db, log }: Within,
  all: readonly T[],
  work: (some: readonly T[]) => Promise<void>,
  refused: (one: T, error: unknown) => Promise<void> | void,
): Promise<void> {
  if (all.length === 0) return
  try {
    return await guarded(db, () => work(all))
  } catch (error) {
    if (!isOfDocument(error)) throw error
    log.error({ err: error, documents: all.length }, 'alerts: some documents are done one by one')
  }
  for (const one of all)
    try {
      await guarded(db, () => work([one]))
    } catch (error) {
      if (!isOfDocument(error)) throw error
      await refused(one, error)
    }
}

const isOfDocument = (error: unknown) => isDataError(error) || error instanceof TypeError || error instanceof RangeError

interface Due {
  packed: Buffer
  documentId: bigint
  companyId: number
  proof: string | null
}

export async function judgeDue(ctx: Within, workspaceId: number, judging: Judging, most: number): Promise<bigint[]> {
  return judgeFound(
    ctx,
    workspaceId,
    judging,
    due(workspaceId, judging, sql`order by again_at, document_id limit ${most}`),
  )
}

export async function judgeThese(
  ctx: Within,
  workspaceId: number,
  judging: Judging,
  ids: readonly bigint[],
): Promise<bigint[]> {
  if (ids.length === 0) return []
  return judgeFound(ctx, workspaceId, judging, due(workspaceId, judging, sql`and document_id = any (${ids}::bigint[])`))
}

/** Judges up to `most` documents after an id, due or not. */
export async function judgeAfter(
  ctx: Within,
  workspaceId: number,
  judging: Judging,
  after: bigint,
  most: number,
): Promise<bigint[]> {
  const next = sql`select document_id from alert_fact where workspace_id = ${workspaceId} and document_id > ${after} order by document_id limit ${most}`
  return judgeFound(ctx, workspaceId, judging, next)
}

// The documents that are due.
const due = (workspaceId: number, { asOf }: Judging, rest: RawBuilder<unknown>) =>
  sql`select document_id from alert_due where workspace_id = ${workspaceId} and again_at <= to_timestamp(${asOf}::float8 / 1000) ${rest}`

// `which` selects the ids of documents. Returns them in order.
async function judgeFound(
  ctx: Within,
  workspaceId: number,
  judging: Judging,
  which: RawBuilder<unknown>,
): Promise<bigint[]> {
  const { db, log } = ctx
  const found = await readDue(db, workspaceId, which)
  await together(
    ctx,
    found,
    (some) => judgeRows(db, workspaceId, judging, some),
    async ({ documentId, companyId }, err) => {
      log.error({ err, workspaceId, documentId }, 'a document could not be judged')
      // Its earlier verdict stays meanwhile.
      await noteUnjudged(db, workspaceId, [{ documentId, companyId }])
      await sql`delete from alert_due where workspace_id = ${workspaceId} and document_id = ${documentId}`.execute(db)
    },
  )
  return found.map(({ documentId }) => documentId)
}

/** Writes down that documents could not be judged: tried again tomorrow, or in the next turn (`soon`), and taken for judged by nobody until then. */
export async function noteUnjudged(
  db: Database,
  workspaceId: number,
  documents: readonly { documentId: bigint; companyId: number }[],
  { soon = false } = {},
): Promise<void> {
  if (documents.length === 0) return
  const ids = [documents.map(({ documentId }) => documentId), documents.map(({ companyId }) => companyId)]
  await sql`
    insert into alert_unjudged (workspace_id, document_id, company_id, again_at)
    select ${workspaceId}, q.id, q.company_id, now() + ${soon ? 0 : 24}::int * interval '1 hour' from unnest(${ids[0]}::bigint[], ${ids[1]}::int[]) q (id, company_id)
    on conflict (workspace_id, document_id) do update set again_at = excluded.again_at`.execute(db)
}

async function readDue(db: Database, workspaceId: number, which: RawBuilder<unknown>): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select f.document_id as "documentId", f.company_id as "companyId", f.packed, d.proof
      from (${which}) q
     -- Each by its key, as below.
     cross join lateral (select * from alert_fact f where f.workspace_id = ${workspaceId} and f.document_id = q.document_id offset 0) f
      left join document d on d.workspace_id = ${workspaceId} and d.id = f.document_id`.execute(db)
  // A join may come in another order.
  return rows.toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1))
}

// Pause before a proof that a thread could not verify is looked at again.
const proofWaitMs = 10 * 60_000

// Documents with all that a verdict on them asks for.
async function lookUp(db: Database, workspaceId: number, judging: Judging, due: readonly Due[]) {
  const documents = due.map((row) => {
    const facts = unpackFacts(row.packed)
    const proof = facts.proof ?? row.proof ?? undefined
    return { ...row, facts: { ...facts, proof, company: judging.companies?.get(facts.company.base) ?? facts.company } }
  })
  const all = documents.map(({ facts }) => facts)
  const settings = await readSettings(db, workspaceId, judging.asOf, all)
  const histories = await readHistories(db, workspaceId, all)
  const found = documents.map((one, index) => ({ ...one, history: histories[index]! }))
  // Only where it matters: all captures are asked for it.
  if (judging.companies && found.some(misses)) {
    const captured = await readCaptured({ db }, workspaceId)
    for (const one of found) if (misses(one)) one.facts = { ...one.facts, company: captured(one.facts.company) }
  }
  return { settings, documents: found }
}

// Whether something is not here that should have come with a document.
const misses = ({ facts, history }: { facts: AlertFacts; history: History }) =>
  (facts.type === nfe.id && askOf(facts).carried && !history.carried) ||
  (facts.type === cte.id && isPurchase(facts) && facts.references.length > 0 && history.cited.length === 0)

export interface Tried {
  documentId: bigint
  without: Verdict
  withRule: Verdict
}

/** Tests a rule, on or off, on these documents; stores nothing. `ctx.db` is inside the workspace. */
export async function tryRule(
  { db }: WithDatabase,
  workspaceId: number,
  judging: Judging,
  rule: string,
  ids: readonly bigint[],
): Promise<Tried[]> {
  const found = await readDue(db, workspaceId, sql`select document_id from unnest(${ids}::bigint[]) i (document_id)`)
  if (found.length === 0) return []
  const { settings, documents } = await lookUp(db, workspaceId, judging, found)
  const others = settings.off.filter((id) => id !== rule)
  return documents.map(({ documentId, facts, history }) => ({
    documentId,
    without: judge(facts, history, { ...settings, off: [...others, rule] }),
    withRule: judge(facts, history, { ...settings, off: others }),
  }))
}

async function judgeRows(db: Database, workspaceId: number, judging: Judging, due: readonly Due[]): Promise<void> {
  const { settings, documents } = await lookUp(db, workspaceId, judging, due)
  const verdicts = documents.map(({ history, ...one }) => ({ ...one, verdict: judge(one.facts, history, settings) }))
  const risen = await writeVerdicts(db, workspaceId, verdicts)
  if (!judging.silent) await noteRisen({ db }, workspaceId, risen)
  await writeNew(db, workspaceId, documents)
  const times = verdicts.map(({ documentId, companyId, facts, verdict }) => {
    const unproved = facts.complete && facts.proof === undefined ? judging.asOf + proofWaitMs : null
    const next = [verdict.againAt, unproved].filter((time) => time !== null)
    return { documentId: String(documentId), companyId, again: next.length > 0 ? Math.min(...next) : null }
  })
  await sql`
    delete from alert_due where workspace_id = ${workspaceId} and document_id = any (${times.flatMap(({ documentId, again }) => (again === null ? documentId : []))}::bigint[])`.execute(
    db,
  )
  const later = times.filter(({ again }) => again !== null)
  if (later.length > 0)
    await sql`
      insert into alert_due (workspace_id, document_id, company_id, again_at)
      select ${workspaceId}, q."documentId", q."companyId", to_timestamp(q.again / 1000)
        from ${records(later, { documentId: 'bigint', companyId: 'int', again: 'float8' })}
      on conflict (workspace_id, document_id) do update set again_at = excluded.again_at`.execute(db)
}

// Updates which purchases are the first of their pair in a verdict's history; this rarely changes.
async function writeNew(
  db: Database,
  workspaceId: number,
  documents: readonly { documentId: bigint; facts: AlertFacts; history: History }[],
): Promise<void> {
  const isNew = documents.filter(({ facts, history }) => isPurchase(facts) && isFirst(history.pair))
  await sql`
    update alert_fact f set is_new = not is_new
      from unnest(${documents.map(({ documentId }) => documentId)}::bigint[]) q (id)
     where f.workspace_id = ${workspaceId} and f.document_id = q.id
       and f.is_new <> (q.id = any (${isNew.map(({ documentId }) => documentId)}::bigint[]))`.execute(db)
}

const isFirst = (pair: readonly PairDocument[]) => pair.every(({ cancelledAt }) => cancelledAt !== null)

export async function readStoredSettings(
  { db }: WithDatabase,
  workspaceId: number,
): Promise<Pick<Settings, 'off' | 'approvalLimit' | 'groups'>> {
  const { rows } = await sql<{ off: string[]; limit: number | null; groups: string[][] | null }>`
    select off, approval_limit::float8 as limit, groups from alert_setting
     where workspace_id = ${workspaceId}`.execute(db)
  const { off = [], limit, groups } = rows[0] ?? {}
  return { ...defaultSettings, off, approvalLimit: limit ?? defaultSettings.approvalLimit, groups: groups ?? [] }
}

async function readSettings(
  db: Database,
  workspaceId: number,
  asOf: number,
  documents: readonly AlertFacts[],
): Promise<Settings> {
  const stored = await readStoredSettings({ db }, workspaceId)
  const { rows: known } = await sql<Omit<AllowEntry, 'until' | 'ceiling'> & { until: Date; ceiling: number | null }>`
    select issuer_base as "issuerBase", company_base as "companyBase", rule, ceiling::float8 as ceiling, until from alert_known
     where workspace_id = ${workspaceId} and company_base = any (${[...new Set(documents.map(({ company }) => company.base))]}::text[])
       and issuer_base = any (${[...new Set(documents.map(({ issuer }) => baseOf(issuer.taxId)))]}::text[])`.execute(db)
  return {
    ...stored,
    asOf,
    known: known.map(({ until, ceiling, ...entry }) => ({
      ...entry,
      until: until.getTime(),
      ceiling: ceiling ?? undefined,
    })),
  }
}

interface Around {
  n: number
  sameNumber: KeptText[]
  contacts: History['contacts']
  contingency: number
  sharing: Sharer[]
  carried: boolean
  freights: KeptText[]
  cited: (KeptText & { issuerBase: string; standing: boolean })[]
}

interface KeptText {
  packed: string
}

const keptText = sql`'packed', encode(p.packed, 'base64')`
const factsIn = ({ packed }: KeptText) => unpackFacts(Buffer.from(packed, 'base64'))

async function readHistories(db: Database, workspaceId: number, documents: readonly AlertFacts[]): Promise<History[]> {
  const asked = documents.map((facts, n) => {
    const { issuerBase, companyBase, at, number, contingency, cited, contacts, carried } = askOf(facts)
    return {
      n,
      issuerBase,
      companyBase,
      at: finite(at),
      chave: facts.chave,
      number,
      contingency,
      contacts,
      traced: carried,
      cited,
      carried: facts.type === cte.id ? cited.filter(isNote) : [],
    }
  })
  const columns = {
    n: 'int',
    issuerBase: 'text',
    companyBase: 'text',
    at: 'bigint',
    chave: 'text',
    number: 'text',
    contingency: 'text',
    contacts: 'text[]',
    traced: 'boolean',
    cited: 'text[]',
    carried: 'text[]',
  }
  // One round trip for all of them; each part is asked of its own index.
  const { rows } = await sql<Around>`
    select q.n,
      (select coalesce(json_agg(json_build_object(${keptText}) order by p.chave), '[]')
         from (select distinct on (f.chave) f.chave, f.packed from alert_fact f
                where f.workspace_id = ${workspaceId} and f.number_key = q.number and f.chave <> q.chave and f.standing and f.facts ->> 'tpAmb' <> '2'
                order by f.chave limit 10) p) as "sameNumber",
      (select coalesce(json_agg(json_build_object('companyBase', p.company_base, 'chave', p.chave, 'at', p.at) order by p.at, p.chave), '[]')
         from (${firstContacts(workspaceId, sql`q."issuerBase"`, contactsMax)}) p) as contacts,
      case when q.contingency is null then 0 else
        (select count(*)::int from (select distinct f.issuer_base from alert_fact f
                                     where f.workspace_id = ${workspaceId} and f.contingency_key = q.contingency) p) end as contingency,
      case when q.contacts = '{}' then '[]' else
      (select coalesce(json_agg(json_build_object('key', k.key, 'base', c.issuer_base, 'name', n.name, 'chave', n.chave, 'at', n.at) order by k.key collate "C", c.issuer_base), '[]')
         from unnest(q.contacts) k (key)
         cross join lateral (select c.issuer_base from alert_contact c
                              where c.workspace_id = ${workspaceId} and c.company_base = q."companyBase" and c.key = k.key and c.issuer_base <> q."issuerBase"
                              order by c.issuer_base limit ${sharedMax - 1}) c
         cross join lateral (${firstSeen(workspaceId, sql`q."companyBase"`, sql`c.issuer_base`)}) n) end as sharing,
      q.traced and exists (select from alert_citation c join alert_fact f on f.workspace_id = c.workspace_id and f.document_id = c.document_id
                            where c.workspace_id = ${workspaceId} and c.chave = q.chave and f.type = ${cte.code} and f.standing) as carried,
      case when q.carried = '{}' then '[]' else
      (select coalesce(json_agg(json_build_object(${keptText}) order by p.chave), '[]')
         from (select f.chave, f.packed from alert_fact f
                where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.type = ${cte.code} and f.chave <> q.chave and f.standing
                  and f.facts -> ${sql.lit(cte.id)} is not null
                  and f.document_id in (select c.document_id from alert_citation c where c.workspace_id = ${workspaceId} and c.chave = any (q.carried))
                order by f.chave limit 20) p) end as freights,
      case when q.cited = '{}' then '[]' else
      (select coalesce(json_agg(json_build_object(${keptText}, 'issuerBase', p.issuer_base, 'standing', p.standing)), '[]')
         from (select f.issuer_base, f.standing, f.packed from alert_fact f
                where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.chave = any (q.cited)) p) end as cited
      from ${records(asked, columns)} order by q.n`.execute(db)
  const bases = [...new Set(asked.map(({ companyBase }) => companyBase))]
  const learned = await readLearned(db, workspaceId, bases)
  const histograms = await readHistograms(db, workspaceId, bases)
  const pairs = await readPairs(db, workspaceId, documents)
  const alike = await readAlike(db, workspaceId, documents, pairs)
  const twins = await readTwins(db, workspaceId, documents)
  return rows.map((row, index): History => {
    const facts = documents[index]!
    const { companyBase, cited } = askOf(facts)
    const here = new Map(
      row.cited.map(({ issuerBase, standing, ...kept }) => {
        const { chave, amount, recipient, nfe } = factsIn(kept)
        const recipientBase = recipient?.taxId ? baseOf(recipient.taxId) : undefined
        return [chave, { chave, amount, issuerBase, recipientBase, modFrete: nfe?.modFrete, standing }]
      }),
    )
    return {
      pair: pairs[index]!,
      thresholds: thresholdsAt(histograms.get(histogramKey(companyBase, facts.type)), monthOf(facts.issuedAt)),
      bought: boughtAt(histograms.get(histogramKey(companyBase, nfe.id)), monthOf(facts.issuedAt)),
      twins: twins[index]!,
      learnedAt: learned.get(companyBase) ?? null,
      sameNumber: row.sameNumber.map(factsIn).map(({ chave, issuedAt, amount }) => ({ chave, issuedAt, amount })),
      alike: alike[index]!,
      contacts: row.contacts,
      contingency: row.contingency,
      sharing: row.sharing,
      carried: row.carried,
      freights: row.freights.map((kept) => freightOf(factsIn(kept))),
      cited: cited.flatMap((chave) => here.get(chave) ?? []),
    }
  })
}

const freightOf = ({ cte, chave, issuedAt, amount, issuer, references }: AlertFacts): Freight => ({
  ...cte!,
  chave,
  issuedAt,
  amount,
  issuerName: issuer.name,
  cites: references.map((one) => one.chave),
})

// Earlier purchases of the pairs, each read once: documents that come together are mostly of few pairs, and look at the same ones.
async function readPairs(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
): Promise<PairDocument[][]> {
  const asked = documents.map((facts) => {
    const { issuerBase, companyBase, at, since } = askOf(facts)
    return {
      pair: `${companyBase} ${issuerBase}`,
      companyBase,
      issuerBase,
      at: finite(at),
      since: finite(since),
      chave: facts.chave,
      value: centsOf(facts),
    }
  })
  const columns = {
    companyBase: 'text',
    issuerBase: 'text',
    at: 'bigint',
    since: 'bigint',
    chave: 'text',
    value: 'bigint',
  }
  const { rows } = await sql<{
    pair: string
    packed: Buffer
    at: number
    value: number
    compared: boolean
  }>`
    with q as materialized (select * from ${records(asked, columns)}),
         w as materialized (
           select distinct p.document_id from q cross join lateral (
             select f.document_id from alert_fact f
              where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.issuer_base = q."issuerBase" and f.purchase
                and (f.at, f.chave) < (q.at, q.chave) and f.at >= q.since
              order by f.at desc, f.chave desc limit ${pairMax}) p)
    select f.company_base || ' ' || f.issuer_base as pair, f.packed, f.at::float8 as at, f.amount::float8 as value, x.compared
      from w cross join lateral (select * from alert_fact f where f.workspace_id = ${workspaceId} and f.document_id = w.document_id offset 0) f
     cross join lateral (select not f.standing or exists (
       select from q where q."companyBase" = f.company_base and q."issuerBase" = f.issuer_base and abs(q.value - f.amount) <= 1) as compared) x
     order by f.at desc, f.chave desc`.execute(db)
  const read: { pair: string; one: PairDocument }[] = []
  for (const { pair, packed, at, value, compared } of rows) {
    const one = pairDocument(unpackFacts(packed))
    read.push({ pair, one: { ...one, at, value, items: compared ? one.items : undefined } })
    // Fifty times a hundred at most: others have their turn meanwhile.
    if (read.length % 50 === 0) await setImmediate()
  }
  const pairs = Map.groupBy(read, ({ pair }) => pair)
  return asked.map(({ pair, at, since, chave }) => {
    const all = pairs.get(pair)?.map(({ one }) => one) ?? []
    const first = all.findIndex((one) => one.at < at || (one.at === at && one.chave < chave))
    return first === -1 ? [] : all.slice(first, first + pairMax).filter((one) => one.at >= since)
  })
}

const centsOf = ({ amount }: AlertFacts) => Math.round(Number(amount) * 100)

// Names of other suppliers that the issuer's may be taken for: asked only of who is new.
async function readAlike(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
  pairs: readonly PairDocument[][],
): Promise<History['alike'][]> {
  const asked = documents.flatMap((facts, n) => {
    if (!isPurchase(facts) || !isFirst(pairs[n]!)) return []
    const { companyBase, issuerBase, at } = askOf(facts)
    const probes = probesOf(facts)
    return probes.length > 0 ? { n, companyBase, issuerBase, at: finite(at), chave: facts.chave, probes } : []
  })
  const found = documents.map((): History['alike'] => [])
  if (asked.length === 0) return found
  const columns = { n: 'int', companyBase: 'text', issuerBase: 'text', at: 'bigint', chave: 'text', probes: 'text[]' }
  const { rows } = await sql<{ n: number; base: string; name: string }>`
    select distinct q.n, a.issuer_base as base, a.name from ${records(asked, columns)}
      join alert_name a on a.workspace_id = ${workspaceId} and a.company_base = q."companyBase" and a.key = any (q.probes)
       and a.issuer_base <> q."issuerBase" and (a.at, a.chave) < (q.at, q.chave)`.execute(db)
  for (const { n, base, name } of rows) found[n]!.push({ base, name })
  for (const some of found) some.sort((a, b) => (`${a.base} ${a.name}` < `${b.base} ${b.name}` ? -1 : 1))
  return found
}

// Notes of other issuers with nearly the same value, shortly before.
async function readTwins(
  db: Database,
  workspaceId: number,
  documents: readonly AlertFacts[],
): Promise<History['twins'][]> {
  const asked = documents.flatMap((facts, n) => {
    const { companyBase, issuerBase, at, twins } = askOf(facts)
    const months = monthsAround(at - twinMs, at)
    return twins ? { n, companyBase, issuerBase, at, months, chave: facts.chave, ...twinRange(centsOf(facts)) } : []
  })
  const found = documents.map((): History['twins'] => [])
  if (asked.length === 0) return found
  const columns = {
    n: 'int',
    companyBase: 'text',
    issuerBase: 'text',
    at: 'bigint',
    months: 'text[]',
    chave: 'text',
    from: 'bigint',
    to: 'bigint',
  }
  const { rows } = await sql<{ n: number; issuerBase: string; packed: Buffer }>`
    select q.n, f.issuer_base as "issuerBase", f.packed
      from ${records(asked, columns)}
     cross join lateral (
       select * from alert_fact f
        where f.workspace_id = ${workspaceId} and f.company_base = q."companyBase" and f.type = ${nfe.code} and f.month = any (q.months) and f.purchase and f.standing
          and f.amount between q.from and q.to and f.at >= q.at - ${twinMs}::bigint and (f.at, f.chave) < (q.at, q.chave) and f.issuer_base <> q."issuerBase"
        order by f.at desc, f.chave desc limit ${twinsMax}) f
     order by q.n, f.at desc, f.chave desc`.execute(db)
  for (const { n, issuerBase, packed } of rows) {
    const { chave, issuedAt, amount, issuer, nfe } = unpackFacts(packed)
    found[n]!.push({ chave, issuedAt, amount, issuerBase, issuerName: issuer.name, items: nfe?.items ?? [] })
  }
  return found
}

const keptMax = 20

interface Judged {
  documentId: bigint
  companyId: number
  facts: AlertFacts
  verdict: Verdict
}

interface KeptAlert {
  documentId: bigint
  companyId: number
  /** As the database writes it. */
  judgedAt: string
  rules: string[]
  score: number
  band: number
  state: string
  fired: Fired[]
  statedRules: string[] | null
}

// Returns those that people are told of.
async function writeVerdicts(db: Database, workspaceId: number, judged: readonly Judged[]): Promise<Risen[]> {
  const { rows } = await sql<KeptAlert>`
    select document_id as "documentId", company_id as "companyId", judged_at::text as "judgedAt", rules, score, band, state, fired,
           stated_rules as "statedRules" from alert
     where workspace_id = ${workspaceId}
       and document_id = any (${judged.map(({ documentId }) => documentId)}::bigint[])`.execute(db)
  const kept = new Map(rows.map((row) => [row.documentId, row]))
  const changed = judged.flatMap((one) => {
    const old = kept.get(one.documentId)
    const row = alertRow(one, old)
    const same = old
      ? old.score === row.score && old.band === row.band && JSON.stringify(old.fired) === JSON.stringify(row.fired)
      : row.fired.length === 0
    return same ? [] : { old, row }
  })
  if (changed.length === 0) return []
  const past = changed.flatMap(({ old }) =>
    old && old.fired.length > 0
      ? {
          ...{ document_id: String(old.documentId), company_id: old.companyId, judged_at: old.judgedAt },
          ...{ score: old.score, band: old.band, rules: old.rules, text: textOf(old.fired) },
        }
      : [],
  )
  if (past.length > 0) {
    const before = past.map(({ document_id }) => document_id)
    // On a cluster a row with a number would come by COPY, which policies do not allow, but for what is to be returned.
    await sql`
      insert into alert_verdict (workspace_id, ${sql.join(verdictNames)})
      select ${workspaceId}, ${sql.join(verdictNames)} from ${records(past, verdictTypes)} returning id`.execute(db)
    await sql`
      delete from alert_verdict v using unnest(${before}::bigint[]) q (id)
       where v.workspace_id = ${workspaceId} and v.document_id = q.id
         and v.id <= (select o.id from alert_verdict o where o.workspace_id = ${workspaceId} and o.document_id = q.id
                       order by o.id desc offset ${keptMax} limit 1)`.execute(db)
  }
  // Alerts that a person made a statement about stay, so that it can be taken back.
  const gone = changed.flatMap(({ old, row }) =>
    row.fired.length === 0 && old?.state === 'nova' ? old.documentId : [],
  )
  if (gone.length > 0)
    await sql`
      delete from alert where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(db)
  const isGone = new Set(gone.map(String))
  const written = changed.map(({ row }) => row).filter(({ document_id }) => !isGone.has(document_id))
  if (written.length === 0) return []
  await sql`
    insert into alert as a (workspace_id, ${sql.join(alertNames)})
    select ${workspaceId}, ${sql.join(alertNames)} from ${records(written, alertTypes)}
    on conflict (workspace_id, document_id) do update
       set judged_at = excluded.judged_at, ${sql.join(alertNames.map((name) => sql`${name} = excluded.${name}`))}`.execute(
    db,
  )
  return changed.flatMap(({ old, row }) => {
    const again = old?.state === 'conhecida' && row.state === 'nova'
    const rises = !old || old.score === 0 || row.band > old.band
    // A score of nothing is that of habits which are not known yet.
    if (row.score === 0 || row.state === 'conhecida' || !(again || rises)) return []
    return { document_id: row.document_id, company_id: row.company_id, band: row.band, again }
  })
}

const verdictTypes = {
  ...{ document_id: 'bigint', company_id: 'int', judged_at: 'timestamptz', score: 'smallint', band: 'smallint' },
  ...{ rules: 'text[]', text: 'text' },
}
const verdictNames = Object.keys(verdictTypes).map((name) => sql.ref(name))
const alertTypes: Record<string, string> = {
  document_id: 'bigint',
  company_id: 'int',
  at: 'bigint',
  score: 'smallint',
  band: 'smallint',
  state: 'text',
  company_base: 'text',
  issuer_base: 'text',
  chave: 'text',
  rules: 'text[]',
  fired: 'json',
  learning: 'boolean',
}
const alertNames = Object.keys(alertTypes).map((name) => sql.ref(name))

function alertRow({ documentId, companyId, facts, verdict }: Judged, old: KeptAlert | undefined) {
  const { companyBase, issuerBase, at } = askOf(facts)
  const rules = verdict.fired.map(({ id }) => id)
  // A known alert is told again when it has another reason.
  const isNews = old?.state === 'conhecida' && rules.some((id) => !old.statedRules?.includes(id))
  return {
    document_id: String(documentId),
    company_id: companyId,
    at: finite(at),
    score: Math.round(verdict.score * 100),
    band: bands.indexOf(verdict.band),
    state: isNews ? 'nova' : (old?.state ?? 'nova'),
    company_base: companyBase,
    issuer_base: issuerBase,
    chave: facts.chave,
    rules,
    fired: verdict.fired,
    learning: verdict.learning,
  }
}
