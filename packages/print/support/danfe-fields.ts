import { child, value, type XmlElement } from '@vigia/dfe/document'
import * as f from './fields.ts'
import type { Reading } from './sheet.ts'

// Fields that danfe.md (MOC NF-e 7.0, Anexo II; NT 2018.005; NT 2026.010) requires on the form,
// from infNFe on.

const freight: Record<string, string> = {
  0: '0 - Remetente',
  1: '1 - Destinatário',
  2: '2 - Terceiros',
  3: '3 - Próprio rem.',
  4: '4 - Próprio dest.',
  9: '9 - Sem frete',
}
const regime: Record<string, string> = {
  1: '1 - Simples Nacional',
  2: '2 - Simples Nacional, excesso de sublimite de receita bruta',
  3: '3 - Regime Normal',
  4: '4 - Simples Nacional - Microempreendedor Individual (MEI)',
}
// A CNPJ of zeros is that of a party abroad: blank.
const party: f.Format = (text) => (/^0+$/.test(text) ? '' : f.taxId(text))

const fields: f.ExpectedField[] = [
  ...['xBairro', 'xMun', 'UF'].map((name) => ({ path: `emit/enderEmit/${name}` })),
  { path: 'emit/xNome' },
  { path: 'emit/enderEmit/CEP', as: (text) => `CEP ${f.cep(text)}` },
  { path: 'emit/enderEmit/fone', as: (text) => `FONE ${f.phone(text)}` },
  { path: 'ide/nNF', as: (text) => `Nº ${f.number(text)}` },
  { path: 'ide/serie', as: (text) => `SÉRIE ${f.series(text)}` },
  { path: 'ide/tpNF', label: '' },
  { path: 'ide/natOp', label: 'NATUREZA DA OPERAÇÃO' },
  { path: 'emit/IE', label: 'INSCRIÇÃO ESTADUAL' },
  { path: 'emit/IEST', label: 'INSCRIÇÃO ESTADUAL DO SUBST. TRIBUT.' },
  { path: 'emit/CNPJ|CPF', label: 'CNPJ / CPF', as: f.taxId },
  { path: 'dest/xNome', label: 'NOME / RAZÃO SOCIAL' },
  { path: 'dest/CNPJ|CPF', label: 'CNPJ / CPF', as: party },
  { path: 'dest/idEstrangeiro', label: 'CNPJ / CPF' },
  { path: 'ide/dhEmi|dEmi', label: 'DATA DA EMISSÃO', as: f.date },
  { path: 'dest/enderDest/xBairro', label: 'BAIRRO / DISTRITO' },
  { path: 'dest/enderDest/CEP', label: 'CEP', as: f.cep },
  { path: 'dest/enderDest/fone', label: 'FONE / FAX', as: f.phone },
  { path: 'dest/enderDest/UF', label: 'UF' },
  { path: 'dest/IE', label: 'INSCRIÇÃO ESTADUAL' },
  { path: 'ide/dhSaiEnt|dSaiEnt', label: 'DATA DA SAÍDA/ENTRADA', as: f.date },
  { path: 'ide/hSaiEnt', label: 'HORA DA SAÍDA/ENTRADA' },
  { path: 'ide/dhSaiEnt', label: 'HORA DA SAÍDA/ENTRADA', as: f.time },
  // The addresses may stand in blocks or in the text.
  ...['xNome', 'xBairro', 'xMun', 'UF', 'IE'].map((name) => ({
    path: `retirada|entrega/${name}`,
  })),
  { path: 'retirada|entrega/CNPJ|CPF', as: party },
  { path: 'retirada|entrega/CEP', as: f.cep },
  { path: 'retirada|entrega/fone', as: f.phone },
  { path: 'cobr/fat/nFat' },
  ...['vOrig', 'vDesc', 'vLiq'].map((name) => ({ path: `cobr/fat/${name}`, as: f.money })),
  { path: 'transp/modFrete', label: 'FRETE POR CONTA', as: (text) => freight[text] ?? text },
  { path: 'transp/transporta/xNome', label: 'RAZÃO SOCIAL' },
  { path: 'transp/transporta/CNPJ|CPF', label: 'CNPJ / CPF', as: party },
  { path: 'transp/transporta/xEnder', label: 'ENDEREÇO' },
  { path: 'transp/transporta/xMun', label: 'MUNICÍPIO' },
  { path: 'transp/transporta/UF', label: 'UF' },
  { path: 'transp/transporta/IE', label: 'INSCRIÇÃO ESTADUAL' },
  { path: 'transp/veicTransp/placa', label: 'PLACA DO VEÍCULO' },
  { path: 'transp/veicTransp/UF', label: 'UF' },
  { path: 'transp/veicTransp/RNTC', label: 'CÓDIGO ANTT' },
  ...['reboque/placa', 'reboque/UF', 'reboque/RNTC', 'vagao', 'balsa', 'vol/lacres/nLacre'].map((name) => ({
    path: `transp/${name}`,
  })),
  // Volumes may stand in rows or in the text.
  { path: 'transp/vol/qVol', as: (text) => `QUANTIDADE ${text}` },
  { path: 'transp/vol/esp', as: (text) => `ESPÉCIE ${text}` },
  { path: 'transp/vol/marca', as: (text) => `MARCA ${text}` },
  { path: 'transp/vol/nVol', as: (text) => `NUMERAÇÃO ${text}` },
  ...['pesoL', 'pesoB'].map((name) => ({ path: `transp/vol/${name}`, as: f.weight })),
  { path: 'infAdic/infAdFisco' },
  // A semicolon is a new line.
  { path: 'infAdic/infCpl', as: (text) => text.replaceAll(';', ' ') },
  { path: 'infAdic/obsCont/xTexto' },
  { path: 'ide/dhCont', as: f.moment },
  { path: 'ide/xJust' },
  { path: 'ide/NFref/refNFe|refNFeSig|refCTe' },
  { path: 'ide/NFref/refNF|refNFP/nNF', as: f.number },
  { path: 'ide/gPagAntecipado/refNFe' },
  ...['compra/xNEmp', 'compra/xPed', 'compra/xCont', 'exporta/UFSaidaPais', 'exporta/UFEmbarq'].map((path) => ({
    path,
  })),
  ...['exporta/xLocExporta', 'exporta/xLocEmbarq', 'exporta/xLocDespacho'].map((path) => ({ path })),
]

