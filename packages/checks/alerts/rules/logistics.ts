import { chaveParts } from '@vigia/dfe/chave'
import { cte } from '@vigia/dfe/families/cte'
import { familyOfKey } from '@vigia/dfe/families/lookup'
import { baseOf } from '../facts.ts'
import { isTraced, noteMs, traceDue, traceMs, wasCaptured } from '../transport.ts'
import { cents, dayMs, dayText, decimal, isBefore, isNote, numberText, quantile, reais } from '../values.ts'
import type { Finding, Rule } from './rule.ts'

export const logisticsRules: Rule[] = [
  {
    id: 'S21',
    name: 'Sem sinal de transporte',
    family: 'logistics',
    weight: 0.35,
    of: 'purchase',
    find: ({ facts, history, value, settings }) => {
      const due = traceDue(facts)
      if (due === null || settings.asOf < due || !wasCaptured(facts, due) || history.carried || isTraced(facts))
        return null
      const [from, to] = [facts.issuer.uf!, facts.recipient!.uf!]
      const { modFrete = '', transport } = facts.nfe!
      const how = modFrete === '9' ? 'declarada sem transporte (modFrete 9)' : 'sem transportadora nem volumes'
      return {
        inputs: { value, from, to, modFrete, named: transport?.named === true, days: traceMs / dayMs },
        sentence: `Mercadoria de ${reais(value)} de ${from} para ${to}, ${how}, e ${traceMs / dayMs} dias depois nenhum CT-e cita a nota nem há registro de MDF-e, de passagem ou de entrega.`,
      }
    },
  },
  {
    id: 'S41',
    name: 'Frete cobrado duas vezes',
    family: 'logistics',
    weight: 0.5,
    of: 'purchase',
    find: ({ facts, history }) => {
      const { cte, references } = facts
      if (cte === undefined || !isPlain(cte) || cte.payer === undefined) return null
      const mine = new Set(references.map(({ chave }) => chave))
      const other = history.freights.find(
        (one) =>
          isPlain(one) &&
          one.payer === cte.payer &&
          one.cMunIni === cte.cMunIni &&
          one.cMunFim === cte.cMunFim &&
          isBefore(one, facts) &&
          one.cites.some((chave) => mine.has(chave)),
      )
      const note = other?.cites.find((chave) => mine.has(chave))
      if (other === undefined || note === undefined) return null
      return {
        inputs: { amount: cents(facts.amount), other: cents(other.amount), note },
        compared: [other.chave, note],
        sentence: `O frete da nota ${numberText(note)} no mesmo trajeto já foi cobrado no CT-e ${numberText(other.chave)} de ${dayText(other.issuedAt)}, de ${reais(cents(other.amount))}.`,
      }
    },
  },
  {
    id: 'S42',
    name: 'Frete fora do comum',
    family: 'logistics',
    weight: 0.3,
    of: 'purchase',
    learns: true,
    find: ({ facts: { cte, chave }, past, value }): Finding | null => {
      const carga = cents(cte?.vCarga)
      if (cte === undefined || carga < 1 || value < 1) return null
      const ratio = value / carga
      const lane = past.filter(
        (one) =>
          one.freight?.ufIni === cte.ufIni &&
          one.freight.ufFim === cte.ufFim &&
          cents(one.freight.vCarga) > 0 &&
          one.chave !== chave,
      )
      const percent = decimal(ratio * 100)
      if (lane.length >= 10) {
        const usual = quantile(
          lane.map((one) => one.value / cents(one.freight?.vCarga)),
          0.95,
        )
        if (ratio <= 1.5 * usual) return null
        return {
          inputs: { percent, p95: decimal(usual * 100), n: lane.length },
          compared: lane.slice(0, 5).map((one) => one.chave),
          sentence: `O frete é ${percent}% da carga; em ${lane.length} viagens desta transportadora de ${cte.ufIni} a ${cte.ufFim} foi até ${decimal(usual * 100)}% em 95% delas.`,
        }
      }
      if (ratio <= 0.15 || carga < 100_000) return null
      return {
        inputs: { percent, n: lane.length },
        sentence: `O frete, ${reais(value)}, é ${percent}% do valor da carga, ${reais(carga)}.`,
      }
    },
  },
  {
    id: 'S43',
    name: 'Tomador errado do frete',
    family: 'logistics',
    weight: 0.45,
    of: 'purchase',
    find: ({ facts, history, value }) => {
      if (facts.cte === undefined || !isPlain(facts.cte)) return null
      const { base } = facts.company
      const note = history.cited.find(
        ({ standing, modFrete, issuerBase, recipientBase }) =>
          standing &&
          ((modFrete === '0' && recipientBase === base && issuerBase !== base) ||
            (modFrete === '1' && issuerBase === base && recipientBase !== base)),
      )
      if (note === undefined) return null
      return {
        inputs: { modFrete: note.modFrete!, value },
        compared: [note.chave],
        sentence:
          note.modFrete === '0'
            ? `O frete de ${reais(value)} foi cobrado da sua empresa, mas na NF-e ${numberText(note.chave)} o frete é CIF, por conta do remetente.`
            : `O frete de ${reais(value)} foi cobrado da sua empresa, mas na sua NF-e ${numberText(note.chave)} o frete é FOB, por conta do destinatário.`,
      }
    },
  },
  {
    id: 'S44',
    name: 'CT-e sem nota conhecida',
    family: 'logistics',
    weight: 0.3,
    of: 'purchase',
    find: ({ facts, history, at, settings }) => {
      const notes = facts.references.map(({ chave }) => chave).filter(isNote)
      // The authority does not distribute a note to its issuer.
      if (notes.some((chave) => baseOf(chaveParts(chave).cnpj) === facts.company.base)) return null
      if (facts.cte?.tpCTe !== '0' || !facts.company.captures.nfe || notes.length === 0) return null
      const due = at + noteMs
      if (settings.asOf < due || !wasCaptured(facts, due) || history.cited.length > 0) return null
      return {
        inputs: { notes: notes.length, days: 5 },
        compared: notes.slice(0, 5),
        sentence:
          notes.length === 1
            ? 'A nota que este CT-e cita não foi recebida cinco dias depois.'
            : `Nenhuma das ${notes.length} notas que este CT-e cita foi recebida cinco dias depois.`,
      }
    },
  },
  {
    id: 'S45',
    name: 'CT-e substituto ou complementar',
    family: 'logistics',
    weight: 0.2,
    of: 'purchase',
    find: ({ facts, history, value }): Finding | null => {
      const kind = facts.cte?.tpCTe
      if (kind !== '1' && kind !== '3') return null
      const cited = history.cited.find(({ chave }) => familyOfKey(chave).id === cte.id)
      if (kind === '3')
        return {
          inputs: { tpCTe: kind, value },
          compared: cited && [cited.chave],
          sentence: `Este CT-e de ${reais(value)} substitui ${cited ? `o ${numberText(cited.chave)}, de ${reais(cents(cited.amount))}` : 'outro, que não foi recebido'}.`,
        }
      const before = cents(cited?.amount)
      if (cited === undefined || before < 1 || value <= before / 10) return null
      return {
        inputs: { tpCTe: kind, value, before },
        compared: [cited.chave],
        sentence: `O complemento de ${reais(value)} aumenta em ${decimal((value / before) * 100)}% o CT-e ${numberText(cited.chave)}, de ${reais(before)}.`,
      }
    },
  },
]

// A redespacho or subcontratação (tpServ 1 to 4) is another leg, or the same service between carriers.
function isPlain({ tpCTe, tpServ }: { tpCTe: string; tpServ: string }): boolean {
  return tpCTe === '0' && tpServ === '0'
}
