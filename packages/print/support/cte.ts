import { chaveCheckDigit } from '@vigia/dfe/chave'

/** Options of a generated CT-e; the defaults are ordinary. */
interface PrintedCteOptions {
  documents?: number
  components?: number
  measures?: number
  xObs?: string
  modal?: string
  infModal?: string
  street?: string
  cnpj?: string
  tpImp?: string
  tpAmb?: string
  tpEmis?: string
  tpCTe?: string
  /** Without the answer of the tax authority. */
  pending?: boolean
  qrCode?: string
  /** Keys of complemented CT-e, in the place of carga and documents. */
  complements?: number
  /** XML put into infCTeNorm, before its infModal. */
  norm?: string
  /** XML put into imp, after its ICMS. */
  taxes?: string
}

/** The bodies of infModal, one for each modal. */
export const modals = {
  road: '<rodo><RNTRC>12345678</RNTRC></rodo>',
  air: '<aereo><nMinu>000345678</nMinu><nOCA>04712345678</nOCA><dPrevAereo>2026-08-15</dPrevAereo><natCarga><xDime>0120X0080X0060</xDime><cInfManu>02</cInfManu><cInfManu>07</cInfManu></natCarga><tarifa><CL>G</CL><cTar>0041</cTar><vTar>12.34</vTar></tarifa><peri><nONU>1993</nONU><qTotEmb>12</qTotEmb><infTotAP><qTotProd>48.5000</qTotProd><uniAP>3</uniAP></infTotAP></peri></aereo>',
  water:
    '<aquav><vPrest>1234.56</vPrest><vAFRMM>98.76</vAFRMM><xNavio>Navio Aurora do Atlântico</xNavio><balsa><xBalsa>Balsa Norte</xBalsa></balsa><balsa><xBalsa>Balsa Sul</xBalsa></balsa><nViag>4711</nViag><direc>S</direc><irin>IRIN000123</irin><detCont><nCont>ABCU1234567</nCont><lacre><nLacre>LACRE-1</nLacre></lacre></detCont><tpNav>1</tpNav></aquav>',
  rail: '<ferrov><tpTraf>1</tpTraf><trafMut><respFat>1</respFat><ferrEmi>2</ferrEmi><vFrete>100.00</vFrete><ferroEnv><CNPJ>99387251000138</CNPJ><cInt>4711</cInt><IE>111222333444</IE><xNome>Ferrovia Norte</xNome></ferroEnv></trafMut><fluxo>FLX9</fluxo></ferrov>',
  pipeline:
    '<duto><vTar>1.234567</vTar><dIni>2026-08-01</dIni><dFim>2026-08-31</dFim><classDuto>3</classDuto><tpContratacao>1</tpContratacao><codPontoEntrada>ENTRADA-7</codPontoEntrada><codPontoSaida>SAIDA-8</codPontoSaida><nContrato>CONTRATO-9</nContrato></duto>',
  multimodal:
    '<multimodal><COTM>123456</COTM><indNegociavel>1</indNegociavel><seg><infSeg><xSeg>Seguradora Âncora</xSeg><CNPJ>99164852000181</CNPJ></infSeg><nApol>77001</nApol><nAver>88002</nAver></seg></multimodal>',
}

/** An authorised CT-e in the shape of layout 4.00, for tests that have no samples at hand or need an extreme. */
export function writeCte(options: PrintedCteOptions = {}): Uint8Array {
  const {
    documents = 2,
    components = 3,
    measures = 2,
    modal = '01',
    tpCTe = options.complements ? '1' : '0',
    street = 'Rua das Flores',
  } = options
  const party = partyOn(street)
  const ide = `<xMunIni>São Paulo</xMunIni><UFIni>SP</UFIni><xMunFim>Curitiba</xMunFim><UFFim>PR</UFFim><retira>1</retira><toma3><toma>3</toma></toma3>`
  const compl = `<compl>${options.xObs ? `<xObs>${options.xObs}</xObs>` : ''}<ObsCont xCampo="PEDIDO"><xTexto>4711</xTexto></ObsCont><ObsFisco xCampo="LEI"><xTexto>Observação ao fisco</xTexto></ObsFisco></compl>`
  const norm = `<infCTeNorm><infCarga><vCarga>98765.43</vCarga><proPred>Peças</proPred>${repeat(measures, (n) => `<infQ><cUnid>01</cUnid><tpMed>PESO ${n}</tpMed><qCarga>${n}00.5000</qCarga></infQ>`)}</infCarga><infDoc>${repeat(documents, (n) => `<infNFe><chave>${nfeKey(n)}</chave></infNFe>`)}</infDoc>${options.norm ?? ''}<infModal versaoModal="4.00">${options.infModal ?? modals.road}</infModal></infCTeNorm>`
  const complemented = repeat(options.complements ?? 0, (n) => `<infCteComp><chCTe>${cteKey(n)}</chCTe></infCteComp>`)
  const parties = `${party('rem', 'enderReme', 'Remetente Indústria Ltda')}${party('exped', 'enderExped', 'Expedidora Ltda')}${party('receb', 'enderReceb', 'Recebedora Ltda')}${party('dest', 'enderDest', 'Destinatária Comércio Ltda')}`
  const body = `${compl}${emit}${parties}${prices(components)}${imp(options.taxes)}${complemented || norm}`
  return document('CTe', '57', options, { cfop: '6353', tpCTe, modal, ide, body })
}

