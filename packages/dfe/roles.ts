import type { DocumentFacts } from './facts.ts'
import { families } from './families/all.ts'
import type { FamilyId } from './families/id.ts'
import { familyById } from './families/lookup.ts'

/** Names of the roles that a company can have in a document, by code (NT 2014.002, quem recebe o quê; MOC CT-e 4.00, tomador). */
export const roleNames: readonly string[] = families
  .flatMap((family) => family.roles)
  .reduce<string[]>((names, { code, name }) => Object.assign(names, { [code]: name }), [])

const thirdParty = 3

/** Role of a party admitted by an event only (NT 2014.002, ator interessado); shown as Terceiro. */
export const unnamedRole = 8

/** The one role shown of a set of roles, a bit mask of `1 << code` (NT 2014.002; MOC CT-e 4.00 eventos 110111 and 610110). */
export function primaryRole(family: FamilyId, roles: number): number {
  return familyById(family).roles.find(({ code }) => (roles & (1 << code)) !== 0)?.code ?? thirdParty
}

/** Every role of a company in a document, as a bit mask; all 14 positions count, a branch is another company (NT 2014.002; MOC CT-e 4.00). */
export function rolesOf(document: DocumentFacts, taxId: string): number {
  let roles = 0
  for (const party of document.parties) {
    if (party.taxId === taxId) roles |= 1 << party.role
  }
  // A resumo names only the emitente and is delivered to one role alone.
  const { summary } = familyById(document.type)
  if (!document.complete && summary) roles |= 1 << summary.role
  return roles === 0 ? 1 << unnamedRole : roles
}
