import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { date, joined, money, percent, quantity, taxId } from '../formats.ts'

/** What the product table shows of one det, already in its printed form. */
export interface DanfeItem {
  code: string
  /** Description, infAdProd and the lines that help the person who receives the goods. */
  description: string[]
  ncm: string
  /** orig with CST or CSOSN. */
  situation: string
  cfop: string
  unit: string
  quantity: string
  unitValue: string
  discount: string
  total: string
  icms: { base: string; rate: string; value: string }
  icmsSt: { base: string; rate: string; value: string }
  ipi: { base: string; rate: string; value: string }
  /** Which of the two codes the situation is, when the item has one. */
  situationCode: 'CST' | 'CSOSN' | undefined
  imposto: XmlElement | undefined
}

/** Reads one det (MOC NF-e 7.0, Anexo II, 3.1.7 and 3.8). Groups without base and value leave their columns blank. */
export function readItem(det: XmlElement): DanfeItem {
  const prod = child(det, 'prod')
  const imposto = child(det, 'imposto')
  const icms = child(imposto, 'ICMS')?.children[0]
  const ipi = child(imposto, 'IPI/IPITrib')
  const [csosn, cst] = [value(icms, 'CSOSN'), value(icms, 'CST')]
  return {
    code: value(prod, 'cProd') ?? '',
    description: description(det, prod),
    ncm: value(prod, 'NCM') ?? '',
    situation: (value(icms, 'orig') ?? '') + (csosn ?? cst ?? ''),
    cfop: value(prod, 'CFOP') ?? '',
    unit: value(prod, 'uCom') ?? '',
    quantity: quantity(value(prod, 'qCom')) ?? '',
    unitValue: quantity(value(prod, 'vUnCom')) ?? '',
    discount: money(value(prod, 'vDesc')) ?? '',
    total: money(value(prod, 'vProd')) ?? '',
    icms: {
      base: money(value(icms, 'vBC')) ?? '',
      rate: percent(value(icms, 'pICMS')) ?? '',
      value: money(value(icms, 'vICMS')) ?? '',
    },
    icmsSt: {
      base: money(value(icms, 'vBCST')) ?? '',
      rate: percent(value(icms, 'pICMSST')) ?? '',
      value: money(value(icms, 'vICMSST')) ?? '',
    },
    ipi: {
      base: money(value(ipi, 'vBC')) ?? '',
      rate: percent(value(ipi, 'pIPI')) ?? '',
      value: money(value(ipi, 'vIPI')) ?? '',
    },
    situationCode: csosn !== undefined ? 'CSOSN' : cst !== undefined ? 'CST' : undefined,
    imposto,
  }
}

/** The heading of the situations of these items: the CSOSN has its own, and a note with both codes says so (MOC NF-e 7.0, Anexo II, 3.2). */
export function situationTitle(items: readonly DanfeItem[]): string {
  const has = (code: DanfeItem['situationCode']) => items.some((item) => item.situationCode === code)
  if (!has('CSOSN')) return 'O/CST'
  return has('CST') ? 'O/CST/CSOSN' : 'O/CSOSN'
}

// The description, with the short codes of the item behind it; then infAdProd in its own lines; then what else tells the goods, in one run.
function description(det: XmlElement, prod: XmlElement | undefined): string[] {
  const codes: string[] = []
  const further: string[] = []
  const taxable = taxableUnit(prod)
  if (taxable) further.push(taxable)
  // The groups below are rare: one pass over the children decides whether any of them is there.
  for (const group of prod?.children ?? []) {
    const text = Object.hasOwn(details, group.name) ? details[group.name]!(group) : undefined
    if (text) further.push(text)
    const label = Object.hasOwn(shortCodes, group.name) ? shortCodes[group.name] : undefined
    if (label && group.text.trim()) codes.push(`[${label}${together}${group.text.trim()}]`)
  }
  const order = joined(`${together}ITEM${together}`, value(prod, 'xPed'), value(prod, 'nItemPed'))
  if (order) codes.push(`[PEDIDO${together}${order}]`)
  const reference = child(det, 'DFeReferenciado')
  if (reference) {
    further.push(
      joined(' ITEM ', `DF-E REFERENCIADO: ${value(reference, 'chaveAcesso') ?? ''}`, value(reference, 'nItem'))!,
    )
  }
  const lines = [joined(' ', value(prod, 'xProd'), ...codes) ?? '']
  for (const line of value(det, 'infAdProd')?.split(/\r\n|[\n\r]/) ?? []) lines.push(line.trim())
  if (further.length > 0) lines.push(further.join(' - '))
  return lines
}

