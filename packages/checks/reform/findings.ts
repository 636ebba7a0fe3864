import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import type { CteContents, ItemContents, NfeContents, ReformContents } from '@vigia/dfe/read'
import { dayText } from '../alerts/values.ts'
import { cent, percentText, reais, scaled, share, within, without } from './decimal.ts'
import {
  creditNotes,
  debitNotes,
  endedCodes,
  inForceFrom,
  type Rates,
  rates,
  situations,
  tableDay,
  testYears,
} from './tables.ts'

/** A finding in the groups of IBS, CBS and IS of a document. */
export interface ReformFinding {
  code: 'rt-sem-grupo' | 'rt-parcial' | 'rt-aliquota' | 'rt-conta' | 'rt-codigo' | 'rt-vnf' | 'rt-nota'
  /** nItem, when it is about one item. */
  item?: number
  /** For people, in Portuguese. */
  sentence: string
  /** The values that decided, under official names. */
  inputs: Record<string, string>
}

// A document has up to 990 items: equal faults share a sentence, and the rest is only counted.
const eachMax = 10
const namedItemsMax = 5

/**
 * Finds faults in a document of 2026 or later ([] for earlier ones): groups, codes of the dated
 * tables, rates, arithmetic within 0.01, totals within 0.01 per item (NT 2025.002, UB and W34; NT
 * 2025.001 RTC). No finding claims that a value is owed or creditable.
 */
export function findingsOf(contents: NfeContents | CteContents): ReformFinding[] {
  const day = contents.head.dhEmi?.slice(0, 10) ?? ''
  if (day < inForceFrom) return []
  if (contents.type === cte.id) {
    return gathered(groupFaults(contents, contents, day).map((fault) => ({ ...fault, items: [] })))
  }
  const faults = contents.items.flatMap((item) =>
    groupFaults(item, contents, day).map((fault) => ({ ...fault, items: [item.nItem] })),
  )
  return [
    ...missingGroups(contents),
    ...noteFindings(contents),
    ...gathered(faults),
    ...totalFindings(contents),
    ...vnfFindings(contents, day),
  ]
}

/** Whether a document has the groups of IBS and CBS: exempt, in no item, in some, in all; as `document.reform` counts them. */
export const presence = { exempt: 0, none: 1, some: 2, all: 3 } as const

/** The presence of the groups in a document. */
export function presenceOf(contents: NfeContents | CteContents): number {
  const groups = contents.type === nfe.id ? contents.items : [contents]
  const having = groups.filter(({ IBSCBS }) => IBSCBS !== undefined).length
  if (having > 0) return having === groups.length ? presence.all : presence.some
  const { CRT, dhEmi = '' } = contents.head
  // 1 and 2 are of the Simples, 4 is of the MEI; before 2026 nobody had them.
  return dhEmi < inForceFrom || CRT === '1' || CRT === '2' || CRT === '4' ? presence.exempt : presence.none
}

interface Fault {
  code: ReformFinding['code']
  /** Text after "O item 3: ". */
  cause: string
  inputs: Record<string, string>
}

function gathered(faults: readonly (Fault & { items: number[] })[]): ReformFinding[] {
  const findings: ReformFinding[] = []
  for (const [code, ofCode] of Map.groupBy(faults, (fault) => fault.code)) {
    const causes = [...Map.groupBy(ofCode, ({ cause }) => cause)]
    for (const [cause, alike] of causes.slice(0, eachMax)) {
      findings.push(finding(code, cause, alike[0]!.inputs, [...new Set(alike.flatMap(({ items }) => items))]))
    }
    const rest = causes.slice(eachMax).flatMap(([, alike]) => alike.flatMap(({ items }) => items))
    const others = [...new Set(rest)]
    if (others.length > 0) findings.push(finding(code, 'o mesmo tipo de diferença, com outros valores', {}, others))
  }
  return findings
}

function finding(code: Fault['code'], cause: string, inputs: Fault['inputs'], items: number[]): ReformFinding {
  const said = `${placeText(items)}${cause}.`
  const sentence = said.charAt(0).toUpperCase() + said.slice(1)
  if (items.length === 0) return { code, sentence, inputs }
  const named = { ...inputs, items: String(items.length) }
  return items.length === 1 ? { code, item: items[0]!, sentence, inputs } : { code, sentence, inputs: named }
}

function placeText(items: readonly number[]): string {
  if (items.length === 0) return ''
  if (items.length === 1) return `item ${items[0]}: `
  const named = items.slice(0, namedItemsMax)
  const more = items.length - named.length
  const last = more > 0 ? `mais ${more}` : named.pop()
  return `itens ${named.join(', ')} e ${last}: `
}

