import { families } from '@vigia/dfe/families/all'
import { desacordo } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyOf } from '@vigia/dfe/families/lookup'
import { roleNames } from '@vigia/dfe/roles'

/** A code and its word, as the screens show them (section 3). */
export interface Code {
  code: number
  label: string
}

/** Families as fields named `servico` write them. */
export const familyIds = families.map(({ id }) => id)

/** The screen that lists the documents of a type. */
export const listPath = (tipoDFe: number): string => familyOf(tipoDFe).list

/** The word for a participation code; anything outside the table is "Desconhecido" (section 3). */
export function participationLabel(code: number): string {
  return roleNames[code] ?? 'Desconhecido'
}

const byFamily = (codesOf: (family: Family) => Code[]): Readonly<Record<FamilyId, readonly Code[]>> =>
  Object.fromEntries(families.map((family) => [family.id, codesOf(family)])) as Record<FamilyId, Code[]>
const toCode = ({ code, name }: { code: number; name: string }): Code => ({ code, label: name })

/** Options of the participation filter, per document type (section 3). */
export const participationFilter = byFamily(({ roles }) => roles.map(toCode).sort((a, b) => a.code - b.code))

/** Options of the status filter, per document type (section 3). */
export const statusFilter = byFamily(({ statuses }) => statuses.filter(({ filter }) => filter).map(toCode))

/** Tone of a status badge by `codigoEvento` (section 3: green, red, blue, any other yellow). */
export function statusTone(codigoEvento: number): 'green' | 'red' | 'blue' | 'yellow' {
  if ([610614, 610610, 210200].includes(codigoEvento)) return 'green'
  if ([610615, 110111].includes(codigoEvento)) return 'red'
  return codigoEvento === 210210 ? 'blue' : 'yellow'
}

/** Days of trial after the sign-up (section 9). */
export const trialDays = 7

/** Days in which the deletion of an account can be taken back. */
export const deletionDays = 30

/** A plan of section 9; null: without limit. */
export interface PlanKind {
  name: string
  companiesMax: number | null
  documentsPerMonthMax: number | null
}

/** Plans by `tipoPlano`. Sign-up offers 1 and 2; 3 is by agreement, or for the trial. */
export const planKinds: Readonly<Record<1 | 2 | 3, PlanKind>> = {
  1: { name: 'Básico', companiesMax: 1, documentsPerMonthMax: 5_000 },
  2: { name: 'Profissional', companiesMax: 10, documentsPerMonthMax: null },
  3: { name: 'Corporativo', companiesMax: null, documentsPerMonthMax: null },
}

/** Characters that the form takes as a justificativa (section 5). */
export const justificationMax = 200

/** The same of one answer: a desacordo is ours, and takes all that fits into its event. */
export const justificationMaxOf = (tipoManifestacao: number): number =>
  tipoManifestacao === desacordo ? 255 : justificationMax

/** Kinds of change in the feed: new, XML arrived, new status or role, cancelled, answer settled. */
export const changeKinds = ['documento-novo', 'xml-completo', 'situacao', 'cancelamento', 'resposta'] as const

/** Limits of answer rules: rules, list lengths, and waiting days (the Ciência has ten days). */
export const answerRuleMax = {
  rules: 50,
  companies: 1_000,
  issuers: 500,
  cfops: 50,
  days: 8,
  shown: 50,
  testedDays: 90,
}

/**
 * Actions of a rule: Ciência on arrival, Ciência some days after the authorisation, ask a person,
 * or only suggest an answer that a person sends.
 */
export const answerRuleAnswers = [
  'ciencia',
  'ciencia-apos',
  'perguntar',
  'sugerir-confirmacao',
  'preparar-desconhecimento',
] as const
export type AnswerRuleAnswer = (typeof answerRuleAnswers)[number]

/** How many answers that wait for a second person are listed, and decided, at once. */
export const askedMax = 300

/** Documents that a person may answer, or answers approve, per call without a recent proof. */
export const unprovedMax = 50

/**
 * Values of `finNFe`: 1 normal, 2 complementar, 3 ajuste, 4 devolução, 5 nota de crédito, 6 nota de
 * débito.
 */
export const purposes = ['1', '2', '3', '4', '5', '6'] as const

/** How many groups of related CNPJ there are at most, and how many belong to one. */
export const alertGroupMax = { groups: 50, bases: 30 }

/** The answers that have a deadline. */
export const dueAnswers = ['ciencia', 'manifestacao', 'desacordo'] as const
