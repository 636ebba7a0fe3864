import { chaveParts } from '@vigia/dfe/chave'
import { tpEmisOf } from '../facts.ts'
import { pairMax } from '../history.ts'
import {
  dayMs,
  dayText,
  decimal,
  hourMs,
  instantOf,
  localHour,
  median,
  minuteMs,
  numberText,
  quantile,
} from '../values.ts'
import { type Finding, type Rule, within } from './rule.ts'

/** Issuer, model and série: who counts the numbers (MOC 7.0, chave de acesso). */
function seriesOf(chave: string): string {
  const { cnpj, mod, serie } = chaveParts(chave)
  return `${cnpj} ${mod} ${serie}`
}
const numberOf = (chave: string) => chaveParts(chave).numero

export const timingRules: Rule[] = [
  {
    id: 'S06',
    name: 'Muitas notas em sequência',
    family: 'timing',
    weight: 0.3,
    of: 'purchase',
    learns: true,
    find: ({ past, at, history }) => {
      const now = within(past, at, 1)
      if (now.length < 5) return null
      // A pair with `pairMax` documents within a day is always that busy.
      if (now.length === past.length && history.pair.length === pairMax) return null
      const before = within(past, at, 90).slice(now.length)
      const days = [...Map.groupBy(before, (one) => one.issuedAt.slice(0, 10)).values()].map((one) => one.length)
      if (days.length > 0 && median(days) >= 5) return null
      const usual = days.length > 0 ? quantile(days, 0.95) : 0
      const count = now.length + 1
      if (count <= Math.max(5, 3 * usual)) return null
      return {
        inputs: { count, p95: usual, days: days.length },
        compared: now.slice(0, 20).map(({ chave }) => chave),
        sentence: `${count} documentos deste fornecedor em 24 horas; ${days.length === 0 ? 'nos 90 dias antes não houve nenhum' : `nos 90 dias antes foram até ${usual} por dia`}.`,
      }
    },
  },
  {
    id: 'S09',
    name: 'Hora incomum',
    family: 'timing',
    weight: 0.1,
    of: 'purchase',
    learns: true,
    adds: true,
    find: ({ facts, past }) => {
      const odd = oddHour(facts.issuedAt)
      if (odd === null) return null
      const share = past.filter((one) => oddHour(one.issuedAt) !== null).length / Math.max(1, past.length)
      if (past.length >= 3 && (past.length < 20 || share >= 0.05)) return null
      return {
        inputs: { issuedAt: facts.issuedAt, n: past.length, share: Math.round(share * 100) },
        sentence:
          past.length < 3
            ? `Emitida ${odd}, e há poucos documentos anteriores para comparar.`
            : `Emitida ${odd}, e só ${Math.round(share * 100)}% dos ${past.length} documentos anteriores foram emitidos fora do horário comercial.`,
      }
    },
  },
  {
    id: 'S12',
    name: 'Numeração só para você',
    family: 'timing',
    weight: 0.3,
    of: 'purchase',
    learns: true,
    find: ({ facts, past, at }) => {
      const previous = past.find(({ chave }) => seriesOf(chave) === seriesOf(facts.chave))
      if (previous === undefined || numberOf(previous.chave) !== numberOf(facts.chave) - 1) return null
      const { cnpj, mod } = chaveParts(facts.chave)
      const sameModel = past.filter(({ chave }) => seriesOf(chave).startsWith(`${cnpj} ${mod} `))
      if (new Set([facts.chave, ...sameModel.map(({ chave }) => chave)].map(seriesOf)).size >= 3) return null
      const run = [{ chave: facts.chave, at }]
      for (const one of sameModel.filter(({ chave }) => seriesOf(chave) === seriesOf(facts.chave))) {
        if (numberOf(one.chave) !== numberOf(run.at(-1)!.chave) - 1) break
        run.push(one)
      }
      const days = Math.floor((at - run.at(-1)!.at) / dayMs)
      if (run.length < 4 || days < 30) return null
      return {
        inputs: { n: run.length, days },
        compared: run.slice(1, 6).map(({ chave }) => chave),
        sentence: `Os últimos ${run.length} documentos, em ${days} dias, têm números seguidos (até o ${numberOf(facts.chave)}): a sua empresa parece ser o único cliente.`,
      }
    },
  },
  {
    id: 'S14',
    name: 'Numeração anda para trás',
    family: 'timing',
    weight: 0.15,
    of: 'purchase',
    learns: true,
    find: ({ facts, past, at }) => {
      if (tpEmisOf(facts.chave) !== '1') return null
      const number = numberOf(facts.chave)
      const other = past.find(
        ({ chave, at: then }) =>
          tpEmisOf(chave) === '1' &&
          seriesOf(chave) === seriesOf(facts.chave) &&
          numberOf(chave) > number &&
          then <= at - dayMs,
      )
      if (other === undefined) return null
      return {
        inputs: { number, other: numberOf(other.chave), days: Math.floor((at - other.at) / dayMs) },
        compared: [other.chave],
        sentence: `A nota nº ${number} é posterior à ${numberText(other.chave)} da mesma série, emitida antes, em ${dayText(other.issuedAt)}.`,
      }
    },
  },
  {
    id: 'S15',
    name: 'Autorizada tarde ou com data adiantada',
    family: 'timing',
    weight: 0.15,
    of: 'received',
    find: ({ facts, at }): Finding | null => {
      // A date without time of day, of layout 2.00 and older, is no instant.
      if (facts.authorizedAt === undefined || localHour(facts.issuedAt) === null) return null
      const late = instantOf(facts.authorizedAt) - at
      const normal = tpEmisOf(facts.chave) === '1'
      const hours = late / hourMs
      if (late < -10 * minuteMs)
        return {
          inputs: { minutes: Math.round(-late / minuteMs), tpEmis: tpEmisOf(facts.chave) },
          sentence: `A emissão está datada ${decimal(-hours)} horas depois da autorização.`,
        }
      if (late <= (normal ? 24 : 168) * hourMs) return null
      return {
        inputs: { hours: Math.round(hours), tpEmis: tpEmisOf(facts.chave) },
        sentence: `Autorizada ${Math.round(hours)} horas depois da emissão${normal ? '' : ' em contingência'}.`,
      }
    },
  },
  {
    id: 'S16',
    name: 'Contingência nunca vista',
    family: 'timing',
    weight: 0.1,
    of: 'purchase',
    learns: true,
    find: ({ facts, past, history }) => {
      const tpEmis = tpEmisOf(facts.chave)
      if (tpEmis === '1' || past.length < 10 || history.contingency >= 5) return null
      if (past.some(({ chave }) => tpEmisOf(chave) !== '1')) return null
      return {
        inputs: { tpEmis, n: past.length },
        sentence: `Emitida em contingência (tpEmis ${tpEmis}), o que nenhum dos ${past.length} documentos anteriores foi.`,
      }
    },
  },
]

