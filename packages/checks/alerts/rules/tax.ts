import { chaveParts } from '@vigia/dfe/chave'
import { nfe } from '@vigia/dfe/families/nfe'
import type { NfeFacts } from '../facts.ts'
import { baseOf } from '../facts.ts'
import { cents, dayMs, dayText, instantOf, numberText, reais } from '../values.ts'
import type { Rule, View } from './rule.ts'

// Sales of own products and merchandise, without later deliveries of paid sales (116, 117, 922).
const saleCfop = /^[567](?:10[1-9]|11[0-5]|11[89]|12[0-3]|40[1-5])$/

export const taxRules: Rule[] = [
  {
    id: 'S22',
    name: 'Condições de pagamento estranhas',
    family: 'tax',
    weight: 0.2,
    of: 'purchase',
    find: (view) => {
      const nfe = view.facts.nfe
      const odd = nfe?.finNFe === '1' ? paymentOddities(view, nfe) : []
      if (odd.length === 0) return null
      return { inputs: { odd: odd.join('; ') }, sentence: `Pagamento: ${odd.join('; ')}.` }
    },
  },
  {
    id: 'S23',
    name: 'A soma não fecha',
    family: 'tax',
    weight: 0.5,
    of: 'received',
    find: ({ facts: { nfe, amount } }) => {
      // A nota de crédito or débito has the taxes of the reform only.
      if (nfe === undefined || nfe.itemCount === 0 || nfe.finNFe === '5' || nfe.finNFe === '6') return null
      const off = [...sumsOff(nfe), ...totalOff(nfe, cents(amount))]
      if (off.length === 0) return null
      return { inputs: { off: off.join('; ') }, sentence: `Os totais não fecham: ${off.join('; ')}.` }
    },
  },
  {
    id: 'S33',
    name: 'Nota de entrada do emitente em nosso nome',
    family: 'tax',
    families: [nfe.id],
    weight: 0.35,
    of: 'received',
    find: ({ facts, value }) => {
      const { tpNF, nfe, part, company, references } = facts
      // Notas de crédito (finNFe 5) are always tpNF 0, de débito (6) never: neither is an entry in
      // our name. A buyer from a person, such as a producer, issues the entry.
      if (company.base.length === 11) return null
      if (tpNF !== '0' || part !== 'receives' || nfe?.finNFe === '5' || nfe?.finNFe === '6') return null
      const own = references.find(({ chave }) => baseOf(chaveParts(chave).cnpj) === company.base)
      return {
        inputs: { value, complete: facts.complete, returnsOurs: own !== undefined },
        compared: own && [own.chave],
        sentence: own
          ? `O emitente deu entrada de ${reais(value)} em nome da sua empresa, e cita a sua nota ${numberText(own.chave)}: confira se houve a devolução.`
          : `O emitente deu entrada de ${reais(value)} como se a sua empresa fosse a remetente${facts.complete ? '' : ' (o resumo não diz se é nota de crédito)'}.`,
      }
    },
  },
  {
    id: 'S35',
    version: 2,
    name: 'Nota de crédito ou de débito do fornecedor',
    family: 'tax',
    weight: 0.15,
    of: 'received',
    find: ({ facts: { nfe, part, issuedAt }, value }) => {
      if (part !== 'receives' || (nfe?.finNFe !== '5' && nfe?.finNFe !== '6')) return null
      const credit = nfe.finNFe === '5'
      // Values of the test year are not due and give no credit (LC 214/2025, art. 348).
      const isTest = issuedAt < '2027'
      const of = isTest || value < 100 ? '' : `, de ${reais(value)}`
      const effect = isTest
        ? 'não muda o que a empresa paga, porque em 2026 IBS e CBS são só de teste'
        : 'se for aceita, reduz o seu crédito de IBS e CBS'
      return {
        inputs: { finNFe: nfe.finNFe, value },
        sentence: credit
          ? `Nota de crédito do fornecedor${of}: exige resposta (evento 211128); ${effect}.`
          : `Nota de débito do fornecedor${of}: não é compra nem mercadoria; confira o motivo.`,
      }
    },
  },
]

function paymentOddities({ facts, at, isNew, learned }: View, nfe: NfeFacts): string[] {
  const odd: string[] = []
  const sum = nfe.dup.reduce((total, { vDup }) => total + cents(vDup), 0)
  if (nfe.vLiq !== undefined && nfe.dup.length > 0 && Math.abs(sum - cents(nfe.vLiq)) > 1)
    odd.push(`as parcelas somam ${reais(sum)} e a fatura é de ${reais(cents(nfe.vLiq))}`)
  const day = facts.issuedAt.slice(0, 10)
  const dates = nfe.dup.flatMap(({ dVenc }) => dVenc ?? []).sort()
  const [first, last] = [dates[0], dates.at(-1)]
  if (first !== undefined && first < day) odd.push(`uma parcela vence em ${dayText(first)}, antes da emissão`)
  const due = (date: string) => (instantOf(date) - at) / dayMs
  if (last !== undefined && due(last) > 365) odd.push(`uma parcela vence em ${dayText(last)}, mais de um ano depois`)
  if (nfe.tPag.length > 0 && nfe.tPag.every((each) => each === '90') && nfe.cfops.some((cfop) => saleCfop.test(cfop)))
    odd.push(`venda (CFOP ${nfe.cfops.find((cfop) => saleCfop.test(cfop))}) declarada sem pagamento`)
  if (isNew && learned && last !== undefined && last >= day && due(last) <= 2)
    odd.push(`fornecedor novo cobra tudo até ${dayText(last)}`)
  return odd
}

const sumNames = ['vProd', 'vDesc', 'vFrete', 'vSeg', 'vOutro', 'vICMS', 'vST', 'vIPI'] as const

function sumsOff({ totals, sums, itemCount }: NfeFacts): string[] {
  return sumNames.flatMap((name) => {
    const stated = totals[name]
    const sum = sums[name]
    if (stated === undefined || sum === undefined || Math.abs(cents(stated) - sum) <= itemCount) return []
    // Services are items like goods, and in a total of their own.
    if (totals.vServ !== undefined && (name === 'vProd' || name === 'vDesc')) return []
    return `${name} é ${reais(cents(stated))} e os itens somam ${reais(sum)}`
  })
}

// vNF by the layout (MOC 7.0, total/ICMSTot/vNF; rejection 610): whether the desoneração is taken off, and PIS and COFINS of substitution and the
// taxes of the reform are put on, depends on the item and the year, so each is allowed.
function totalOff({ totals, cfops }: NfeFacts, vNF: number): string[] {
  // The authority does not check it for imports (CFOP 3…).
  if (totals.vProd === undefined || cfops.some((cfop) => cfop.startsWith('3'))) return []
  const of = (...names: string[]) => names.reduce((sum, name) => sum + cents(totals[name]), 0)
  const sum =
    of('vProd', 'vST', 'vFCPST', 'vICMSMonoReten', 'vFrete', 'vSeg', 'vOutro', 'vII', 'vIPI', 'vIPIDevol', 'vServ') -
    of('vDesc')
  const deson = of('vICMSDeson')
  const more = [0, of('vPISST', 'vCOFINSST'), of('vIS'), of('vIBS', 'vCBS', 'vIS')]
  const allowed = [...more, ...more.map((each) => each - deson)].map((each) => sum + each)
  if (allowed.some((each) => Math.abs(each - vNF) <= 10)) return []
  return [`vNF é ${reais(vNF)} e a fórmula do leiaute dá ${reais(sum)}`]
}
