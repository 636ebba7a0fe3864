import { child, value, type XmlElement } from '@vigia/dfe/document'
import * as f from './fields.ts'
import { type Reading, squeeze } from './sheet.ts'

// Fields that dacte.md (MOC CT-e 4.00, Anexo II, correlation table) requires, from infCte on.

const party: f.Format = (text) => (/^0+$/.test(text) ? '' : f.taxId(text))
const worded =
  (words: Record<string, string>): f.Format =>
  (text) =>
    text in words ? `${text} - ${words[text]}` : text
const word =
  (words: Record<string, string>): f.Format =>
  (text) =>
    words[text] ?? text

const kinds = {
  ...{ 0: 'Normal', 1: 'Complemento de valores', 2: 'Anulação', 3: 'Substituição', 4: 'GTV-e', 5: 'Simplificado' },
  6: 'Substituição simplificado',
}
const services = {
  ...{ 0: 'Normal', 1: 'Subcontratação', 2: 'Redespacho', 3: 'Redespacho intermediário' },
  ...{ 4: 'Serviço vinculado a multimodal', 6: 'Transporte de pessoas', 7: 'Transporte de valores' },
  ...{ 8: 'Excesso de bagagem', 9: 'GTV' },
}
const ways = {
  ...{ '01': 'RODOVIÁRIO', '02': 'AÉREO', '03': 'AQUAVIÁRIO', '04': 'FERROVIÁRIO', '05': 'DUTOVIÁRIO' },
  '06': 'MULTIMODAL',
}
const units: Record<string, string> = {
  '00': 'm³',
  '01': 'kg',
  '02': 't',
  '03': 'unidade',
  '04': 'litros',
  '05': 'MMBTU',
}
const coded: Record<string, string> = {
  ...{ '00': 'CUBAGEM DA NF-E', '01': 'CUBAGEM AFERIDA PELO TRANSPORTADOR', '02': 'PESO BRUTO DA NF-E' },
  ...{ '03': 'PESO BRUTO AFERIDO PELO TRANSPORTADOR', '04': 'PESO CUBADO', '05': 'PESO BASE DO CÁLCULO DO FRETE' },
  ...{ '06': 'PESO PARA USO OPERACIONAL', '07': 'CAIXAS', '08': 'PALETES' },
}
const railway = { 1: 'Ferrovia de origem', 2: 'Ferrovia de destino' }

const people = [
  ['rem', 'enderReme', 'REMETENTE'],
  ['dest', 'enderDest', 'DESTINATÁRIO'],
  ['exped', 'enderExped', 'EXPEDIDOR'],
  ['receb', 'enderReceb', 'RECEBEDOR'],
] as const