/** An authorised CT-e OS (67) of passengers. */
export function writeCteOs(options: PrintedCteOptions = {}): Uint8Array {
  const toma = partyOn('Rua das Flores')('toma', 'enderToma', 'Tomadora Comércio Ltda')
  const federal =
    '<infTribFed><vPIS>10.01</vPIS><vCOFINS>20.02</vCOFINS><vIR>30.03</vIR><vINSS>40.04</vINSS><vCSLL>50.05</vCSLL></infTribFed>'
  const norm =
    '<infCTeNorm><infServico><xDescServ>Transporte de passageiros</xDescServ><infQ><qCarga>45.0000</qCarga></infQ></infServico><infDocRef><nDoc>9876</nDoc><serie>1</serie><dEmi>2026-08-11</dEmi><vDoc>55.66</vDoc></infDocRef><seg><respSeg>4</respSeg><xSeg>Seguradora Âncora</xSeg><nApol>77001</nApol></seg><infModal versaoModal="4.00"><rodoOS><NroRegEstadual>5106350755185867780334136</NroRegEstadual><veic><placa>ABC1D23</placa><RENAVAM>281674359</RENAVAM><UF>SP</UF></veic><infFretamento><tpFretamento>1</tpFretamento></infFretamento></rodoOS></infModal></infCTeNorm>'
  const ide =
    '<indIEToma>1</indIEToma><xMunIni>São Paulo</xMunIni><UFIni>SP</UFIni><xMunFim>Curitiba</xMunFim><UFFim>PR</UFFim><infPercurso><UFPer>MG</UFPer></infPercurso><infPercurso><UFPer>RJ</UFPer></infPercurso>'
  const body = `<compl><xObs>Viagem de ida e volta</xObs></compl>${emit}${toma}${prices(1)}${imp(federal)}${norm}`
  return document('CTeOS', '67', options, { cfop: '6357', tpCTe: '0', modal: '01', ide, body })
}

/** An authorised CT-e Simplificado with its deliveries. */
export function writeSimplificado(deliveries: number, options: PrintedCteOptions = {}): Uint8Array {
  const toma = partyOn('Rua das Flores')('toma', 'enderToma', 'Tomadora Comércio Ltda', '<toma>4</toma>')
  const carga =
    '<infCarga><vCarga>98765.43</vCarga><proPred>Peças</proPred><infQ><cUnid>01</cUnid><tpMed>02</tpMed><qCarga>300.5000</qCarga></infQ></infCarga>'
  const det = (n: number) =>
    `<det nItem="${n}"><xMunIni>São Paulo</xMunIni><xMunFim>Curitiba</xMunFim><vPrest>${n}00.10</vPrest><vRec>${n}00.20</vRec><Comp><xNome>FRETE PESO</xNome><vComp>${n}00.30</vComp></Comp><infNFe><chNFe>${nfeKey(n)}</chNFe></infNFe></det>`
  const total = '<total><vTPrest>1234.56</vTPrest><vTRec>1234.00</vTRec></total>'
  const body = `<compl><xObs>Entregas do dia</xObs></compl>${emit}${toma}${carga}${repeat(deliveries, det)}<infModal versaoModal="4.00">${modals.road}</infModal>${imp()}${total}`
  const ide = '<UFIni>SP</UFIni><UFFim>PR</UFFim><retira>1</retira>'
  return document('CTeSimp', '57', options, { cfop: '6353', tpCTe: '5', modal: '01', ide, body })
}

/** An authorised GTV-e (64). */
export function writeGtve(options: PrintedCteOptions = {}): Uint8Array {
  const party = partyOn('Rua das Flores')
  const place = (name: string, street: string) =>
    `<${name}><xLgr>${street}</xLgr><nro>1</nro><xBairro>Centro</xBairro><xMun>São Paulo</xMun><UF>SP</UF></${name}>`
  const ide =
    '<dhSaidaOrig>2026-08-12T10:00:00-03:00</dhSaidaOrig><dhChegadaDest>2026-08-12T11:00:00-03:00</dhChegadaDest><toma><toma>1</toma></toma>'
  const detail =
    '<detGTV><infEspecie><tpEspecie>1</tpEspecie><vEspecie>5000.00</vEspecie><tpNumerario>1</tpNumerario></infEspecie><qCarga>3.0000</qCarga><infVeiculo><placa>ABC1D23</placa><UF>SP</UF></infVeiculo></detGTV>'
  const body = `${emit}${party('rem', 'enderReme', 'Banco Remetente')}${party('dest', 'enderDest', 'Loja Destino')}${place('origem', 'Rua Origem')}${place('destino', 'Rua Destino')}${detail}`
  return document('GTVe', '64', options, { cfop: '5359', tpCTe: '4', modal: '01', ide, body })
}

