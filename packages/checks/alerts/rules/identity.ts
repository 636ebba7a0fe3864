import { chaveParts } from '@vigia/dfe/chave'
import { nfe } from '@vigia/dfe/families/nfe'
import { contactText } from '../contacts.ts'
import { baseOf, isAvulsa } from '../facts.ts'
import { type Sharer, sharedMax, sharingMs } from '../history.ts'
import { areAlike, jaroWinkler, normalName } from '../names.ts'
import { dayMs, dayText, instantText, numberText, reais } from '../values.ts'
import type { Rule, View } from './rule.ts'

const floor = 100_000 // cents
const baseText = (base: string) => base.replace(/^(..)(...)/, '$1.$2.')
// After so many notes it is known whom a supplier lets read them.
const readersMin = 5

/** Condition of S01 and part of S13. */
export function isNewAndBig({ isNew, value, history }: View): boolean {
  return isNew && value >= Math.max(history.thresholds.p75 ?? 0, floor)
}

export const identityRules: Rule[] = [
  {
    id: 'S01',
    name: 'Fornecedor novo com valor relevante',
    family: 'identity',
    weight: 0.35,
    of: 'purchase',
    learns: true,
    find: (view) =>
      isNewAndBig(view)
        ? {
            inputs: { value: view.value, months: 24 },
            sentence: `Fornecedor nunca visto em 24 meses, com ${reais(view.value)}: está entre os 25% maiores valores das suas compras.`,
          }
        : null,
  },
  {
    id: 'S02',
    name: 'Primeiro contato',
    family: 'identity',
    weight: 0.1,
    of: 'purchase',
    learns: true,
    find: (view) =>
      view.isNew && !isNewAndBig(view)
        ? {
            inputs: { value: view.value, months: 24 },
            sentence: `Primeiro documento deste fornecedor em 24 meses, de ${reais(view.value)}.`,
          }
        : null,
  },
  {
    id: 'S13',
    name: 'Emitente em início de atividade',
    family: 'identity',
    weight: 0.35,
    of: 'purchase',
    learns: true,
    find: (view) => {
      const { numero: number, serie } = chaveParts(view.facts.chave)
      const { p90 } = view.history.thresholds
      if (!isNewAndBig(view) || number > 50 || serie > 1 || p90 === null || view.value < p90) return null
      return {
        inputs: { number, serie, value: view.value },
        sentence: `É a nota nº ${number} da série ${serie} do emitente, e já de ${reais(view.value)}: entre os 10% maiores valores das suas compras.`,
      }
    },
  },
  {
    id: 'S17',
    name: 'Nome parecido com o de um fornecedor conhecido',
    family: 'identity',
    weight: 0.45,
    of: 'purchase',
    learns: true,
    find: ({ facts, history, settings, isNew, issuerBase }) => {
      // A person has homonyms.
      if (!isNew || facts.issuer.taxId?.length !== 14) return null
      const name = normalName(facts.issuer.name)
      const group = settings.groups.find((bases) => bases.includes(issuerBase)) ?? []
      const [found] = history.alike
        .filter(({ base, name: known }) => base !== issuerBase && !group.includes(base) && areAlike(name, known))
        .sort((a, b) => jaroWinkler(name, b.name) - jaroWinkler(name, a.name) || (a.base < b.base ? -1 : 1))
      if (found === undefined) return null
      const similarity = Math.round(jaroWinkler(name, found.name) * 100)
      return {
        inputs: { name, known: found.name, knownBase: found.base, similarity },
        compared: [found.chave],
        sentence: `O nome ${name} é ${similarity}% igual ao do seu fornecedor ${found.name} (CNPJ ${baseText(found.base)}), mas o CNPJ é outro.`,
      }
    },
  },
  {
    id: 'S18',
    name: 'Identidade mudou',
    family: 'identity',
    weight: 0.25,
    of: 'purchase',
    learns: true,
    find: ({ facts: { issuer, chave }, past }) => {
      const last = past.find((one) => one.issuer.taxId === issuer.taxId && !isAvulsa(one.chave))
      if (last === undefined || isAvulsa(chave)) return null
      const digits = (ie: string | undefined) => ie?.replace(/\D/g, '').replace(/^0+/, '') ?? ''
      const drifts: string[] = []
      if (digits(issuer.ie) !== '' && digits(last.issuer.ie) !== '' && digits(issuer.ie) !== digits(last.issuer.ie))
        drifts.push(`inscrição estadual ${last.issuer.ie} → ${issuer.ie}`)
      if (issuer.uf && last.issuer.uf && issuer.uf !== last.issuer.uf)
        drifts.push(`UF ${last.issuer.uf} → ${issuer.uf}`)
      const same = last.issuer.name === issuer.name
      const names = same ? (['', ''] as const) : ([normalName(last.issuer.name), normalName(issuer.name)] as const)
      if (names.every((name) => name !== '') && jaroWinkler(...names) < 0.6)
        drifts.push(`nome ${last.issuer.name} → ${issuer.name}`)
      if (drifts.length === 0) return null
      return {
        inputs: { drifts: drifts.join('; ') },
        compared: [last.chave],
        sentence: `O cadastro do emitente mudou desde a nota ${numberText(last.chave)} de ${dayText(last.issuedAt)}: ${drifts.join('; ')}.`,
      }
    },
  },
  {
    id: 'S19',
    name: 'Contato igual ao de outro fornecedor',
    family: 'identity',
    weight: 0.25,
    of: 'purchase',
    learns: true,
    find: (view) => {
      const byBase = Map.groupBy(newSharers(view), ({ base }) => base)
      const [same] = [...byBase.values()].sort((a, b) => b.length - a.length || (a[0]!.base < b[0]!.base ? -1 : 1))
      const other = same?.[0]
      if (same === undefined || other === undefined) return null
      const contacts = same.map(({ key }) => contactText(key))
      const text = contacts.join(' e ')
      const id = other.base.length === 8 ? `CNPJ ${baseText(other.base)}` : `CPF ${other.base}`
      const who = other.name === '' ? id : `${other.name} (${id})`
      return {
        inputs: { contacts: contacts.join('; '), otherBase: other.base, firstSeen: instantText(other.at) },
        compared: [other.chave],
        sentence: `${text[0]!.toUpperCase()}${text.slice(1)} do emitente ${same.length === 1 ? 'é também' : 'são também'} de outro fornecedor, ${who}, visto pela primeira vez em ${instantText(other.at)}.`,
      }
    },
  },
  {
    id: 'S20',
    name: 'Nota para a filial errada',
    family: 'identity',
    families: [nfe.id],
    weight: 0.35,
    of: 'purchase',
    find: ({ facts: { recipient, company } }) => {
      const own = company.establishments.find(({ taxId }) => taxId === recipient?.taxId)
      if (recipient === undefined || own === undefined) return null
      const digits = (ie: string) => ie.replace(/\D/g, '').replace(/^0+/, '')
      const wrong: string[] = []
      const ie = digits(recipient.ie ?? '')
      if (ie !== '' && own.ies.length > 0 && !own.ies.some((known) => digits(known) === ie))
        wrong.push(`inscrição estadual ${recipient.ie}, que não é da empresa`)
      if (recipient.uf && own.uf && recipient.uf !== own.uf)
        wrong.push(`endereço em ${recipient.uf}, e não em ${own.uf}`)
      const name = own.names.includes(recipient.name) ? '' : normalName(recipient.name)
      const names = name === '' ? [] : own.names.map(normalName).filter((known) => known !== '')
      if (name !== '' && names.length > 0 && names.every((known) => jaroWinkler(name, known) < 0.6))
        wrong.push(`destinatário chamado ${recipient.name}`)
      if (wrong.length === 0) return null
      return {
        inputs: { taxId: own.taxId, wrong: wrong.join('; ') },
        sentence: `A nota traz o seu CNPJ, mas ${wrong.join('; ')}.`,
      }
    },
  },
  {
    id: 'S32',
    name: 'Novo autorizado a baixar o XML',
    family: 'identity',
    weight: 0.1,
    of: 'purchase',
    find: ({ facts, settings, past, issuerBase }) => {
      // Documents read before readers were stored have unknown readers.
      const known = past.flatMap(({ readers }) => (readers ? [readers.map(baseOf)] : []))
      if (known.length < readersMin || !facts.readers) return null
      const group = settings.groups.find((bases) => bases.includes(issuerBase)) ?? []
      const before = new Set([issuerBase, ...group, ...known.flat()])
      const news = facts.readers.filter((taxId) => !before.has(baseOf(taxId)))
      if (news.length === 0) return null
      return {
        inputs: { readers: news.join(', '), n: known.length },
        sentence: `A nota deixa ${news.join(', ')} baixar o XML, e nenhuma das ${known.length} notas anteriores do fornecedor o fazia.`,
      }
    },
  },
  {
    id: 'S46',
    name: 'Mesmo emitente contra várias empresas',
    family: 'identity',
    weight: 0.6,
    of: 'purchase',
    learns: true,
    find: ({ facts, history: { contacts }, isNew, issuerBase, at }) => {
      const own = contacts.find(({ companyBase }) => companyBase === facts.company.base)
      const first = contacts[0]
      if (!isNew || own?.chave !== facts.chave || first === undefined || first.at < at - 30 * dayMs) return null
      const near = contacts.filter((one) => Math.abs(one.at - at) <= 7 * dayMs)
      // Three companies within one span of seven days that includes this document.
      const most = near.reduce(
        (best, from) => {
          const span = near.filter((one) => one.at >= from.at && one.at <= from.at + 7 * dayMs)
          return span.includes(own) && span.length > best.length ? span : best
        },
        near.slice(0, 0),
      )
      if (most.length < 3) return null
      return {
        inputs: { companies: most.length, days: 7, issuerBase: baseOf(issuerBase) },
        compared: most.filter((one) => one !== own).map(({ chave }) => chave),
        sentence: `Emitente desconhecido emitiu contra ${most.length} das suas empresas em 7 dias.`,
      }
    },
  },
]

// Suppliers recently first seen under a contact of this one that no earlier note revealed.
function newSharers({ facts, history, settings, past, at, issuerBase }: View): Sharer[] {
  const group = settings.groups.find((bases) => bases.includes(issuerBase)) ?? []
  const few = [...Map.groupBy(history.sharing, ({ key }) => key).values()].filter((some) => some.length < sharedMax - 1)
  return few.flat().filter((other) => {
    const isAfter = (one: { at: number; chave: string }) =>
      one.at > other.at || (one.at === other.at && one.chave > other.chave)
    const told = past.some((one) => isAfter(one) && one.issuer.contacts?.includes(other.key) === true)
    return !group.includes(other.base) && isAfter({ at, chave: facts.chave }) && at - other.at <= sharingMs && !told
  })
}