const amounts = (path: string, boxes: Record<string, string>): f.ExpectedField[] =>
  Object.entries(boxes).map(([name, label]) => ({ path: `${path}${name}`, label, as: f.money }))

const values = {
  vBC: 'BASE DE CÁLCULO DO ICMS',
  vICMS: 'VALOR DO ICMS',
  vBCST: 'BASE DE CÁLCULO DO ICMS ST',
  vST: 'VALOR DO ICMS ST',
  vProd: 'VALOR TOTAL DOS PRODUTOS',
  vFrete: 'VALOR DO FRETE',
  vSeg: 'VALOR DO SEGURO',
  vDesc: 'DESCONTO',
  vOutro: 'OUTRAS DESPESAS ACESSÓRIAS',
  vIPI: 'VALOR DO IPI',
  vNF: 'VALOR TOTAL DA NOTA',
  vTotTrib: 'VALOR APROX. DOS TRIBUTOS',
}
const services = amounts('total/ISSQNtot/', {
  vServ: 'VALOR TOTAL DOS SERVIÇOS',
  vBC: 'BASE DE CÁLCULO DO ISSQN',
  vISS: 'VALOR DO ISSQN',
})
const totals = [...amounts('total/ICMSTot/', values), ...services]
const newTotals = [
  ...amounts('total/IBSCBSTot/', {
    'gCBS/vCBS': 'VALOR DA CBS',
    'gIBS/gIBSUF/vIBSUF': 'VALOR DO IBS UF',
    'gIBS/gIBSMun/vIBSMun': 'VALOR DO IBS MUNICÍPIO',
    'gMono/vIBSMono': 'VALOR DO IBS MONOFÁSICO',
    'gMono/vCBSMono': 'VALOR DA CBS MONOFÁSICA',
    'gMono/vIBSMonoReten': 'VALOR DO IBS MONOF. POR RETENÇÃO',
    'gMono/vCBSMonoReten': 'VALOR DA CBS MONOF. POR RETENÇÃO',
  }),
  ...amounts('total/', { 'ISTot/vIS': 'VALOR DO IMPOSTO SELETIVO' }),
]
// Shown when not zero; the text of the issuer may say them instead of a box.
const rare = [
  ...['vFCP', 'vFCPST', 'vICMSUFDest', 'vFCPUFDest', 'vICMSMono', 'vICMSMonoReten', 'vII', 'vPIS', 'vCOFINS'],
  ...['vICMSDeson', 'vIPIDevol', 'vFCPSTRet', 'vICMSUFRemet', 'vICMSMonoRet'],
]

