import { cte } from '@vigia/dfe/families/cte'
import type { FamilyId } from '@vigia/dfe/families/id'
import { nfe } from '@vigia/dfe/families/nfe'
import { cancellationRules } from './rules/cancellation.ts'
import { identityRules } from './rules/identity.ts'
import { integrityRules } from './rules/integrity.ts'
import { itemRules } from './rules/items.ts'
import { logisticsRules } from './rules/logistics.ts'
import type { Rule } from './rules/rule.ts'
import { taxRules } from './rules/tax.ts'
import { timingRules } from './rules/timing.ts'
import { valueRules } from './rules/value.ts'

export type { Family, Finding, Rule } from './rules/rule.ts'

/** Families that rules judge, because their chaves have the 44 positions of `chaveParts`. */
export const judgedFamilies: readonly FamilyId[] = [nfe.id, cte.id]

/** Every rule of one document, by id. A rule whose result for the same facts changes gets another version. */
export const rules: readonly Rule[] = [
  ...identityRules,
  ...valueRules,
  ...timingRules,
  ...logisticsRules,
  ...taxRules,
  ...itemRules,
  ...integrityRules,
  ...cancellationRules,
].sort((a, b) => (a.id < b.id ? -1 : 1))