/** A space at which no line breaks: a code stays beside its name. */
export const together = '\u00a0'

const shortCodes: Record<string, string> = { cBenef: 'CBENEF', nFCI: 'FCI', nRECOPI: 'RECOPI' }

// Both units appear, identified, when the taxable one differs (MOC NF-e 7.0, Anexo II, 3.1.7).
function taxableUnit(prod: XmlElement | undefined): string | undefined {
  const unit = value(prod, 'uTrib')
  const amount = quantity(value(prod, 'qTrib'))
  const price = quantity(value(prod, 'vUnTrib'))
  if (unit === undefined) return undefined
  const same =
    unit === value(prod, 'uCom') &&
    amount === quantity(value(prod, 'qCom')) &&
    price === quantity(value(prod, 'vUnCom'))
  return same ? undefined : `UNID. TRIBUTÁVEL: ${unit} QTD.: ${amount ?? ''} VALOR UNIT.: ${price ?? ''}`
}

function labelled(pairs: readonly (readonly [string, string | undefined])[]): string | undefined {
  const present = pairs.filter(([, text]) => text !== undefined)
  return present.length > 0 ? present.map(([label, text]) => `${label}: ${text}`).join(' ') : undefined
}

const details: Record<string, (group: XmlElement) => string | undefined> = {
  rastro: (group) =>
    labelled([
      ['LOTE', value(group, 'nLote')],
      ['QTD.', quantity(value(group, 'qLote'))],
      ['FAB.', date(value(group, 'dFab'))],
      ['VAL.', date(value(group, 'dVal'))],
      ['AGREG.', value(group, 'cAgreg')],
    ]),
  med: (group) =>
    labelled([
      ['LOTE', value(group, 'nLote')],
      ['QTD.', quantity(value(group, 'qLote'))],
      ['FAB.', date(value(group, 'dFab'))],
      ['VAL.', date(value(group, 'dVal'))],
      ['ANVISA', value(group, 'cProdANVISA')],
      ['ISENÇÃO', value(group, 'xMotivoIsencao')],
      ['PMC', money(value(group, 'vPMC'))],
    ]),
  veicProd: (group) =>
    labelled([
      ['CHASSI', value(group, 'chassi')],
      ['COR', joined(' - ', value(group, 'cCor'), value(group, 'xCor'))],
      ['MOTOR', value(group, 'nMotor')],
      ['ANO FAB./MOD.', joined('/', value(group, 'anoFab'), value(group, 'anoMod'))],
      ['COMB.', value(group, 'tpComb')],
      ['MARCA/MODELO', value(group, 'cMod')],
      ['SÉRIE', value(group, 'nSerie')],
    ]),
  comb: (group) =>
    labelled([
      ['ANP', joined(' - ', value(group, 'cProdANP'), value(group, 'descANP'))],
      ['CODIF', value(group, 'CODIF')],
      ['UF CONSUMO', value(group, 'UFCons')],
    ]),
  arma: (group) =>
    labelled([
      ['ARMA Nº DE SÉRIE', value(group, 'nSerie')],
      ['CANO', value(group, 'nCano')],
      ['DESCRIÇÃO', value(group, 'descr')],
    ]),
  DI: (group) =>
    labelled([
      ['DI', joined(' DE ', value(group, 'nDI'), date(value(group, 'dDI')))],
      ['DESEMBARAÇO', joined(' ', value(group, 'xLocDesemb'), value(group, 'UFDesemb'), date(value(group, 'dDesemb')))],
      ['ADIÇÕES', joined(', ', ...children(group, 'adi').map((adi) => value(adi, 'nAdicao')))],
      ['ADQUIRENTE', taxId(value(group, 'CNPJ'), value(group, 'CPF'))],
    ]),
  detExport: (group) =>
    labelled([
      ['DRAWBACK', value(group, 'nDraw')],
      ['RE', value(group, 'exportInd/nRE')],
      ['CHAVE EXPORTAÇÃO', value(group, 'exportInd/chNFe')],
      ['QTD. EXPORTADA', quantity(value(group, 'exportInd/qExport'))],
    ]),
}