// Ordinary notes of the normal regime only: Simples and MEI need not inform before 2027, and other
// notes may have reasons of their own.
function missingGroups({ head, items }: NfeContents): ReformFinding[] {
  if (head.CRT !== '3' || head.finNFe !== '1' || items.length === 0) return []
  const missing = items.filter(({ IBSCBS }) => IBSCBS === undefined).map(({ nItem }) => nItem)
  const inputs = { CRT: '3', sem: String(missing.length), det: String(items.length) }
  if (missing.length === items.length) {
    const which = items.length === 1 ? 'no único item' : `em nenhum dos ${items.length} itens`
    const sentence = `O emitente é do regime normal (CRT 3) e não informou IBS e CBS ${which}. A nota continua válida; peça ao emitente que os informe nas próximas.`
    return [{ code: 'rt-sem-grupo', sentence, inputs }]
  }
  if (missing.length === 0) return []
  const cause = 'sem IBS e CBS, que os outros itens da nota trazem; confirme com o emitente'
  return [finding('rt-parcial', cause, inputs, missing)]
}

function groupFaults(groups: ReformContents, contents: NfeContents | CteContents, day: string): Fault[] {
  return [...codeFaults(groups, day), ...rateFaults(groups, contents, day), ...sumFaults(groups, contents)]
}

function codeFaults({ IBSCBS, gTribRegular }: ReformContents, day: string): Fault[] {
  const pairs: [name: string, CST: string | undefined, cClassTrib: string | undefined][] = [
    ['', IBSCBS?.CST, IBSCBS?.cClassTrib],
    [' da tributação regular', gTribRegular?.CSTReg, gTribRegular?.cClassTribReg],
  ]
  return pairs.flatMap(([of, CST, cClassTrib]) => {
    if (CST === undefined) return []
    const fault = (cause: string): Fault => ({
      code: 'rt-codigo',
      cause,
      inputs: { CST, cClassTrib: cClassTrib ?? '' },
    })
    if (!situations.has(CST)) return fault(`o CST ${CST}${of} está fora da tabela de ${dayText(tableDay)}`)
    if (cClassTrib === undefined) return []
    if (!cClassTrib.startsWith(CST))
      return fault(`o cClassTrib ${cClassTrib}${of} não é do CST ${CST}, que são os seus três primeiros algarismos`)
    const last = endedCodes.get(cClassTrib)
    return last !== undefined && day > last
      ? fault(`o cClassTrib ${cClassTrib}${of} valeu até ${dayText(last)} (tabela de ${dayText(tableDay)})`)
      : []
  })
}

// CST with the standard rate of the year, possibly reduced; others have special rates or none.
const standardRate: ReadonlySet<string> = new Set(['000', '200'])

function rateFaults(groups: ReformContents, contents: NfeContents | CteContents, day: string): Fault[] {
  const { IBSCBS } = groups
  const ofYear = rates.find(({ from, to }) => from <= day && day <= to)
  // Purchases of a public body are taxed for that body alone (LC 214/2025, art. 473).
  if (ofYear === undefined || contents.gCompraGov || groups.gTribCompraGov) return []
  if (!standardRate.has(IBSCBS?.CST ?? '') || scaled(IBSCBS?.vBC) === 0n) return []
  // Notes that correct or return an earlier one use the rates of its year.
  if (!testYears.has(day.slice(0, 4)) && contents.type === nfe.id && contents.head.finNFe !== '1') return []
  return partsOf(groups).flatMap(({ names, group, rate }) => {
    const expected = ofYear[names.rate as keyof Rates]
    if (rate === undefined || expected === undefined || scaled(rate) === scaled(expected)) return []
    // A full reduction makes any rate zero.
    if (group.pRedAliq === '100') return []
    const cause = `${names.rate} de ${percentText(scaled(rate))} em vez de ${percentText(scaled(expected))}, a alíquota de ${day.slice(0, 4)}`
    return [{ code: 'rt-aliquota' as const, cause, inputs: { [names.rate]: rate, expected } }]
  })
}

const partNames = [
  { group: 'gIBSUF', rate: 'pIBSUF', value: 'vIBSUF' },
  { group: 'gIBSMun', rate: 'pIBSMun', value: 'vIBSMun' },
  { group: 'gCBS', rate: 'pCBS', value: 'vCBS' },
] as const

function partsOf(groups: ReformContents) {
  return partNames.flatMap((names) => {
    const group: Partial<Record<string, string>> | undefined = groups[names.group]
    return group ? [{ names, group, rate: group[names.rate], value: group[names.value] }] : []
  })
}