/** Fields of an NF-e missing on its DANFE, and texts without a source; a sentence each. */
export function danfeFaults(infNFe: XmlElement, protocol: XmlElement | undefined, reading: Reading): string[] {
  const emitted = value(infNFe, 'ide/dhEmi') ?? value(infNFe, 'ide/dEmi') ?? ''
  const taxed = f.elements(infNFe, 'total/IBSCBSTot').length + f.elements(infNFe, 'det/imposto/IBSCBS').length > 0
  const newTaxes = taxed || emitted.slice(0, 10) >= '2026-12-01'
  const dest = child(infNFe, 'dest')
  const address = child(dest, 'enderDest')
  const abroad = value(address, 'UF') === 'EX' || value(dest, 'idEstrangeiro') !== undefined
  const boxes: [string, string][] = []
  const add = (label: string, shown: string) => {
    if (shown !== '') boxes.push([label, shown])
  }
  add('ENDEREÇO', f.street(address))
  add('MUNICÍPIO', [value(address, 'xMun'), abroad ? value(address, 'xPais') : undefined].filter(Boolean).join(' - '))
  const denied = ['110', '205', '301', '302', '303'].includes(value(protocol, 'cStat') ?? '')
  const answer = value(protocol, 'nProt')
  const received = value(protocol, 'dhRecbto')
  if (answer) {
    const label = denied ? 'PROTOCOLO DE DENEGAÇÃO DE USO' : 'PROTOCOLO DE AUTORIZAÇÃO DE USO'
    add(label, received ? `${answer} - ${f.moment(received)}` : answer)
  }
  if (newTaxes) add('CÓDIGO DO REGIME TRIBUTÁRIO', regime[value(infNFe, 'emit/CRT') ?? ''] ?? '')
  const whole = value(infNFe, 'total/vNFTot')
  if (newTaxes && whole && whole !== value(infNFe, 'total/ICMSTot/vNF'))
    add('VALOR TOTAL COM IBS/CBS/IS', f.money(whole))
  const own = [...fields, ...totals, ...(newTaxes ? newTotals : [])]
  if (child(infNFe, 'total/ISSQNtot')) own.push({ path: 'emit/IM', label: 'INSCRIÇÃO MUNICIPAL' })
  const shownRarely = rare
    .filter((name) => /[1-9]/.test(value(infNFe, `total/ICMSTot/${name}`) ?? ''))
    .map((name): f.ExpectedField => ({ path: `total/ICMSTot/${name}`, as: f.money }))
  const bills = f.elements(infNFe, 'cobr/dup').flatMap((dup) => {
    const day = value(dup, 'dVenc')
    const parts = [value(dup, 'nDup'), day && f.date(day), f.money(value(dup, 'vDup') ?? '0')]
    return f.composed('ide/nNF', parts.filter(Boolean).join(' '))
  })
  const streets = f
    .elements(infNFe, 'emit/enderEmit')
    .concat(f.elements(infNFe, 'retirada|entrega'))
    .flatMap((place) => f.composed('ide/nNF', f.street(place)))
  return [
    ...f.missingFields(infNFe, [...own, ...shownRarely, ...bills, ...streets], reading),
    ...f.missingBoxes(boxes, reading),
    ...f.inventedFields(infNFe, newTaxes ? [...totals, ...newTotals] : totals, reading),
    ...f.missingRows(
      f.elements(infNFe, 'det').map((det) => itemTexts(det, newTaxes)),
      reading,
    ),
  ]
}