const fields: f.ExpectedField[] = [
  { path: 'emit/xNome' },
  { path: 'emit/CNPJ|CPF', as: (text) => `CNPJ/CPF ${f.taxId(text)}` },
  { path: 'emit/IE', as: (text) => `INSCRIÇÃO ESTADUAL ${text}` },
  { path: 'emit/IEST' },
  ...['xBairro', 'xMun', 'UF'].map((name) => ({ path: `emit/enderEmit/${name}` })),
  { path: 'emit/enderEmit/CEP', as: (text) => `CEP ${f.cep(text)}` },
  { path: 'emit/enderEmit/fone', as: (text) => `FONE ${f.phone(text)}` },
  { path: 'ide/modal', label: 'MODAL', as: word(ways) },
  { path: 'ide/mod', label: 'MODELO' },
  { path: 'ide/serie', label: 'SÉRIE', as: f.series },
  { path: 'ide/nCT', label: 'NÚMERO', as: f.number },
  { path: 'ide/dhEmi', label: 'DATA E HORA DE EMISSÃO', as: f.moment },
  { path: 'dest/ISUF', label: 'SUFRAMA DO DEST.' },
  { path: 'ide/tpCTe', label: 'TIPO DO CT-E', as: worded(kinds) },
  { path: 'ide/tpServ', label: 'TIPO DO SERVIÇO', as: worded(services) },
  { path: 'infCTeNorm/infGlobalizado/xObs', label: 'INFORMAÇÕES DO CT-E GLOBALIZADO' },
  { path: 'ide/dhSaidaOrig', label: 'SAÍDA DA ORIGEM', as: f.moment },
  { path: 'ide/dhChegadaDest', label: 'CHEGADA AO DESTINO', as: f.moment },
  { path: 'ide/infPercurso/UFPer' },
  ...people.flatMap(([group, address, label]): f.ExpectedField[] => [
    { path: `${group}/xNome`, inside: label },
    { path: `${group}/CNPJ|CPF`, as: party, inside: label },
    { path: `${group}/IE`, inside: label },
    { path: `${group}/fone`, as: f.phone, inside: label },
    ...['xBairro', 'xMun', 'UF', 'xPais'].map((name) => ({
      path: `${group}/${address}/${name}`,
      inside: label,
    })),
    { path: `${group}/${address}/CEP`, as: f.cep, inside: label },
  ]),
  ...['xBairro', 'xMun', 'UF'].map((name) => ({ path: `origem|destino/${name}` })),
  { path: 'origem|destino/CEP', as: f.cep },
  { path: 'infCTeNorm/infServico/xDescServ', label: 'DESCRIÇÃO DO SERVIÇO PRESTADO' },
  { path: 'infCTeNorm/infServico/infQ/qCarga', label: 'QUANTIDADE', as: f.quantity },
  { path: 'detGTV/infEspecie/vEspecie', as: f.money },
  { path: 'detGTV/qCarga', label: 'QUANTIDADE DE VOLUMES / MALOTES', as: f.quantity },
  ...['placa', 'UF', 'RNTRC'].map((name) => ({ path: `detGTV/infVeiculo/${name}` })),
  { path: 'vPrest/vTPrest', label: 'VALOR TOTAL DO SERVIÇO', as: f.money },
  { path: 'vPrest/vRec', label: 'VALOR A RECEBER', as: f.money },
  { path: 'total/vTPrest', label: 'VALOR TOTAL DO SERVIÇO', as: f.money },
  { path: 'total/vTRec', label: 'VALOR A RECEBER', as: f.money },
  { path: 'imp/vTotTrib', label: 'VALOR APROX. TRIBUTOS', as: f.money },
  { path: 'imp/infAdFisco' },
  ...['vBCUFFim', 'vICMSUFFim', 'vICMSUFIni', 'vFCPUFFim'].map((name) => ({
    path: `imp/ICMSUFFim/${name}`,
    as: f.money,
  })),
  ...['pFCPUFFim', 'pICMSUFFim', 'pICMSInter'].map((name) => ({ path: `imp/ICMSUFFim/${name}`, as: f.quantity })),
  ...Object.entries({ vPIS: 'DO PIS', vCOFINS: 'DA COFINS', vIR: 'DO IR', vINSS: 'DO INSS', vCSLL: 'DA CSLL' }).map(
    ([name, of]) => ({ path: `imp/infTribFed/${name}`, label: `VALOR ${of}`, as: f.money }),
  ),
  { path: 'imp/IBSCBS/gIBSCBS/vBC', label: 'BASE DE CÁLCULO IBS/CBS', as: f.money },
  ...['infCteComp', 'infCTeComp'].map((name) => ({ path: `${name}/chCTe|chave`, as: f.groups })),
  ...['infCteSub/chCte', 'infCteSub/chCTe', 'infServVinc/infCTeMultimodal/chCTeMultimodal'].map((name) => ({
    path: `infCTeNorm/${name}`,
  })),
  { path: 'infCteSub/chCTe' },
  { path: 'infCteAnu/chCte' },
  { path: 'infCTeNorm/infDoc/infNFe|infDCe/chave' },
  { path: 'infCTeNorm/infDoc/infNF|infOutros/nDoc' },
  { path: 'infCTeNorm/infDoc/infNF|infOutros/dEmi', as: f.date },
  { path: 'infCTeNorm/infDoc/infOutros/descOutros' },
  { path: 'infCTeNorm/docAnt/emiDocAnt/xNome' },
  { path: 'infCTeNorm/docAnt/emiDocAnt/idDocAnt/idDocAntEle/chCTe|chave' },
  { path: 'infCTeNorm/docAnt/emiDocAnt/idDocAnt/idDocAntPap/nDoc' },
  { path: 'infCTeNorm/infDocRef/nDoc' },
  { path: 'infCTeNorm/infDocRef/dEmi', as: f.date },
  { path: 'infCTeNorm/infDocRef/chBPe' },
  { path: 'infCTeNorm/infGTVe/chCTe' },
  ...['xOrig', 'pass/xPass', 'xDest', 'xRota'].map((name) => ({ path: `compl/fluxo/${name}` })),
  ...['xObs', 'xCaracAd', 'xCaracSer', 'xEmi', 'origCalc', 'destCalc'].map((name) => ({ path: `compl/${name}` })),
  ...['comData/dProg', 'noPeriodo/dIni', 'noPeriodo/dFim'].map((name) => ({
    path: `compl/Entrega/${name}`,
    as: f.date,
  })),
  ...['comHora/hProg', 'noInter/hIni', 'noInter/hFim'].map((name) => ({ path: `compl/Entrega/${name}` })),
  { path: 'compl/ObsCont/xTexto' },
  { path: 'compl/ObsFisco/xTexto' },
  { path: 'ide/xDetRetira' },
  { path: 'ide/dhCont', as: f.moment },
  { path: 'ide/xJust' },
  { path: 'infCTeNorm/cobr/fat/nFat' },
  ...['fat/vOrig', 'fat/vDesc', 'fat/vLiq', 'dup/vDup'].map((name) => ({
    path: `infCTeNorm/cobr/${name}`,
    as: f.money,
  })),
  { path: 'infCTeNorm/cobr/dup/nDup' },
  { path: 'infCTeNorm/cobr/dup/dVenc', as: f.date },
  { path: 'infCTeNorm/seg/xSeg' },
  { path: 'infCTeNorm/seg/nApol' },
  ...['chassi', 'cCor', 'xCor', 'cMod'].map((name) => ({ path: `infCTeNorm/veicNovos/${name}` })),
  ...['vUnit', 'vFrete'].map((name) => ({ path: `infCTeNorm/veicNovos/${name}`, as: f.money })),
]