function oddHour(issuedAt: string): string | null {
  const time = localHour(issuedAt)
  // Midnight to the second is what programs write that know only the day.
  if (time === null || issuedAt.slice(11, 19) === '00:00:00') return null
  if (time.hour >= 22 || time.hour < 6) return `às ${issuedAt.slice(11, 16)}`
  if (time.weekday === 0) return 'num domingo'
  return isHoliday(time.day) ? 'num feriado nacional' : null
}

// Lei 662/1949, Lei 6.802/1980, Lei 14.759/2023 (20/11, since 2024); and Good Friday.
function isHoliday(day: string): boolean {
  const date = day.slice(5)
  if (['01-01', '04-21', '05-01', '09-07', '10-12', '11-02', '11-15', '12-25'].includes(date)) return true
  return (date === '11-20' && day >= '2024') || day === goodFriday(Number(day.slice(0, 4)))
}

// Gauss's rule for Easter of the Gregorian calendar.
function goodFriday(year: number): string {
  const a = year % 19
  const century = Math.floor(year / 100)
  const d = (19 * a + century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 15) % 30
  const full = d - Math.floor(d / 28) * (1 - Math.floor(29 / (d + 1)) * Math.floor((21 - a) / 11))
  const weekday = (year + Math.floor(year / 4) + full + 2 - century + Math.floor(century / 4)) % 7
  const easter = full - weekday + 28
  return new Date(Date.UTC(year, 2, easter - 2)).toISOString().slice(0, 10)
}
