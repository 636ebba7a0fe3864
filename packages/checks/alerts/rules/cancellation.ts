import { chaveParts } from '@vigia/dfe/chave'
import type { FamilyId } from '@vigia/dfe/families/id'
import { type AlertEvent, type AlertFacts, baseOf } from '../facts.ts'
import { dayMs, dayText, decimal, hourMs, instantOf, numberText, reais } from '../values.ts'
import { jaccard, type Rule, within } from './rule.ts'

export const cancellationRules: Rule[] = [
  {
    id: 'S36',
    name: 'Cancelada depois de usada',
    family: 'cancellation',
    weight: 0.8,
    of: 'any',
    find: ({ facts, cancelledAt }) => {
      if (!cancelledAt || facts.part === 'issues') return null
      const when = instantOf(cancelledAt)
      const relied = reliedOn(facts).filter(({ at }) => instantOf(at) < when)
      const first = relied.toSorted((a, b) => b.weight - a.weight || instantOf(a.at) - instantOf(b.at))[0]
      if (first === undefined) return null
      return {
        inputs: { cancelledAt, reliedAt: first.at, by: first.by },
        weight: first.weight,
        sentence: `Cancelada em ${dayText(cancelledAt)}, depois de ${first.by} em ${dayText(first.at)}.`,
      }
    },
  },
  {
    id: 'S37',
    name: 'Cancelada e emitida de novo com outro valor',
    family: 'cancellation',
    weight: 0.25,
    of: 'purchase',
    find: ({ facts, all, at, value }) => {
      for (const other of all) {
        if (!other.cancelledAt || chaveParts(other.chave).mod !== chaveParts(facts.chave).mod) continue
        const after = at - instantOf(other.cancelledAt)
        if (after < 0 || after > 72 * hourMs) continue
        const change = (value - other.value) / Math.max(other.value, 1)
        const sameItems = facts.nfe && other.items ? jaccard(facts.nfe.items, other.items) : null
        // Without items, only a similar value shows that it is the same sale.
        if (Math.abs(change) <= 0.01 || (sameItems === null ? Math.abs(change) > 0.3 : sameItems < 0.7)) continue
        return {
          inputs: { value, before: other.value, hours: Math.round(after / hourMs) },
          compared: [other.chave],
          sentence: `Emitida ${Math.round(after / hourMs)} horas depois do cancelamento da ${numberText(other.chave)}, com ${decimal(Math.abs(change) * 100)}% a ${change > 0 ? 'mais' : 'menos'}: ${reais(other.value)} → ${reais(value)}.`,
        }
      }
      return null
    },
  },
  {
    id: 'S38',
    name: 'Cancela com frequência',
    family: 'cancellation',
    weight: 0.25,
    of: 'any',
    learns: true,
    find: ({ facts, cancelledAt, purchase, all, at }) => {
      if (cancelledAt === null || !purchase) return null
      const recent = within(all, at, 90)
      const cancelled = recent.filter((one) => one.cancelledAt !== null)
      const [times, count] = [cancelled.length + 1, recent.length + 1]
      if (times < 3 || times / count < 0.2) return null
      return {
        inputs: { cancelled: times, n: count, days: 90 },
        compared: cancelled.slice(0, 5).map(({ chave }) => chave),
        sentence: `É o ${times}º cancelamento de ${facts.issuer.name} em 90 dias, de ${count} documentos.`,
      }
    },
  },
  {
    id: 'S39',
    name: 'Carta de correção do que ela não pode corrigir',
    family: 'cancellation',
    weight: 0.35,
    of: 'any',
    find: ({ facts }) => {
      const letter = lastLetter(facts)
      const words = facts.part === 'issues' ? [] : forbiddenWords(facts.type, letter?.text ?? '')
      if (letter === undefined || words.length === 0) return null
      return {
        inputs: { words: words.join(', '), nSeqEvento: letter.nSeqEvento },
        sentence: `A carta de correção de ${dayText(letter.at)} trata de ${words.join(', ')}, o que ela não pode corrigir.`,
      }
    },
  },
  {
    id: 'S40',
    name: 'Carta de correção tardia',
    family: 'cancellation',
    weight: 0.15,
    of: 'any',
    find: ({ facts }) => {
      const letter = lastLetter(facts)
      if (letter === undefined || facts.part === 'issues') return null
      const at = instantOf(letter.at)
      const days = (at - instantOf(facts.authorizedAt ?? facts.issuedAt)) / dayMs
      const confirmed = ownEvents(facts, 210200).find((event) => instantOf(event.at) < at)
      if (confirmed === undefined && !(days > 7)) return null
      return {
        inputs: { days: Math.floor(days), confirmedAt: confirmed?.at ?? '' },
        sentence: confirmed
          ? `Carta de correção de ${dayText(letter.at)}, depois da sua Confirmação em ${dayText(confirmed.at)}.`
          : `Carta de correção ${Math.floor(days)} dias depois da autorização.`,
      }
    },
  },
]