// Under infCarga and infModal, which are in infCTeNorm or, in a Simplificado, in infCte.
const carried: f.ExpectedField[] = [
  { path: 'infCarga/proPred', label: 'PRODUTO PREDOMINANTE' },
  { path: 'infCarga/xOutCat', label: 'OUTRAS CARACTERÍSTICAS DA CARGA' },
  { path: 'infCarga/vCarga|vMerc', label: 'VALOR TOTAL DA CARGA', as: f.money },
  { path: 'infModal/rodo/RNTRC', label: 'RNTRC DA EMPRESA' },
  ...['nOcc|nOCC', 'emiOcc/IE', 'emiOcc/UF'].map((name) => ({ path: `infModal/rodo/occ/${name}` })),
  { path: 'infModal/rodo/occ/dEmi', as: f.date },
  { path: 'infModal/rodo/occ/emiOcc/CNPJ', as: f.taxId },
  { path: 'infModal/rodo/occ/emiOcc/fone', as: f.phone },
  ...['veic/placa', 'moto/xNome', 'CIOT'].map((name) => ({ path: `infModal/rodo/${name}` })),
  { path: 'infModal/rodo/dPrev', as: f.date },
  { path: 'infModal/rodoOS/TAF', label: 'TERMO DE AUTORIZAÇÃO DE FRETAMENTO (TAF)' },
  { path: 'infModal/rodoOS/NroRegEstadual', label: 'Nº DE REGISTRO ESTADUAL' },
  { path: 'infModal/rodoOS/veic/RENAVAM', label: 'RENAVAM' },
  { path: 'infModal/rodoOS/veic/placa' },
  { path: 'infModal/aereo/nOCA', label: 'NÚMERO OPERACIONAL DO CONHEC. AÉREO' },
  { path: 'infModal/aereo/nMinu', label: 'NÚMERO DA MINUTA' },
  { path: 'infModal/aereo/dPrevAereo', label: 'DATA PREVISTA DA ENTREGA', as: f.date },
  {
    path: 'infModal/aereo/tarifa/CL',
    label: 'CLASSE DA TARIFA',
    as: worded({ M: 'Tarifa mínima', G: 'Tarifa geral', E: 'Tarifa específica' }),
  },
  { path: 'infModal/aereo/tarifa/cTar', label: 'CÓDIGO DA TARIFA' },
  { path: 'infModal/aereo/tarifa/vTar', label: 'VALOR DA TARIFA', as: f.money },
  { path: 'infModal/aereo/natCarga/xDime', label: 'DIMENSÃO (CM)' },
  { path: 'infModal/aereo/natCarga/cInfManu', as: (text) => `${text} - ` },
  { path: 'infModal/aereo/peri/nONU', as: (text) => `Nº ONU ${text}` },
  { path: 'infModal/aereo/peri/qTotEmb', as: (text) => `EMBALAGENS ${text}` },
  { path: 'infModal/aereo/peri/infTotAP/qTotProd', as: (text) => `QUANTIDADE TOTAL ${f.quantity(text)}` },
  { path: 'infModal/aquav/xNavio', label: 'IDENTIFICAÇÃO DO NAVIO / REBOCADOR' },
  { path: 'infModal/aquav/balsa/xBalsa', inside: squeeze('IDENTIFICAÇÃO DA(S) BALSA(S)') },
  { path: 'infModal/aquav/nViag', label: 'VIAGEM' },
  { path: 'infModal/aquav/direc', label: 'DIREÇÃO', as: word({ N: 'Norte', L: 'Leste', S: 'Sul', O: 'Oeste' }) },
  { path: 'infModal/aquav/irin', label: 'IRIN' },
  { path: 'infModal/aquav/tpNav', label: 'TIPO DE NAVEGAÇÃO', as: word({ 0: 'Interior', 1: 'Cabotagem' }) },
  { path: 'infModal/aquav/vPrest', label: 'VALOR DA BASE DE CÁLCULO DO AFRMM', as: f.money },
  { path: 'infModal/aquav/vAFRMM', label: 'VALOR DO AFRMM', as: f.money },
  ...['nCont', 'lacre/nLacre', 'infDoc/infNFe/chave', 'infDoc/infNF/nDoc'].map((name) => ({
    path: `infModal/aquav/detCont/${name}`,
  })),
  {
    path: 'infModal/ferrov/tpTraf',
    label: 'TIPO DE TRÁFEGO',
    as: word({ 0: 'Próprio', 1: 'Mútuo', 2: 'Rodoferroviário', 3: 'Rodoviário' }),
  },
  { path: 'infModal/ferrov/fluxo', label: 'FLUXO FERROVIÁRIO' },
  { path: 'infModal/ferrov/trafMut/vFrete', label: 'VALOR DO FRETE', as: f.money },
  { path: 'infModal/ferrov/trafMut/respFat', label: 'RESPONSÁVEL PELO FATURAMENTO', as: word(railway) },
  { path: 'infModal/ferrov/trafMut/ferrEmi', label: 'FERROVIA EMITENTE DO CT-E', as: word(railway) },
  { path: 'infModal/ferrov/trafMut/chCTeFerroOrigem' },
  ...['xNome', 'IE', 'cInt'].map((name) => ({ path: `infModal/ferrov/trafMut/ferroEnv/${name}` })),
  { path: 'infModal/ferrov/trafMut/ferroEnv/CNPJ', as: f.taxId },
  { path: 'infModal/duto/vTar', label: 'VALOR DA TARIFA', as: f.quantity },
  { path: 'infModal/duto/dIni', label: 'DATA DE INÍCIO DA PRESTAÇÃO', as: f.date },
  { path: 'infModal/duto/dFim', label: 'DATA DE FIM DA PRESTAÇÃO', as: f.date },
  {
    path: 'infModal/duto/classDuto',
    label: 'CLASSIFICAÇÃO DO DUTO',
    as: word({ 1: 'Gasoduto', 2: 'Mineroduto', 3: 'Oleoduto' }),
  },
  {
    path: 'infModal/duto/tpContratacao',
    label: 'TIPO DE CONTRATAÇÃO',
    as: word({ 0: 'Ponta a ponta', 1: 'Capacidade de entrada', 2: 'Capacidade de saída' }),
  },
  { path: 'infModal/duto/codPontoEntrada', label: 'PONTO DE ENTRADA' },
  { path: 'infModal/duto/codPontoSaida', label: 'PONTO DE SAÍDA' },
  { path: 'infModal/duto/nContrato', label: 'NÚMERO DO CONTRATO' },
  { path: 'infModal/multimodal/COTM', label: 'Nº DO CERTIFICADO DO OPERADOR DE TRANSPORTE MULTIMODAL' },
  {
    path: 'infModal/multimodal/indNegociavel',
    label: 'INDICADOR NEGOCIÁVEL',
    as: word({ 0: '[  ] SIM   [X] NÃO', 1: '[X] SIM   [  ] NÃO' }),
  },
  { path: 'infModal/multimodal/seg/infSeg/xSeg', label: 'NOME DA SEGURADORA' },
  { path: 'infModal/multimodal/seg/infSeg/CNPJ', label: 'CNPJ DA SEGURADORA', as: f.taxId },
  { path: 'infModal/multimodal/seg/nApol', label: 'NÚMERO DA APÓLICE' },
  { path: 'infModal/multimodal/seg/nAver', label: 'NÚMERO DA AVERBAÇÃO' },
]