function sumFaults(groups: ReformContents, contents: NfeContents | CteContents): Fault[] {
  const { IBSCBS } = groups
  const faults: Fault[] = []
  const say = (cause: string, inputs: Record<string, string | undefined>) => {
    const present = Object.entries(inputs).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text] as const],
    )
    faults.push({ code: 'rt-conta', cause, inputs: Object.fromEntries(present) })
  }
  const vBC = IBSCBS?.vBC
  for (const { names, group, rate, value } of partsOf(groups)) {
    if (vBC === undefined || rate === undefined || value === undefined) continue
    const { pAliqEfet, pRedAliq, vDif, vDevTrib } = group
    const inputs = { vBC, [names.rate]: rate, pRedAliq, pAliqEfet, vDif, vDevTrib, [names.value]: value }
    const exact = effectiveRates(rate, pRedAliq, contents.gCompraGov?.pRedutor)
    const effective = pAliqEfet === undefined ? exact : [scaled(pAliqEfet), ...exact]
    if (pAliqEfet !== undefined && !exact.some((one) => within(one, scaled(pAliqEfet), halfUnit(pAliqEfet)))) {
      const cause = `pAliqEfet de ${percentText(scaled(pAliqEfet))} em ${names.group}; ${percentText(scaled(rate))} com a redução dá ${percentText(exact[0]!)}`
      say(cause, inputs)
    }
    const results = effective.map((one) => share(scaled(vBC), one) - scaled(vDif) - scaled(vDevTrib))
    if (!results.some((result) => within(result, scaled(value), cent))) {
      const less = vDif === undefined && vDevTrib === undefined ? '' : ', menos diferimento e devolução'
      const cause = `${names.value} de ${reais(scaled(value))}; a conta dá ${reais(results[0]!)} (${reais(scaled(vBC))} × ${percentText(effective[0]!)}${less})`
      say(cause, inputs)
    }
  }
  const { vIBSUF } = groups.gIBSUF ?? {}
  const { vIBSMun } = groups.gIBSMun ?? {}
  if (IBSCBS?.vIBS !== undefined && vIBSUF !== undefined && vIBSMun !== undefined) {
    const sum = scaled(vIBSUF) + scaled(vIBSMun)
    if (!within(sum, scaled(IBSCBS.vIBS), cent)) {
      const cause = `vIBS de ${reais(scaled(IBSCBS.vIBS))}; vIBSUF e vIBSMun somam ${reais(sum)}`
      say(cause, { vIBS: IBSCBS.vIBS, vIBSUF, vIBSMun })
    }
  }
  return faults
}

// pAliq × (1 − pRedAliq) × (1 − pRedutor); files of public purchases are written with the redutor in it and without.
function effectiveRates(rate: string, pRedAliq: string | undefined, pRedutor: string | undefined): bigint[] {
  const reduced = without(scaled(rate), scaled(pRedAliq))
  return pRedutor === undefined ? [reduced] : [without(reduced, scaled(pRedutor)), reduced]
}

// Rates have two to four decimals; trailing zeros are already gone.
function halfUnit(rate: string): bigint {
  const decimals = Math.max(2, rate.split('.')[1]?.length ?? 0)
  return scaled('0.5') / 10n ** BigInt(decimals)
}

type Sum = readonly [total: string, of: (item: ItemContents) => string | undefined]

const sums: readonly Sum[] = [
  ['vBCIBSCBS', ({ IBSCBS }) => IBSCBS?.vBC],
  ['vIBSUF', ({ gIBSUF }) => gIBSUF?.vIBSUF],
  ['vIBSMun', ({ gIBSMun }) => gIBSMun?.vIBSMun],
  ['vIBS', ({ IBSCBS }) => IBSCBS?.vIBS],
  ['vCBS', ({ gCBS }) => gCBS?.vCBS],
  ['vIBSMono', ({ gIBSCBSMono }) => gIBSCBSMono?.vIBSMono],
  ['vCBSMono', ({ gIBSCBSMono }) => gIBSCBSMono?.vCBSMono],
  ['vIBSMonoReten', ({ gIBSCBSMono }) => gIBSCBSMono?.vIBSMonoReten],
  ['vCBSMonoReten', ({ gIBSCBSMono }) => gIBSCBSMono?.vCBSMonoReten],
  ['vIBSMonoRet', ({ gIBSCBSMono }) => gIBSCBSMono?.vIBSMonoRet],
  ['vCBSMonoRet', ({ gIBSCBSMono }) => gIBSCBSMono?.vCBSMonoRet],
  ['vIBSEstCred', ({ gEstornoCred }) => gEstornoCred?.vIBSEstCred],
  ['vCBSEstCred', ({ gEstornoCred }) => gEstornoCred?.vCBSEstCred],
  ['vIS', ({ IS }) => IS?.vIS],
]

