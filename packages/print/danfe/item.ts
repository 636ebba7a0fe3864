import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { date, joined, money, percent, quantity, taxId } from '../formats.ts'

/** The printed texts of one det in the product table. */
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
  /** Kind of situation code, when the item has one. */
  situationCode: 'CST' | 'CSOSN' | undefined
  imposto: XmlElement | undefined
}

/** Reads one det (MOC NF-e 7.0, Anexo II, 3.1.7 and 3.8). Groups without base and value leave their columns blank. */
export function readItem(det: XmlElement): DanfeItem {
  const imposto = child(det, 'imposto')
  const own = readTexts(child(det, 'prod'), prodFields)
  const [cProd, , NCM, CFOP, uCom, qCom, vUnCom, vProd, , , , vDesc] = own.texts
  const [orig, CST, CSOSN, vBC, pICMS, vICMS, vBCST, pICMSST, vICMSST] = readTexts(
    child(imposto, 'ICMS')?.children[0],
    icmsFields,
  ).texts
  const ipi = readTexts(child(imposto, 'IPI/IPITrib'), ipiFields).texts
  return {
    code: cProd ?? '',
    description: description(det, own),
    ncm: NCM ?? '',
    situation: (orig ?? '') + (CSOSN ?? CST ?? ''),
    cfop: CFOP ?? '',
    unit: uCom ?? '',
    quantity: quantity(qCom) ?? '',
    unitValue: quantity(vUnCom) ?? '',
    discount: money(vDesc) ?? '',
    total: money(vProd) ?? '',
    icms: { base: money(vBC) ?? '', rate: percent(pICMS) ?? '', value: money(vICMS) ?? '' },
    icmsSt: { base: money(vBCST) ?? '', rate: percent(pICMSST) ?? '', value: money(vICMSST) ?? '' },
    ipi: { base: money(ipi[0]) ?? '', rate: percent(ipi[1]) ?? '', value: money(ipi[2]) ?? '' },
    situationCode: CSOSN !== undefined ? 'CSOSN' : CST !== undefined ? 'CST' : undefined,
    imposto,
  }
}

/** Texts of the listed fields of a group, as `value` returns them, and its other elements. */
interface GroupTexts {
  texts: (string | undefined)[]
  others: XmlElement[]
}

// One pass: a look for each field would go over the group as often as it has fields.
function readTexts(group: XmlElement | undefined, fields: ReadonlyMap<string, number>): GroupTexts {
  const texts = new Array<string | undefined>(fields.size).fill(undefined)
  const others: XmlElement[] = []
  for (const element of group?.children ?? []) {
    const place = fields.get(element.name)
    if (place === undefined) others.push(element)
    else texts[place] ??= element.text.trim()
  }
  for (let place = 0; place < texts.length; place++) if (texts[place] === '') texts[place] = undefined
  return { texts, others }
}

function placesOf(...names: string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, place) => [name, place]))
}

// Fields after vDesc are read, but not printed.
const prodFields = placesOf(
  ...['cProd', 'xProd', 'NCM', 'CFOP', 'uCom', 'qCom', 'vUnCom', 'vProd', 'uTrib', 'qTrib', 'vUnTrib', 'vDesc'],
  ...['cEAN', 'cEANTrib', 'CEST', 'EXTIPI', 'vFrete', 'vSeg', 'vOutro', 'indTot'],
)
const icmsFields = placesOf('orig', 'CST', 'CSOSN', 'vBC', 'pICMS', 'vICMS', 'vBCST', 'pICMSST', 'vICMSST')
const ipiFields = placesOf('vBC', 'pIPI', 'vIPI')

/** Heading of the situation codes; mixed notes name CST and CSOSN (MOC NF-e 7.0, Anexo II, 3.2). */
export function situationTitle(items: readonly DanfeItem[]): string {
  const has = (code: DanfeItem['situationCode']) => items.some((item) => item.situationCode === code)
  if (!has('CSOSN')) return 'O/CST'
  return has('CST') ? 'O/CST/CSOSN' : 'O/CSOSN'
}

// The description with the item's short codes, infAdProd in lines of its own, then other details.
function description(det: XmlElement, { texts, others }: GroupTexts): string[] {
  const codes: string[] = []
  const further: string[] = []
  const taxable = taxableUnit(texts)
  if (taxable) further.push(taxable)
  for (const group of others) {
    const text = Object.hasOwn(details, group.name) ? details[group.name]!(group) : undefined
    if (text) further.push(text)
    const label = Object.hasOwn(shortCodes, group.name) ? shortCodes[group.name] : undefined
    if (label && group.text.trim()) codes.push(`[${label}${together}${group.text.trim()}]`)
  }
  const order = others.length > 0 && orderOf(others)
  if (order) codes.push(`[PEDIDO${together}${order}]`)
  const reference = child(det, 'DFeReferenciado')
  if (reference) {
    further.push(
      joined(' ITEM ', `DF-E REFERENCIADO: ${value(reference, 'chaveAcesso') ?? ''}`, value(reference, 'nItem'))!,
    )
  }
  const [, xProd] = texts
  const lines = [joined(' ', xProd, ...codes) ?? '']
  const words = value(det, 'infAdProd')
  if (words !== undefined) for (const line of words.split(/\r\n|[\n\r]/)) lines.push(line.trim())
  if (further.length > 0) lines.push(further.join(' - '))
  return lines
}

function orderOf(others: readonly XmlElement[]): string | undefined {
  const text = (name: string) => others.find((element) => element.name === name)?.text.trim()
  return joined(`${together}ITEM${together}`, text('xPed'), text('nItemPed'))
}

/** A space at which no line breaks: a code stays beside its name. */
export const together = '\u00a0'

const shortCodes: Record<string, string> = { cBenef: 'CBENEF', nFCI: 'FCI', nRECOPI: 'RECOPI' }

// Both units appear, identified, when the taxable one differs (MOC NF-e 7.0, Anexo II, 3.1.7).
function taxableUnit([, , , , uCom, qCom, vUnCom, , uTrib, qTrib, vUnTrib]: GroupTexts['texts']): string | undefined {
  if (uTrib === undefined) return undefined
  const same = (one: string | undefined, other: string | undefined) =>
    one === other || quantity(one) === quantity(other)
  if (uTrib === uCom && same(qTrib, qCom) && same(vUnTrib, vUnCom)) return undefined
  return `UNID. TRIBUTÁVEL: ${uTrib} QTD.: ${quantity(qTrib) ?? ''} VALOR UNIT.: ${quantity(vUnTrib) ?? ''}`
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
