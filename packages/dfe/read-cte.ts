import { chaveParts, looksLikeChave } from './chave.ts'
import { child, children, value, type XmlElement } from './document.ts'
import type { DocumentFacts, Party, Problem, UnknownFacts } from './facts.ts'
import { addParty, amountOf, authorizationOf, chaveOf, identificationOf, modelOf, unknown } from './reading.ts'

const models = ['57', '64', '67']

/** CT-e 57, CT-e OS 67, CT-e Simplificado and GTV-e 64 (MOC CT-e 4.00 Anexo I; older layouts down to 1.04 by the same names). */
export function readCte(root: XmlElement, problems: Problem[]): DocumentFacts | UnknownFacts {
  const infCte = child(root, 'infCte') ?? root.children.map((inner) => child(inner, 'infCte')).find(Boolean)
  if (infCte === undefined) return unknown(root, 'O arquivo não traz o CT-e (grupo infCte).')
  const protocol = child(root, 'protCTe')
  const id = infCte.attributes.Id?.trim().replace(/^CTe/, '')
  const chave = chaveOf(id ?? value(protocol, 'infProt/chCTe'), problems)
  if (chave === undefined) return unknown(root, 'O CT-e não traz uma chave de acesso de 44 posições.')

  const mod = modelOf(value(infCte, 'ide/mod'), chaveParts(chave).mod)
  if (!models.includes(mod)) problems.push({ code: 'model', message: `O modelo ${mod} não é de CT-e.` })

  return {
    kind: 'document',
    type: 'cte',
    root: root.name,
    complete: true,
    chave,
    mod,
    ...identificationOf(infCte, chave, 'nCT', problems),
    amount: mod === '64' ? '0' : amountOf(value(infCte, 'vPrest/vTPrest') ?? value(infCte, 'total/vTPrest'), problems),
    parties: partiesOf(infCte),
    tpCTe: value(infCte, 'ide/tpCTe'),
    corrects: correctedBy(infCte),
    ...authorizationOf(protocol, chave, problems),
  }
}

// The layouts put the group into infCte or into infCTeNorm, and write the names of group and chave with other capitals.
function correctedBy(infCte: XmlElement): string | undefined {
  const groups = [infCte, ...infCte.children].flatMap(({ children }) => children)
  const named = groups.filter(({ name }) => /^infC[tT]e(Sub|Comp|Anu)$/.test(name)).flatMap(({ children }) => children)
  return named.find(({ name, text }) => /^ch(CTe|Cte|ave)$/.test(name) && looksLikeChave(text.trim()))?.text.trim()
}

function partiesOf(infCte: XmlElement): Party[] {
  const parties: Party[] = []
  addParty(parties, 0, child(infCte, 'emit'))
  addParty(parties, 7, tomadorOf(infCte))
  addParty(parties, 4, child(infCte, 'rem'))
  addParty(parties, 1, child(infCte, 'dest'))
  addParty(parties, 5, child(infCte, 'exped'))
  addParty(parties, 6, child(infCte, 'receb'))
  for (const autXML of children(infCte, 'autXML')) addParty(parties, 3, autXML)
  return parties
}

// The group that holds the tomador's own data, or the party it points at; undefined when that party is absent.
export function tomadorOf(infCte: XmlElement): XmlElement | undefined {
  const own = child(infCte, 'toma') ?? child(infCte, 'ide/toma4') ?? child(infCte, 'ide/tomaTerceiro')
  if (own !== undefined) return own
  const ide = child(infCte, 'ide')
  const party = value(ide, 'toma3/toma') ?? value(ide, 'toma03/toma')
  // Only the GTV-e has ide/toma/toma, and its scale is another one.
  const group = party === undefined ? gtvParties.get(value(ide, 'toma/toma') ?? '') : cteParties.get(party)
  return group === undefined ? undefined : child(infCte, group)
}

const cteParties = new Map([
  ['0', 'rem'],
  ['1', 'exped'],
  ['2', 'receb'],
  ['3', 'dest'],
])
const gtvParties = new Map([
  ['0', 'rem'],
  ['1', 'dest'],
])