function totalFindings({ items, reformTotals, damaged }: NfeContents): ReformFinding[] {
  // Sums mean nothing when a number is missing or values are in other groups.
  if (!reformTotals || items.length === 0 || damaged) return []
  if (items.some(({ gTransfCred, gAjusteCompet }) => gTransfCred || gAjusteCompet)) return []
  return sums.flatMap(([total, of]) => {
    const stated = reformTotals[total]
    if (stated === undefined) return []
    const sum = items.reduce((all, item) => all + scaled(of(item)), 0n)
    if (within(sum, scaled(stated), cent * BigInt(items.length))) return []
    const cause = `o total ${total} é de ${reais(scaled(stated))} e os itens somam ${reais(sum)}`
    return [finding('rt-conta', cause, { [total]: stated, sum: reais(sum) }, [])]
  })
}

// vNF as the layout adds it up (MOC 7.0, total/ICMSTot/vNF), where it is off by exactly the taxes that are no part of it in a test year.
function vnfFindings({ items, totals, reformTotals }: NfeContents, day: string): ReformFinding[] {
  const taxes = scaled(reformTotals?.vIBS) + scaled(reformTotals?.vCBS) + scaled(reformTotals?.vIS)
  if (!testYears.has(day.slice(0, 4)) || totals.vNF === undefined || totals.vProd === undefined) return []
  if (taxes <= cent * 2n || items.some(({ prod, ISSQN }) => ISSQN || prod.CFOP?.startsWith('3'))) return []
  const { vProd, vDesc, vST, vFCPST, vICMSMonoReten, vFrete, vSeg, vOutro, vII, vIPI, vIPIDevol } = totals
  const added = [vProd, vST, vFCPST, vICMSMonoReten, vFrete, vSeg, vOutro, vII, vIPI, vIPIDevol]
  const sum = added.reduce((all, text) => all + scaled(text), 0n) - scaled(vDesc)
  const allowed = [sum, sum - scaled(totals.vICMSDeson)]
  const vNF = scaled(totals.vNF)
  if (allowed.some((one) => within(one, vNF, cent)) || !allowed.some((one) => within(one + taxes, vNF, cent))) return []
  const cause = `o vNF de ${reais(vNF)} inclui ${reais(taxes)} de IBS e CBS, que em ${day.slice(0, 4)} ficam fora do total da nota`
  return [finding('rt-vnf', cause, { vNF: totals.vNF, sum: reais(sum) }, [])]
}

function noteFindings({ head, items }: NfeContents): ReformFinding[] {
  const { finNFe, tpNF } = head
  if (finNFe !== '5' && finNFe !== '6') return []
  const credit = finNFe === '5'
  const name = credit ? 'nota de crédito' : 'nota de débito'
  const field = credit ? 'tpNFCredito' : 'tpNFDebito'
  const code = head[field]
  const kind = (credit ? creditNotes : debitNotes).get(code ?? '')
  const inputs = { finNFe, tpNF: tpNF ?? '', [field]: code ?? '' }
  const say = (cause: string) => finding('rt-nota', cause, inputs, [])
  const findings: ReformFinding[] = []
  if (tpNF !== undefined && tpNF !== (credit ? '0' : '1')) {
    findings.push(say(`${name} (finNFe ${finNFe}) com tpNF ${tpNF}, e o leiaute pede tpNF ${credit ? '0' : '1'}`))
  }
  if (code === undefined) findings.push(say(`${name} (finNFe ${finNFe}) sem ${field}, que diz o motivo`))
  else if (!kind) findings.push(say(`o ${field} ${code} está fora da tabela de ${dayText(tableDay)}`))
  else if (!kind.otherTaxes) {
    const others = [
      ['ICMS', ({ ICMS }: ItemContents) => ICMS?.vICMS],
      ['IPI', ({ IPI }: ItemContents) => IPI?.vIPI],
      ['PIS', ({ PIS }: ItemContents) => PIS?.vPIS],
      ['COFINS', ({ COFINS }: ItemContents) => COFINS?.vCOFINS],
    ] as const
    const found = others.filter(([, of]) => items.some((item) => scaled(of(item)) > 0n)).map(([tax]) => tax)
    if (found.length > 0)
      findings.push(say(`${name} de ${kind.text} (${field} ${code}) com ${found.join(', ')}, que ela não leva`))
  }
  return findings
}
