import type { FamilyId } from '@vigia/dfe/families/id'
import { type AlertFacts, baseOf } from './facts.ts'
import type { History } from './history.ts'
import { type Rule, type View, viewOf } from './rules/rule.ts'
import { type Family, type Finding, judgedFamilies, rules } from './rules.ts'
import type { AllowEntry, Settings } from './settings.ts'
import { missedAt } from './transport.ts'
import { cents, dayMs, instantOf } from './values.ts'

export type Band = 'informativo' | 'médio' | 'alto' | 'crítico'

export interface Fired extends Omit<Finding, 'weight' | 'compared'> {
  id: string
  version: number
  family: Family
  weight: number
  /** Chaves of other documents. */
  compared: string[]
  /** Not counted, because the company's habits are not known yet. */
  learning: boolean
}

export interface Verdict {
  chave: string
  companyBase: string
  /** By weight, then by id. */
  fired: Fired[]
  /** Rules that an allow entry silenced. */
  allowed: string[]
  /** Whether some of what fired is only shown, "em aprendizado". */
  learning: boolean
  /** 0 to 1, two decimals: 1 − Π(1 − weight) of the two heaviest of each family. */
  score: number
  band: Band
  /** When time alone may change the verdict, milliseconds; null: never. */
  againAt: number | null
}

const bands: Band[] = ['informativo', 'médio', 'alto', 'crítico']

/**
 * Judges a document. Depends on facts, history and settings alone: the same documents and events
 * give the same verdict, whatever their order of arrival.
 */
export function judge(facts: AlertFacts, history: History, settings: Settings): Verdict {
  const entries = settings.known.filter((entry) => applies(entry, facts))
  const has = (id: string) => entries.some(({ rule }) => rule === id)
  // A supplier marked as known (S01) does not count as new for other rules either.
  const view = viewOf(facts, history, settings, has('S01'))
  const allowed: string[] = []
  const fired: Fired[] = []
  for (const rule of rules) {
    if (settings.off.includes(rule.id) || !isMeant(rule, view)) continue
    const finding = rule.find(view)
    if (finding === null) continue
    if (has(rule.id) && rule.critical !== true) allowed.push(rule.id)
    else fired.push(firedOf(rule, finding, rule.learns === true && !view.learned))
  }
  const adding = new Set(rules.filter(({ adds }) => adds).map(({ id }) => id))
  const counted = fired.some(({ id }) => !adding.has(id)) ? fired : []
  return verdictOf(facts, counted, allowed, settings.asOf)
}

function isMeant(rule: Rule, { facts, cancelledAt, purchase }: View): boolean {
  if (!(rule.families ?? judgedFamilies).includes(facts.type)) return false
  if (rule.critical === true) return true
  if (facts.situation === 'denied' || (facts.issuedAt === '' && rule.of !== 'any')) return false
  if (rule.of === 'any') return true
  if (cancelledAt !== null || facts.part === 'issues' || facts.tpAmb === '2') return false
  return rule.of === 'received' || purchase
}

function applies({ issuerBase, companyBase, ceiling, until }: AllowEntry, facts: AlertFacts): boolean {
  return (
    baseOf(facts.issuer.taxId) === issuerBase &&
    facts.company.base === companyBase &&
    (ceiling === undefined || cents(facts.amount) <= ceiling) &&
    instantOf(facts.issuedAt) <= until
  )
}

function firedOf({ id, version = 1, family, weight }: Rule, finding: Finding, learning: boolean): Fired {
  const { inputs, compared = [], sentence } = finding
  return { id, version, family, weight: finding.weight ?? weight, inputs, compared, sentence, learning }
}

// Before the end of the conclusive answer to an NF-e, and of the desacordo of a CT-e.
const nearDays: Partial<Record<FamilyId, number>> = { nfe: 15, cte: 10 }

function verdictOf(facts: AlertFacts, found: Fired[], allowed: string[], asOf: number): Verdict {
  const fired = found.toSorted((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1))
  const counting = fired.filter(({ learning }) => !learning)
  const families = Map.groupBy(counting, ({ family }) => family)
  const heaviest = [...families.values()].flatMap((some) => some.slice(0, 2))
  const score = Math.round((1 - heaviest.reduce((left, { weight }) => left * (1 - weight), 1)) * 100) / 100
  let level = score < 0.3 ? 0 : score < 0.6 ? 1 : score < 0.85 ? 2 : 3
  if (counting.some(({ id }) => critical.has(id))) level = 3

  // A doubt whose answer is due: S49.
  const deadline = facts.deadline === undefined ? Number.NaN : instantOf(facts.deadline)
  const nearAt = deadline - (nearDays[facts.type] ?? 0) * dayMs
  if (level >= 1 && asOf >= nearAt && asOf <= deadline) {
    const days = Math.ceil((deadline - asOf) / dayMs)
    fired.push({
      id: 'S49',
      version: 1,
      family: 'timing',
      weight: 0,
      inputs: { days },
      compared: [],
      sentence: `${days === 1 ? 'Falta 1 dia' : `Faltam ${days} dias`} para o fim do prazo da resposta, e a dúvida está aberta.`,
      learning: false,
    })
    level = Math.min(3, level + 1)
  }
  const times = [missedAt(facts, asOf), ...(level >= 1 ? [nearAt, deadline + 1] : [])]
  const next = times.filter((time) => time > asOf).sort((a, b) => a - b)
  return {
    chave: facts.chave,
    companyBase: facts.company.base,
    fired,
    allowed,
    learning: fired.some(({ learning }) => learning),
    score,
    band: bands[level]!,
    againAt: next[0] ?? null,
  }
}

/** Joins the sentences of the fired rules in one line. */
export const textOf = (fired: readonly Fired[]) => fired.map(({ sentence }) => sentence.replace(/\.$/, '')).join(' • ')

const critical = new Set(rules.filter((rule) => rule.critical === true).map(({ id }) => id))
