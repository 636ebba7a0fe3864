import { findingsOf, presenceOf } from '@vigia/checks/reform/findings'
import { creditNotes, debitNotes, inForceFrom, situations, tableDay, testYears } from '@vigia/checks/reform/tables'
import type { Reform, ReformPresence } from '@vigia/contract/documents'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import {
  type CteContents,
  type CteDetails,
  contentsOf,
  type NfeContents,
  type NfeDetails,
  type ReformContents,
} from '@vigia/dfe/read'
import { date, joined, percent } from '@vigia/print/formats'
import { amountText, factsOf, type LabelledValue, notZero, reais, type Section, unitReais } from './texts.ts'

type ReformItem = Reform['itens'][number]

/** IBS, CBS and IS of a document with what does not fit in them; null of one that is older than the reform and says nothing of it. */
export function reformOf(said: NfeDetails | CteDetails): Reform | null {
  const day = said.ide.dhEmi?.slice(0, 10) ?? ''
  const contents = contentsOf(said)
  if (contents === null) return day < inForceFrom ? null : { ...nothing, presenca: 'so-resumo' }
  const itens = contents.type === nfe.id ? nfeItems(contents) : cteItems(contents)
  if (itens.length === 0 && day < inForceFrom) return null
  return {
    presenca: presences[presenceOf(contents)]!,
    aviso: itens.length > 0 ? noticeOf(day) : null,
    itens,
    totais: itens.length > 0 ? totalsOf(contents) : [],
    achados: findingsOf(contents).map(({ code, item, sentence }) => ({
      codigo: code,
      item: item ?? null,
      frase: sentence,
    })),
  }
}

const presences: readonly ReformPresence[] = ['dispensado', 'sem', 'parcial', 'com']
const nothing: Omit<Reform, 'presenca'> = { aviso: null, itens: [], totais: [], achados: [] }

function noticeOf(day: string): string | null {
  if (day < inForceFrom) return 'Informativo: o documento é anterior a 2026, e o que ele diz de IBS e CBS era um teste.'
  return testYears.get(day.slice(0, 4)) ?? null
}

function nfeItems({ items, gCompraGov }: NfeContents): ReformItem[] {
  return items.flatMap((item) => {
    const { IBSCBS, IS } = item
    if (IBSCBS === undefined && IS === undefined) return []
    const lines: LabelledValue[] = [
      ...groupLines(item),
      ['Imposto Seletivo', selectiveText(IS)],
      ['Comprador público', buyerText(gCompraGov)],
    ]
    return { numero: item.nItem, descricao: item.prod.xProd ?? '', ...itemOf(item, lines, IS?.vIS) }
  })
}

function cteItems(contents: CteContents): ReformItem[] {
  if (contents.IBSCBS === undefined) return []
  const lines: LabelledValue[] = [...groupLines(contents), ['Comprador público', buyerText(contents.gCompraGov)]]
  return [{ numero: 0, descricao: 'O serviço', ...itemOf(contents, lines) }]
}

function itemOf(
  groups: ReformContents,
  lines: LabelledValue[],
  vIS?: string,
): Omit<ReformItem, 'numero' | 'descricao'> {
  const { IBSCBS, gIBSUF, gIBSMun, gCBS } = groups
  return {
    CST: IBSCBS?.CST ?? '',
    cClassTrib: IBSCBS?.cClassTrib ?? '',
    base: reais(IBSCBS?.vBC) ?? '',
    ibsEstado: reais(gIBSUF?.vIBSUF) ?? '',
    ibsMunicipio: reais(gIBSMun?.vIBSMun) ?? '',
    cbs: reais(gCBS?.vCBS ?? IBSCBS?.vCBS) ?? '',
    is: reais(vIS) ?? '',
    campos: factsOf(lines),
  }
}

