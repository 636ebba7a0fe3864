import { chaveParts } from '@vigia/dfe/chave'
import { nfe } from '@vigia/dfe/families/nfe'
import type { PairDocument } from '../history.ts'
import { dayMs, dayText, decimal, hourMs, median, numberText, quantile, reais, robustZ } from '../values.ts'
import { jaccard, type Rule, type View, within } from './rule.ts'

/** A subscription: at least three earlier documents of equal value, about a month apart. */
function isSubscription({ past, value, at }: View): boolean {
  const times = past.filter((one) => Math.abs(one.value - value) <= 1).map((one) => one.at)
  const monthly = times.filter((time) => {
    const months = Math.round((at - time) / (30.4 * dayMs))
    return months >= 1 && Math.abs(at - time - months * 30.4 * dayMs) <= 6 * dayMs
  })
  return new Set(monthly.map((time) => Math.round((at - time) / (30.4 * dayMs)))).size >= 3
}

function isDuplicateOf(view: View, other: PairDocument): number | null {
  const mine = view.facts.nfe?.items
  if (!mine || !other.items) return 0.5
  const common = jaccard(mine, other.items)
  return common < 0.5 ? null : common >= 0.9 ? 0.6 : 0.5
}

export const valueRules: Rule[] = [
  {
    id: 'S03',
    name: 'Valor fora do comum para o fornecedor',
    family: 'value',
    weight: 0.4,
    of: 'purchase',
    learns: true,
    find: ({ facts, year, value }) => {
      const sameType = year.filter(({ chave }) => chaveParts(chave).mod === chaveParts(facts.chave).mod)
      const values = sameType.map((one) => one.value)
      if (values.length < 3 || value < 50_000 || value <= 2 * quantile(values, 0.95)) return null
      const usual = median(values)
      const most = Math.max(...values)
      const z = robustZ(value, values)
      if (values.length >= 8 ? z < 3.5 : value <= 3 * most) return null
      return {
        inputs: { n: values.length, value, median: usual, max: most, z: Math.round(z * 100) / 100 },
        compared: sameType.slice(0, 5).map(({ chave }) => chave),
        sentence: `${reais(value)} é ${decimal(value / Math.max(usual, 1))}× a mediana (${reais(usual)}) dos últimos ${values.length} documentos deste fornecedor em 12 meses.`,
      }
    },
  },
  {
    id: 'S04',
    name: 'Valor fora do comum para a empresa',
    family: 'value',
    weight: 0.25,
    of: 'purchase',
    learns: true,
    find: ({ history: { thresholds }, past, value }) => {
      if (thresholds.p99 === null || value <= thresholds.p99 || value < 1_000_000) return null
      if (past.filter((one) => one.value >= value / 2).length >= 3) return null
      return {
        inputs: { value },
        sentence: `${reais(value)} supera 99% das suas compras dos últimos 12 meses.`,
      }
    },
  },
  {
    id: 'S05',
    name: 'Fornecedor parado volta com valor alto',
    family: 'value',
    weight: 0.3,
    of: 'purchase',
    learns: true,
    find: ({ past, value, at }) => {
      const last = past[0]
      if (last === undefined || last.at >= at - 365 * dayMs) return null
      const usual = median(past.map((one) => one.value))
      if (value < 3 * usual) return null
      const days = Math.floor((at - last.at) / dayMs)
      return {
        inputs: { days, value, median: usual, n: past.length },
        compared: [last.chave],
        sentence: `Fornecedor sem documentos há ${days} dias volta com ${reais(value)}, ${decimal(value / Math.max(usual, 1))}× a mediana de antes (${reais(usual)}).`,
      }
    },
  },
  {
    id: 'S07',
    name: 'Fracionamento abaixo do limite',
    family: 'value',
    weight: 0.35,
    of: 'purchase',
    learns: true,
    find: ({ past, value, at, settings }) => {
      const limit = settings.approvalLimit
      const below = (each: number) => each >= 0.8 * limit && each < limit
      if (!below(value)) return null
      const near = past.filter((one) => one.at >= at - 72 * hourMs && below(one.value))
      // A supplier that usually sells near the limit splits nothing.
      const before = past.slice(near.length)
      if (before.length >= 5 && before.filter((one) => below(one.value)).length * 2 >= before.length) return null
      const sum = near.reduce((total, one) => total + one.value, value)
      if (near.length < 2 || sum < limit) return null
      return {
        inputs: { n: near.length + 1, sum, limit },
        compared: near.map(({ chave }) => chave),
        sentence: `${near.length + 1} documentos em 72 horas, cada um pouco abaixo de ${reais(limit)}, somam ${reais(sum)}.`,
      }
    },
  },
  {
    id: 'S08',
    name: 'Valor redondo',
    family: 'value',
    weight: 0.15,
    of: 'purchase',
    learns: true,
    adds: true,
    find: ({ past, isNew, value }) =>
      value >= 1_000_000 && value % 100_000 === 0 && (isNew || (past.length > 0 && past.length < 3))
        ? {
            inputs: { value, n: past.length },
            sentence: `Valor redondo, ${reais(value)}, de um fornecedor ${['sem documentos anteriores', 'com 1 documento anterior', 'com 2 documentos anteriores'][past.length]}.`,
          }
        : null,
  },
  {
    id: 'S10',
    name: 'Provável duplicidade',
    family: 'value',
    families: [nfe.id],
    weight: 0.5,
    of: 'purchase',
    find: (view) => {
      if (view.value < 1) return null
      for (const other of within(view.past, view.at, 5)) {
        if (Math.abs(other.value - view.value) > 1 || other.freight) continue
        const weight = isDuplicateOf(view, other)
        if (weight === null || isSubscription(view) || isHabit(view)) continue
        return {
          inputs: { value: view.value, hours: Math.round((view.at - other.at) / hourMs), sameItems: weight > 0.5 },
          compared: [other.chave],
          weight,
          sentence: `Mesmo fornecedor e mesmo valor, ${reais(view.value)}, da nota ${numberText(other.chave)} de ${dayText(other.issuedAt)}${weight > 0.5 ? ', com os mesmos itens' : ''}.`,
        }
      }
      return null
    },
  },
]

// A supplier of equal sales, such as fuel or toll, sends no duplicates: three of the last twenty
// earlier documents repeat a value within five days.
function isHabit({ past, at }: View): boolean {
  const earlier = past.filter((one) => one.at < at - 5 * dayMs).slice(0, 20)
  const repeated = earlier.filter((one, index) =>
    earlier.slice(index + 1).some((other) => one.at - other.at <= 5 * dayMs && Math.abs(one.value - other.value) <= 1),
  )
  return repeated.length >= 3
}