const markTexts = { exported: 'exportada', booked: 'lançada', delivered: 'entregue', matched: 'escriturada na EFD' }

function reliedOn(facts: AlertFacts): { at: string; weight: number; by: string }[] {
  return [
    ...ownEvents(facts, 210210).map(({ at }) => ({ at, weight: 0.4, by: 'a sua empresa dar Ciência' })),
    ...ownEvents(facts, 210200).map(({ at }) => ({ at, weight: 0.8, by: 'a sua empresa dar Confirmação' })),
    ...facts.marks.map(({ kind, at }) => ({ at, weight: 0.8, by: markTexts[kind] })),
  ]
}

function ownEvents({ events, company }: AlertFacts, tpEvento: number): AlertEvent[] {
  return events
    .filter((event) => event.tpEvento === tpEvento && baseOf(event.authorTaxId) === company.base)
    .sort((a, b) => instantOf(a.at) - instantOf(b.at))
}

// Each carta de correção replaces those before it (Ajuste SINIEF 07/2005, cl. 14-A §4).
function lastLetter({ events }: AlertFacts): AlertEvent | undefined {
  return events
    .filter(({ tpEvento }) => tpEvento === 110110)
    .sort((a, b) => b.nSeqEvento - a.nSeqEvento || instantOf(b.at) - instantOf(a.at))[0]
}

// Ajuste SINIEF 07/2005, cl. 14-A §1: not the variables of the tax, not the parties, not the dates of issue and departure.
const forbidden: [RegExp, string][] = [
  [/\bvalor(?:es)?\b|\bvl[.r]? ?total\b/, 'valor'],
  [/\bbase de calculo\b/, 'base de cálculo'],
  [/\baliquotas?\b/, 'alíquota'],
  [/\bquantidades?\b/, 'quantidade'],
  [/\bprecos?\b/, 'preço'],
  [/\bdestinatari[oa]\b/, 'destinatário'],
  [/\bremetente\b/, 'remetente'],
  [/\bdatas? d[ea] (?:emissao|saida)\b/, 'data de emissão ou saída'],
]

// A letter of a CT-e names group and field, and then the value: "vPrest/vTPrest: 10.00; …".
const forbiddenFields: [RegExp, string][] = [
  [/\bvtprest\b|\bvrec\b|\bvbc\b|\bvicms\b|\bvcarga\b/, 'valor'],
  [/\bpicms\b/, 'alíquota'],
  [/\bdhemi\b/, 'data de emissão ou saída'],
  [/\b(?:rem|dest|toma[34]?)\/(?:cnpj|cpf)\b/, 'participante'],
]

// Texts of allowed corrections, and texts that deny a change.
const harmless =
  /\b(?:quantidade|qtd) de volumes?\b|\b(?:endereco|numero do endereco|bairro|cep|complemento|telefone|fone|e-?mail|razao social|nome fantasia|inscricao suframa)(?: \w+)? d[oa] (?:destinatari[oa]|remetente)\b|\b(?:sem|nao) (?:alterar|altera|alterando|alteracao|mudar|muda|mudanca)(?: \w+)? (?:valor(?:es)?|quantidades?|precos?)\b|\bvalor aproximado dos tributos\b|\bsem valor comercial\b/g

const letters: Partial<Record<FamilyId, { read(text: string): string; forbidden: [RegExp, string][] }>> = {
  nfe: { read: (text) => text, forbidden },
  cte: { read: fieldsIn, forbidden: forbiddenFields },
}

/** The forbidden matters that the text of a carta de correção names, in Portuguese; none of an empty text. */
export function forbiddenWords(family: FamilyId, text: string): string[] {
  const letter = letters[family]
  if (!letter) return []
  const plain = text
    .slice(0, 2_000)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(harmless, ' ')
  const read = letter.read(plain)
  return [...new Set(letter.forbidden.filter(([pattern]) => pattern.test(read)).map(([, name]) => name))]
}

function fieldsIn(letter: string): string {
  const names = letter.split(';').map((part) => part.slice(0, Math.max(0, part.indexOf(':'))).trim())
  return names.filter((name) => name.includes('/') && !name.includes(' ')).join(' ')
}