function groupLines(groups: ReformContents): LabelledValue[] {
  const { IBSCBS, gIBSUF, gIBSMun, gCBS, gIBSCBSMono, gTransfCred, gAjusteCompet, gEstornoCred } = groups
  const { gTribRegular: regular, gTribCompraGov: purchase } = groups
  return [
    ['Código', unknownCode(IBSCBS?.CST)],
    ['Doação', IBSCBS?.indDoacao === '1' ? 'sim' : undefined],
    ['IBS do estado', shareText(gIBSUF?.pIBSUF, gIBSUF)],
    ['IBS do município', shareText(gIBSMun?.pIBSMun, gIBSMun)],
    ['CBS', shareText(gCBS?.pCBS, gCBS)],
    ['Monofásico', monoText(gIBSCBSMono)],
    [
      'Tributação regular',
      joined(
        ', ',
        codes(regular?.CSTReg, regular?.cClassTribReg),
        valueAt('IBS do estado', regular?.vTribRegIBSUF, regular?.pAliqEfetRegIBSUF),
        valueAt('IBS do município', regular?.vTribRegIBSMun, regular?.pAliqEfetRegIBSMun),
        valueAt('CBS', regular?.vTribRegCBS, regular?.pAliqEfetRegCBS),
      ),
    ],
    [
      'Compra governamental',
      joined(
        ', ',
        valueAt('IBS do estado', purchase?.vTribIBSUF, purchase?.pAliqIBSUF),
        valueAt('IBS do município', purchase?.vTribIBSMun, purchase?.pAliqIBSMun),
        valueAt('CBS', purchase?.vTribCBS, purchase?.pAliqCBS),
      ),
    ],
    ['Crédito transferido', both(gTransfCred?.vIBS, gTransfCred?.vCBS)],
    [
      'Ajuste de competência',
      joined(
        ', ',
        gAjusteCompet?.competApur && `de ${gAjusteCompet.competApur}`,
        both(gAjusteCompet?.vIBS, gAjusteCompet?.vCBS),
      ),
    ],
    ['Estorno de crédito', both(gEstornoCred?.vIBSEstCred, gEstornoCred?.vCBSEstCred)],
  ]
}

function unknownCode(CST: string | undefined): string | undefined {
  return CST === undefined || situations.has(CST) ? undefined : `fora da tabela de ${date(tableDay)}`
}

const codes = (CST: string | undefined, cClassTrib: string | undefined) =>
  joined(', ', CST && `CST ${CST}`, cClassTrib && `cClassTrib ${cClassTrib}`)

function shareText(rate: string | undefined, group: ReformContents['gIBSUF']): string | undefined {
  if (!group) return undefined
  const { pRedAliq, pAliqEfet, pDif, vDif, vDevTrib, tpALCZFMCBS } = group
  return joined(
    ', ',
    percentText(rate),
    pRedAliq && `redução de ${percentText(pRedAliq)}`,
    pAliqEfet && `alíquota efetiva de ${percentText(pAliqEfet)}`,
    vDif && `diferimento de ${joined(' ', reais(vDif), pDif && `(${percentText(pDif)})`)}`,
    notZero(vDevTrib) && `devolução de ${reais(vDevTrib)}`,
    tpALCZFMCBS && `ALC ou ZFM, tipo ${tpALCZFMCBS}`,
  )
}

function monoText(mono: ReformContents['gIBSCBSMono']): string | undefined {
  if (!mono) return undefined
  const part = (name: string, quantity: string | undefined, ibs: string | undefined, cbs: string | undefined) =>
    ibs === undefined && cbs === undefined
      ? undefined
      : joined(': ', name, joined(', ', quantity && `quantidade ${amountText(quantity)}`, both(ibs, cbs)))
  const own = part('próprio', mono.qBCMono, mono.vIBSMono, mono.vCBSMono)
  const rates = mono.adRemIBS && `${unitReais(mono.adRemIBS)} e ${unitReais(mono.adRemCBS)} por unidade`
  return joined(
    ' · ',
    own && joined(', ', own, rates),
    part('por retenção', mono.qBCMonoReten, mono.vIBSMonoReten, mono.vCBSMonoReten),
    part('retido antes', mono.qBCMonoRet, mono.vIBSMonoRet, mono.vCBSMonoRet),
    part('diferido', undefined, mono.vIBSMonoDif, mono.vCBSMonoDif),
    part('total do item', undefined, mono.vTotIBSMonoItem, mono.vTotCBSMonoItem),
  )
}

const valueAt = (name: string, amount: string | undefined, rate: string | undefined) =>
  amount && `${name} ${reais(amount)}${rate ? ` (${percentText(rate)})` : ''}`

