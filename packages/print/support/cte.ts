import { chaveCheckDigit } from '@vigia/dfe/chave'

/** What a written CT-e may vary; everything else is ordinary. */
export interface CteOptions {
  documents?: number
  components?: number
  measures?: number
  xObs?: string
  modal?: string
  infModal?: string
  street?: string
  tpAmb?: string
  qrCode?: string
}

/** An authorised CT-e in the shape of layout 4.00, for tests that have no samples at hand or need an extreme. */
export function writeCte(options: CteOptions = {}): Uint8Array {
  const { documents = 2, components = 3, measures = 2, modal = '01', tpAmb = '1', street = 'Rua das Flores' } = options
  const body = '3526089938725100013857001000001234187654321'
  const chave = body + chaveCheckDigit(body)
  const party = (group: string, address: string, name: string) =>
    `<${group}><CNPJ>99164852000181</CNPJ><IE>123456789</IE><xNome>${name}</xNome><fone>1133334444</fone><${address}><xLgr>${street}</xLgr><nro>10</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><xMun>São Paulo</xMun><CEP>01001000</CEP><UF>SP</UF><cPais>1058</cPais><xPais>Brasil</xPais></${address}></${group}>`
  const repeat = (count: number, write: (n: number) => string) =>
    Array.from({ length: count }, (_, i) => write(i + 1)).join('')
  const qr = options.qrCode ?? `https://dfe-portal.svrs.rs.gov.br/cte/qrCode?chCTe=${chave}&amp;tpAmb=${tpAmb}`
  const infModal = options.infModal ?? '<rodo><RNTRC>12345678</RNTRC></rodo>'
  const xml = `<cteProc xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><CTe><infCte versao="4.00" Id="CTe${chave}"><ide><cUF>35</cUF><cCT>87654321</cCT><CFOP>6353</CFOP><natOp>Prestação de serviço de transporte</natOp><mod>57</mod><serie>1</serie><nCT>1234</nCT><dhEmi>2026-08-12T09:30:00-03:00</dhEmi><tpImp>1</tpImp><tpEmis>1</tpEmis><cDV>1</cDV><tpAmb>${tpAmb}</tpAmb><tpCTe>0</tpCTe><procEmi>0</procEmi><verProc>1</verProc><modal>${modal}</modal><tpServ>0</tpServ><xMunIni>São Paulo</xMunIni><UFIni>SP</UFIni><xMunFim>Curitiba</xMunFim><UFFim>PR</UFFim><retira>1</retira><toma3><toma>3</toma></toma3></ide><compl>${options.xObs ? `<xObs>${options.xObs}</xObs>` : ''}<ObsCont xCampo="PEDIDO"><xTexto>4711</xTexto></ObsCont><ObsFisco xCampo="LEI"><xTexto>Observação ao fisco</xTexto></ObsFisco></compl><emit><CNPJ>99387251000138</CNPJ><IE>111222333444</IE><xNome>Transportes Ação Rápida Ltda</xNome><enderEmit><xLgr>Rua A</xLgr><nro>1</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><xMun>São Paulo</xMun><CEP>01001000</CEP><UF>SP</UF><fone>1133334444</fone></enderEmit><CRT>3</CRT></emit>${party('rem', 'enderReme', 'Remetente Indústria Ltda')}${party('exped', 'enderExped', 'Expedidora Ltda')}${party('receb', 'enderReceb', 'Recebedora Ltda')}${party('dest', 'enderDest', 'Destinatária Comércio Ltda')}<vPrest><vTPrest>1234.56</vTPrest><vRec>1234.56</vRec>${repeat(components, (n) => `<Comp><xNome>COMPONENTE ${n}</xNome><vComp>${n}0.10</vComp></Comp>`)}</vPrest><imp><ICMS><ICMS00><CST>00</CST><vBC>1234.56</vBC><pICMS>12.00</pICMS><vICMS>148.15</vICMS></ICMS00></ICMS></imp><infCTeNorm><infCarga><vCarga>98765.43</vCarga><proPred>Peças</proPred>${repeat(measures, (n) => `<infQ><cUnid>01</cUnid><tpMed>PESO ${n}</tpMed><qCarga>${n}00.5000</qCarga></infQ>`)}</infCarga><infDoc>${repeat(documents, (n) => `<infNFe><chave>${nfeKey(n)}</chave></infNFe>`)}</infDoc><infModal versaoModal="4.00">${infModal}</infModal></infCTeNorm></infCte><infCTeSupl><qrCodCTe>${qr}</qrCodCTe></infCTeSupl></CTe><protCTe versao="4.00"><infProt><tpAmb>${tpAmb}</tpAmb><verAplic>T</verAplic><chCTe>${chave}</chCTe><dhRecbto>2026-08-12T09:31:00-03:00</dhRecbto><nProt>135260000000002</nProt><cStat>100</cStat><xMotivo>Autorizado o uso do CT-e</xMotivo></infProt></protCTe></cteProc>`
  return new TextEncoder().encode(xml)
}

/** The key of the nth carried NF-e of a written CT-e. */
export function nfeKey(n: number): string {
  const body = `35260899164852000181550010${String(n).padStart(8, '0')}112345678`
  return body + chaveCheckDigit(body)
}