interface Parts {
  cfop: string
  tpCTe: string
  modal: string
  /** The end of ide. */
  ide: string
  /** infCte after ide. */
  body: string
}

const roots: Record<string, string> = {
  CTe: 'cteProc',
  CTeOS: 'cteOSProc',
  CTeSimp: 'cteSimpProc',
  GTVe: 'GTVeProc',
}

function document(name: string, mod: string, options: PrintedCteOptions, parts: Parts): Uint8Array {
  const { tpAmb = '1', tpEmis = '1', tpImp = '1', cnpj = '99387251000138' } = options
  const body = `352608${cnpj}${mod}001000001234${tpEmis}87654321`
  const chave = body + chaveCheckDigit(body)
  const qr = options.qrCode ?? `https://dfe-portal.svrs.rs.gov.br/cte/qrCode?chCTe=${chave}&amp;tpAmb=${tpAmb}`
  const ide = `<ide><cUF>35</cUF><cCT>87654321</cCT><CFOP>${parts.cfop}</CFOP><natOp>Prestação de serviço de transporte</natOp><mod>${mod}</mod><serie>1</serie><nCT>1234</nCT><dhEmi>2026-08-12T09:30:00-03:00</dhEmi><tpImp>${tpImp}</tpImp><tpEmis>${tpEmis}</tpEmis><cDV>1</cDV><tpAmb>${tpAmb}</tpAmb><tpCTe>${parts.tpCTe}</tpCTe><procEmi>0</procEmi><verProc>1</verProc><modal>${parts.modal}</modal><tpServ>${mod === '67' ? '6' : mod === '64' ? '9' : '0'}</tpServ>${parts.ide}</ide>`
  const protocol = `<protCTe versao="4.00"><infProt><tpAmb>${tpAmb}</tpAmb><verAplic>T</verAplic><chCTe>${chave}</chCTe><dhRecbto>2026-08-12T09:31:00-03:00</dhRecbto><nProt>135260000000002</nProt><cStat>100</cStat><xMotivo>Autorizado o uso do CT-e</xMotivo></infProt></protCTe>`
  const own = parts.body.replace('<CNPJ>99387251000138</CNPJ>', `<CNPJ>${cnpj}</CNPJ>`)
  const xml = `<${roots[name]} xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><${name}><infCte versao="4.00" Id="CTe${chave}">${ide}${own}</infCte><infCTeSupl><qrCodCTe>${qr}</qrCodCTe></infCTeSupl></${name}>${options.pending ? '' : protocol}</${roots[name]}>`
  return new TextEncoder().encode(xml)
}

const emit =
  '<emit><CNPJ>99387251000138</CNPJ><IE>111222333444</IE><xNome>Transportes Ação Rápida Ltda</xNome><enderEmit><xLgr>Rua A</xLgr><nro>1</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><xMun>São Paulo</xMun><CEP>01001000</CEP><UF>SP</UF><fone>1133334444</fone></enderEmit><CRT>3</CRT></emit>'

function prices(components: number): string {
  return `<vPrest><vTPrest>1234.56</vTPrest><vRec>1234.56</vRec>${repeat(components, (n) => `<Comp><xNome>COMPONENTE ${n}</xNome><vComp>${n}0.10</vComp></Comp>`)}</vPrest>`
}

function imp(further = ''): string {
  return `<imp><ICMS><ICMS00><CST>00</CST><vBC>1234.56</vBC><pICMS>12.00</pICMS><vICMS>148.15</vICMS></ICMS00></ICMS>${further}</imp>`
}

function partyOn(street: string) {
  return (group: string, address: string, name: string, first = '') =>
    `<${group}>${first}<CNPJ>99164852000181</CNPJ><IE>123456789</IE><xNome>${name}</xNome><fone>1133334444</fone><${address}><xLgr>${street}</xLgr><nro>10</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><xMun>São Paulo</xMun><CEP>01001000</CEP><UF>SP</UF><cPais>1058</cPais><xPais>Brasil</xPais></${address}></${group}>`
}

function repeat(count: number, write: (n: number) => string): string {
  return Array.from({ length: count }, (_, i) => write(i + 1)).join('')
}

/** The key of the nth carried NF-e of a written CT-e. */
export function nfeKey(n: number): string {
  return keyOf('55', n)
}

/** The key of the nth CT-e that a written one complements or replaces. */
export function cteKey(n: number): string {
  return keyOf('57', n)
}

function keyOf(mod: string, n: number): string {
  const body = `35260899164852000181${mod}0010${String(n).padStart(8, '0')}112345678`
  return body + chaveCheckDigit(body)
}