const situations: Record<string, string> = {
  ICMS00: '00 - tributação normal ICMS',
  ICMS20: '20 - tributação com BC reduzida do ICMS',
  ICMS60: '60 - ICMS cobrado anteriormente por substituição tributária',
  ICMS90: '90 - outros',
  ICMSOutraUF: '90 - ICMS devido à UF de origem da prestação, quando diferente da UF do emitente',
  ICMSSN: 'Simples Nacional',
}
const exempt: Record<string, string> = {
  40: '40 - ICMS isenção',
  41: '41 - ICMS não tributada',
  51: '51 - ICMS diferido',
}

// Each element of an ICMS group has one box; never vICMS in that of the substitution.
const icmsBoxes: Record<string, [string, f.Format]> = {
  vBC: ['BASE DE CÁLCULO', f.money],
  vBCSTRet: ['BASE DE CÁLCULO', f.money],
  vBCOutraUF: ['BASE DE CÁLCULO', f.money],
  pICMS: ['ALÍQ. ICMS', f.quantity],
  pICMSSTRet: ['ALÍQ. ICMS', f.quantity],
  pICMSOutraUF: ['ALÍQ. ICMS', f.quantity],
  vICMS: ['VALOR ICMS', f.money],
  vICMSOutraUF: ['VALOR ICMS', f.money],
  pRedBC: ['% RED. BC ICMS', f.quantity],
  pRedBCOutraUF: ['% RED. BC ICMS', f.quantity],
  vICMSSTRet: ['ICMS ST', f.money],
}

