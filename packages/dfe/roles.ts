import type { DocumentFacts } from './facts.ts'

/** Names of the parts a company can have in a document, by code (NT 2014.002, quem recebe o quê; MOC CT-e 4.00, tomador). */
export const roleNames: readonly string[] = [
  'Emitente',
  'Destinatário',
  'Transportador',
  'Terceiro',
  'Remetente',
  'Expedidor',
  'Recebedor',
  'Tomador',
]

const recipient = 1
const thirdParty = 3

/** Stands in a set of roles for "the document names it nowhere": an event may have admitted it (NT 2014.002, ator interessado); shown as Terceiro. */
export const unnamedRole = 8

// Parties that may cancel, manifest or disagree come before those that only read; the tomador of a CT-e is at the same time one of
// the others when toma3 names him, and is the one who may send 610110.
const precedence = { nfe: [0, 1, 2, 3], cte: [0, 7, 4, 1, 5, 6, 3] }

/** The one role shown of a set of roles, a bit mask of `1 << code` (NT 2014.002; MOC CT-e 4.00 eventos 110111 and 610110). */
export function primaryRole(type: 'nfe' | 'cte', roles: number): number {
  return precedence[type].find((role) => (roles & (1 << role)) !== 0) ?? thirdParty
}

/** Every role of a company in a document, as a bit mask; all 14 positions count, a branch is another company (NT 2014.002; MOC CT-e 4.00). */
export function rolesOf(document: DocumentFacts, taxId: string): number {
  let roles = 0
  for (const party of document.parties) {
    if (party.taxId === taxId) roles |= 1 << party.role
  }
  // A resumo names only the emitente and is delivered only to the destinatário.
  if (!document.complete) roles |= 1 << recipient
  return roles === 0 ? 1 << unnamedRole : roles
}