// Everything of an item stands in its row.
function itemTexts(det: XmlElement, newTaxes: boolean): string[] {
  const icms = child(det, 'imposto/ICMS')?.children[0]
  const ipi = child(det, 'imposto/IPI/IPITrib')
  const prod = child(det, 'prod')
  const shown = (node: XmlElement | undefined, as: f.Format, ...paths: string[]) =>
    paths.flatMap((path) => f.texts(node, path)).map(as)
  const unit = ['uTrib', 'qTrib', 'vUnTrib'].map((name) => value(prod, name))
  const sale = ['uCom', 'qCom', 'vUnCom'].map((name) => value(prod, name))
  const plain = (texts: (string | undefined)[]) =>
    texts.map((text, i) => (i > 0 && text ? f.quantity(text) : text)).join()
  return [
    ...shown(prod, f.asIs, 'cProd', 'xProd', 'NCM', 'CFOP', 'uCom', 'cBenef', 'nFCI', 'xPed', 'nRECOPI'),
    ...shown(prod, f.quantity, 'qCom', 'vUnCom'),
    ...shown(prod, f.money, 'vDesc', 'vProd'),
    ...(unit[0] !== undefined && plain(unit) !== plain(sale)
      ? [`TRIBUTÁVEL: ${unit[0]} `, ...shown(prod, f.quantity, 'qTrib', 'vUnTrib')]
      : []),
    (value(icms, 'orig') ?? '') + (value(icms, 'CSOSN') ?? value(icms, 'CST') ?? ''),
    ...shown(icms, f.money, 'vBC', 'vICMS', 'vBCST', 'vICMSST'),
    ...shown(icms, f.quantity, 'pICMS'),
    ...shown(ipi, f.money, 'vIPI'),
    ...shown(ipi, f.quantity, 'pIPI'),
    ...(value(det, 'infAdProd') ?? '').split(/\s+/),
    ...shown(
      prod,
      f.asIs,
      'rastro/nLote',
      'med/nLote',
      'med/cProdANVISA',
      'veicProd/chassi',
      'comb/cProdANP',
      'DI/nDI',
    ),
    ...shown(prod, f.date, 'rastro/dFab', 'rastro/dVal', 'DI/dDI'),
    ...(newTaxes ? newTaxTexts(det) : []),
  ]
}

// NT 2026.010, 4.3: the effective rate where a tax has its own reduction.
function newTaxTexts(det: XmlElement): string[] {
  const ibscbs = child(det, 'imposto/IBSCBS')
  const group = child(ibscbs, 'gIBSCBS')
  const rate = (name: string, own: string) => value(group, `${name}/gRed/pAliqEfet`) ?? value(group, `${name}/${own}`)
  const rates = [
    rate('gIBSUF', 'pIBSUF'),
    rate('gIBSMun', 'pIBSMun'),
    rate('gCBS', 'pCBS'),
    value(det, 'imposto/IS/pIS'),
  ]
  const paths = ['imposto/IBSCBS/gIBSCBS/vBC', 'imposto/IBSCBS/gIBSCBS/*/vIBSUF|vIBSMun|vCBS', 'imposto/IS/vBCIS|vIS']
  const codes = [value(ibscbs, 'cClassTrib')].flatMap((text) => (text ? [`[cClassTrib ${text}]`] : []))
  return [
    ...codes,
    ...rates.flatMap((text) => (text ? [f.quantity(text)] : [])),
    ...paths.flatMap((path) => f.texts(det, path)).map(f.money),
  ]
}