/**
 * Differences between a CT-e and its DACTE: missing fields and texts without a source, a sentence
 * each. `document` is the element around infCte.
 */
export function dacteFaults(document: XmlElement, protocol: XmlElement | undefined, reading: Reading): string[] {
  const infCte = child(document, 'infCte')!
  const norm = child(infCte, 'infCTeNorm') ?? infCte
  const boxes: [string, string][] = []
  const add = (label: string, ...parts: (string | undefined)[]) => {
    const shown = parts.filter((part) => part)
    if (shown.length > 0) boxes.push([label, shown.join(' - ')])
  }
  const ide = child(infCte, 'ide')
  add('CFOP - NATUREZA DA PRESTAÇÃO', value(ide, 'CFOP'), value(ide, 'natOp'))
  add('INÍCIO DA PRESTAÇÃO', value(ide, 'xMunIni'), value(ide, 'UFIni'))
  add('TÉRMINO DA PRESTAÇÃO', value(ide, 'xMunFim'), value(ide, 'UFFim'))
  if (document.name === 'CTe') {
    const yes = value(ide, 'indGlobalizado') === '1'
    add('INDICADOR DO CT-E GLOBALIZADO', yes ? '[X] SIM   [  ] NÃO' : '[  ] SIM   [X] NÃO')
  }
  tomadorBoxes(infCte, document.name, add)
  const icms = child(infCte, 'imp/ICMS')?.children[0]
  if (icms) add('SITUAÇÃO TRIBUTÁRIA', exempt[value(icms, 'CST') ?? ''] ?? situations[icms.name])
  for (const element of icms?.children ?? []) {
    const [label, as] = icmsBoxes[element.name] ?? []
    if (label && as) add(label, as(element.text.trim()))
  }
  if (icms && !value(icms, 'vICMSSTRet')) boxes.push(['ICMS ST', ''])
  newTaxBoxes(child(infCte, 'imp/IBSCBS'), add)
  if (child(norm, 'infModal/aereo')) add('RETIRA', word({ 0: 'Sim', 1: 'Não' })(value(ide, 'retira') ?? ''))
  const number = value(protocol, 'nProt')
  const received = value(protocol, 'dhRecbto')
  const answer = number && (received ? `${number} - ${f.moment(received)}` : number)
  if (answer) {
    const first = value(ide, 'tpAmb') === '2' ? 'EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL' : ''
    boxes.push(['PROTOCOLO DE AUTORIZAÇÃO DE USO', first + answer])
  }
  return [
    ...f.missingFields(infCte, [...fields, ...listed(infCte, norm, document.name)], reading),
    ...f.missingFields(norm, carried, reading),
    ...f.missingBoxes(boxes, reading),
    ...f.missingRows(f.elements(infCte, 'det').map(deliveryTexts), reading),
  ]
}