const both = (ibs: string | undefined, cbs: string | undefined) =>
  joined(', ', ibs && `IBS ${reais(ibs)}`, cbs && `CBS ${reais(cbs)}`)

const bothNotZero = (ibs: string | undefined, cbs: string | undefined) => both(notZero(ibs) && ibs, notZero(cbs) && cbs)

const percentText = (rate: string | undefined) => {
  const text = percent(rate)
  return text === undefined ? undefined : `${text.includes(',') ? text.replace(/,?0{1,10}$/, '') : text}%`
}

function selectiveText(IS: NfeContents['items'][number]['IS']): string | undefined {
  if (!IS) return undefined
  return joined(
    ', ',
    codes(IS.CSTIS, IS.cClassTribIS),
    IS.vBCIS && `base ${reais(IS.vBCIS)}`,
    percentText(IS.pIS),
    IS.adRemIS && `${unitReais(IS.adRemIS)} por unidade`,
    IS.qTrib && `quantidade ${joined(' ', amountText(IS.qTrib), IS.uTrib)}`,
  )
}

// tpEnteGov and tpOperGov (NT 2025.002, grupo B12).
const bodies: Record<string, string> = {
  1: 'União',
  2: 'estado',
  3: 'Distrito Federal',
  4: 'município',
  5: 'consórcio público',
  6: 'Comitê Gestor do IBS',
}
const operations: Record<string, string> = {
  1: 'fornecimento com pagamento posterior',
  2: 'recebimento do que já foi fornecido',
  3: 'fornecimento já pago',
  4: 'recebimento antes do fornecimento',
}

function buyerText(purchase: NfeContents['gCompraGov']): string | undefined {
  if (!purchase) return undefined
  const { tpEnteGov = '', tpOperGov = '', pRedutor } = purchase
  return joined(
    ', ',
    bodies[tpEnteGov] ?? tpEnteGov,
    operations[tpOperGov] ?? (tpOperGov && `operação ${tpOperGov}`),
    pRedutor && `redutor de ${percentText(pRedutor)}`,
  )
}

function totalsOf(contents: NfeContents | CteContents): Section['campos'] {
  if (contents.type === cte.id) {
    const { IBSCBS, gIBSUF, gIBSMun, gCBS } = contents
    return factsOf([
      ['Base de cálculo', reais(IBSCBS?.vBC)],
      ['IBS do estado', reais(gIBSUF?.vIBSUF)],
      ['IBS do município', reais(gIBSMun?.vIBSMun)],
      ['IBS', reais(IBSCBS?.vIBS)],
      ['CBS', reais(gCBS?.vCBS ?? IBSCBS?.vCBS)],
    ])
  }
  const { finNFe = '', tpNFCredito, tpNFDebito } = contents.head
  const { reformTotals: sums = {} } = contents
  return factsOf([
    ['Finalidade', finNFe === '5' ? kindText('Nota de crédito', creditNotes, tpNFCredito) : undefined],
    ['Finalidade', finNFe === '6' ? kindText('Nota de débito', debitNotes, tpNFDebito) : undefined],
    ['Base de cálculo', reais(sums.vBCIBSCBS)],
    ['IBS do estado', reais(sums.vIBSUF)],
    ['IBS do município', reais(sums.vIBSMun)],
    ['IBS', reais(sums.vIBS)],
    ['CBS', reais(sums.vCBS)],
    ['Monofásico', bothNotZero(sums.vIBSMono, sums.vCBSMono)],
    ['Monofásico por retenção', bothNotZero(sums.vIBSMonoReten, sums.vCBSMonoReten)],
    ['Monofásico retido antes', bothNotZero(sums.vIBSMonoRet, sums.vCBSMonoRet)],
    ['Estorno de crédito', bothNotZero(sums.vIBSEstCred, sums.vCBSEstCred)],
    ['Imposto Seletivo', reais(sums.vIS)],
    ['Total da nota, sem eles', reais(contents.totals.vNF)],
    ['Total com IBS, CBS e IS', reais(sums.vNFTot)],
  ])
}

function kindText(name: string, kinds: typeof creditNotes, code: string | undefined): string {
  if (code === undefined) return name
  return `${name}: ${kinds.get(code)?.text ?? `motivo ${code}, fora da tabela de ${date(tableDay)}`}`
}