type Add = (label: string, ...parts: (string | undefined)[]) => void

function tomadorBoxes(infCte: XmlElement, layout: string, add: Add): void {
  const ide = child(infCte, 'ide')
  const own = [child(infCte, 'toma'), child(ide, 'toma4'), child(ide, 'tomaTerceiro')].find((one) =>
    child(one, 'xNome'),
  )
  const code = ['toma3', 'toma03', 'toma4', 'toma', 'tomaTerceiro'].flatMap((name) => f.texts(ide, `${name}/toma`))[0]
  const groups = layout === 'GTVe' ? ['rem', 'dest'] : ['rem', 'exped', 'receb', 'dest']
  const toma = own ?? child(infCte, groups[Number(code)] ?? '')
  const address = toma?.children.find(({ name }) => name.startsWith('ender'))
  const id = value(toma, 'CNPJ') ?? value(toma, 'CPF')
  const postal = value(address, 'CEP')
  const telephone = value(toma, 'fone') ?? value(address, 'fone')
  const who: Record<string, string> = { 0: 'Remetente', 1: 'Expedidor', 2: 'Recebedor', 3: 'Destinatário', 4: 'Outros' }
  if (layout === 'CTe' && code !== undefined) add('TOMADOR DO SERVIÇO', who[code] ?? code)
  add('TOMADOR DO SERVIÇO', value(toma, 'xNome'))
  add('MUNICÍPIO', value(address, 'xMun'))
  add('UF', value(address, 'UF'))
  add('CEP', postal && f.cep(postal))
  add('PAÍS', value(address, 'xPais'))
  add('ENDEREÇO', f.street(address), value(address, 'xBairro'))
  add('CNPJ/CPF', id && party(id))
  add('INSCRIÇÃO ESTADUAL', value(toma, 'IE'))
  add('FONE', telephone && f.phone(telephone))
}

function newTaxBoxes(ibscbs: XmlElement | undefined, add: Add): void {
  const group = child(ibscbs, 'gIBSCBS')
  if (!ibscbs) return
  add('IBS/CBS - CST / CLASSTRIB', [value(ibscbs, 'CST'), value(ibscbs, 'cClassTrib')].filter((one) => one).join(' / '))
  for (const [label, tax, rate, amount] of [
    ['IBS UF (ALÍQ. - VALOR)', 'gIBSUF', 'pIBSUF', 'vIBSUF'],
    ['IBS MUNICÍPIO (ALÍQ. - VALOR)', 'gIBSMun', 'pIBSMun', 'vIBSMun'],
    ['CBS (ALÍQ. - VALOR)', 'gCBS', 'pCBS', 'vCBS'],
  ] as const) {
    const applied = value(group, `${tax}/gRed/pAliqEfet`) ?? value(group, `${tax}/${rate}`)
    const shown = value(group, `${tax}/${amount}`)
    add(label, applied && `${f.quantity(applied)}%`, shown && f.money(shown))
  }
}

// Measures under the name of the issuer, components with their values: in cells, or in the text of a further sheet.
function listed(infCte: XmlElement, norm: XmlElement, layout: string): f.ExpectedField[] {
  const measures = f.elements(norm, 'infCarga/infQ').map((infQ) => {
    const name = value(infQ, 'tpMed') ?? ''
    const unit = value(infQ, 'cUnid') ?? ''
    const amount = `${f.quantity(value(infQ, 'qCarga') ?? '0')} ${units[unit] ?? unit}`
    return [layout === 'CTeSimp' ? (coded[name] ?? name) : name, amount]
  })
  const components = f
    .elements(infCte, 'vPrest/Comp')
    .map((comp) => [value(comp, 'xNome') ?? '', f.money(value(comp, 'vComp') ?? '0')])
  const pairs = [...measures, ...components].map(
    ([name, amount]): f.ExpectedField => ({
      path: 'ide/nCT',
      as: () => `${name} ${amount}`,
      elsewhere: `${name}: ${amount}`,
    }),
  )
  const streets = people.flatMap(([group, address, label]) =>
    f.composed('ide/nCT', f.street(child(infCte, `${group}/${address}`)), label),
  )
  const places = f.elements(infCte, 'emit/enderEmit').concat(f.elements(infCte, 'origem|destino')).map(f.street)
  return [...pairs, ...places.flatMap((shown) => f.composed('ide/nCT', shown)), ...streets]
}

function deliveryTexts(det: XmlElement): string[] {
  return [
    ...f.texts(det, 'xMunIni|xMunFim'),
    ...f.texts(det, 'infNFe/chNFe'),
    ...f.texts(det, 'infDocAnt/chCTe'),
    ...f.texts(det, 'vPrest|vRec').map(f.money),
    ...f.elements(det, 'Comp').map((comp) => `${value(comp, 'xNome') ?? ''} ${f.money(value(comp, 'vComp') ?? '0')}`),
  ]
}
