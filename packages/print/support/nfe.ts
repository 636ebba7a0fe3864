import { chaveCheckDigit } from '@vigia/dfe/chave'

/** Options of a generated NF-e; the defaults are ordinary. */
interface NfeOptions {
  items?: number
  emission?: string
  tpAmb?: string
  tpEmis?: string
  cStat?: string | null
  cnpj?: string
  /** Names, streets and texts at the greatest length of the layout. */
  long?: boolean
  duplicatas?: number
  infCpl?: string
  item?: (n: number) => string
  /** XML put into total, before its end. */
  total?: string
  tpImp?: string
  /** IBS, CBS and IS in each item and in the total, with a discount and substitution, after the start of NT 2026.010. */
  newTaxes?: boolean
  extra?: string
}

const text = (length: number, seed: string) => {
  const words = `${seed} FERRO AÇO MÉDIO Ø PEÇA D'ÁGUA & CIA LTDA-ME (SÃO JOSÉ) Nº1 1/2" `
  return words
    .repeat(Math.ceil(length / words.length))
    .slice(0, length)
    .trim()
    .padEnd(length, 'X')
    .replaceAll('&', '&amp;')
}

/** An authorised NF-e in the shape of layout 4.00, for tests that have no samples at hand or need an extreme. */
export function writeNfe(options: NfeOptions = {}): Uint8Array {
  const {
    items = 2,
    emission = options.newTaxes ? '2026-12-05T10:15:30-03:00' : '2026-08-12T10:15:30-03:00',
    tpImp = '1',
    tpAmb = '1',
    tpEmis = '1',
    cStat = '100',
    cnpj = '99387251000138',
    long = false,
    duplicatas = 0,
  } = options
  const body = `35${emission.slice(2, 4)}${emission.slice(5, 7)}${cnpj}55001000001234${tpEmis}87654321`
  const chave = body + chaveCheckDigit(body)
  const name = (seed: string) => (long ? text(60, seed) : `${seed} Comércio Ltda`)
  const address = (seed: string) =>
    `<xLgr>${long ? text(60, seed) : 'Rua das Flores'}</xLgr><nro>${long ? text(60, 'N') : '100'}</nro>${long ? `<xCpl>${text(60, 'CPL')}</xCpl>` : ''}<xBairro>${long ? text(60, 'B') : 'Centro'}</xBairro><cMun>3550308</cMun><xMun>${long ? text(60, 'M') : 'São Paulo'}</xMun><UF>SP</UF><CEP>01001000</CEP><cPais>1058</cPais><xPais>Brasil</xPais><fone>1133334444</fone>`
  const dets = Array.from(
    { length: items },
    (_, i) => options.item?.(i + 1) ?? (options.newTaxes ? taxedDet(i + 1) : det(i + 1, long)),
  )
  const money = long ? '9999999999999.99' : '100.00'
  const protocol =
    cStat === null
      ? ''
      : `<protNFe versao="4.00"><infProt><tpAmb>${tpAmb}</tpAmb><verAplic>T</verAplic><chNFe>${chave}</chNFe><dhRecbto>2026-08-12T10:16:00-03:00</dhRecbto><nProt>135260000000001</nProt><cStat>${cStat}</cStat><xMotivo>${cStat === '100' ? 'Autorizado o uso da NF-e' : 'Uso Denegado'}</xMotivo></infProt></protNFe>`
  const xml = `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe versao="4.00" Id="NFe${chave}"><ide><cUF>35</cUF><cNF>87654321</cNF><natOp>${long ? text(60, 'VENDA') : 'Venda'}</natOp><mod>55</mod><serie>1</serie><nNF>1234</nNF><dhEmi>${emission}</dhEmi><dhSaiEnt>${emission}</dhSaiEnt><tpNF>1</tpNF><idDest>1</idDest><cMunFG>3550308</cMunFG><tpImp>${tpImp}</tpImp><tpEmis>${tpEmis}</tpEmis><cDV>1</cDV><tpAmb>${tpAmb}</tpAmb><finNFe>1</finNFe><indFinal>0</indFinal><indPres>1</indPres><procEmi>0</procEmi><verProc>1</verProc></ide><emit><CNPJ>${cnpj}</CNPJ><xNome>${name('Emitente')}</xNome><enderEmit>${address('E')}</enderEmit><IE>111222333444</IE><CRT>3</CRT></emit><dest><CNPJ>99164852000181</CNPJ><xNome>${name('Destinatária')}</xNome><enderDest>${address('D')}</enderDest><indIEDest>1</indIEDest><IE>555666777888</IE></dest>${long ? `<retirada><CNPJ>99164852000181</CNPJ><xNome>${name('R')}</xNome>${address('R')}</retirada><entrega><CPF>99926817726</CPF><xNome>${name('L')}</xNome>${address('L')}</entrega>` : ''}${dets.join('')}<total><ICMSTot><vBC>${money}</vBC><vICMS>${money}</vICMS><vICMSDeson>0.00</vICMSDeson><vFCP>0.00</vFCP><vBCST>${money}</vBCST><vST>${money}</vST><vFCPST>0.00</vFCPST><vFCPSTRet>0.00</vFCPSTRet><vProd>${money}</vProd><vFrete>${money}</vFrete><vSeg>${money}</vSeg><vDesc>${money}</vDesc><vII>0.00</vII><vIPI>${money}</vIPI><vIPIDevol>0.00</vIPIDevol><vPIS>0.00</vPIS><vCOFINS>0.00</vCOFINS><vOutro>${money}</vOutro><vNF>${money}</vNF></ICMSTot>${options.total ?? (options.newTaxes ? newTotals : '')}</total><transp><modFrete>1</modFrete><transporta><CNPJ>99164852000181</CNPJ><xNome>${name('Transportes')}</xNome><IE>123</IE><xEnder>${long ? text(60, 'END') : 'Rua B, 2'}</xEnder><xMun>${long ? text(60, 'MUN') : 'Campinas'}</xMun><UF>SP</UF></transporta>${long ? Array.from({ length: 6 }, (_, i) => `<vol><qVol>7${i}</qVol><esp>${text(60, 'CAIXA')}</esp><marca>${text(60, 'MARCA')}</marca><nVol>${text(60, 'NUM')}</nVol><pesoL>999999999999.999</pesoL><pesoB>1.500</pesoB></vol>`).join('') : '<vol><qVol>3</qVol><esp>VOLUMES</esp><pesoL>1234.567</pesoL><pesoB>1250.000</pesoB></vol>'}</transp>${duplicatas ? `<cobr><fat><nFat>1234</nFat><vOrig>${money}</vOrig><vDesc>0.00</vDesc><vLiq>${money}</vLiq></fat>${Array.from({ length: duplicatas }, (_, i) => `<dup><nDup>${String(i + 1).padStart(3, '0')}</nDup><dVenc>2026-09-${String((i % 28) + 1).padStart(2, '0')}</dVenc><vDup>${1000 + i}.10</vDup></dup>`).join('')}</cobr>` : ''}<infAdic>${long ? `<infAdFisco>${text(2000, 'FISCO')}</infAdFisco>` : ''}${options.infCpl ? `<infCpl>${options.infCpl}</infCpl>` : ''}</infAdic>${options.extra ?? ''}</infNFe></NFe>${protocol}</nfeProc>`
  return new TextEncoder().encode(xml)
}

function det(n: number, long: boolean): string {
  const money = long ? '9999999999999.99' : `${n}00.00`
  const code = long ? text(60, `COD${n}`) : `P-${String(n).padStart(4, '0')}`
  const prod = `<cProd>${code}</cProd><cEAN>SEM GTIN</cEAN><xProd>${long ? text(120, `PRODUTO ${n}`) : `Parafuso sextavado número ${n}`}</xProd><NCM>73181500</NCM><CFOP>5102</CFOP><uCom>PC</uCom><qCom>${long ? '99999999999.9999' : '10.0000'}</qCom><vUnCom>${long ? '99999999999.9999999999' : '10.0000000000'}</vUnCom><vProd>${money}</vProd><cEANTrib>SEM GTIN</cEANTrib><uTrib>PC</uTrib><qTrib>10.0000</qTrib><vUnTrib>10.0000000000</vUnTrib>${long ? `<vDesc>${money}</vDesc>` : ''}<indTot>1</indTot>`
  const icms = long
    ? `<ICMS10><orig>0</orig><CST>10</CST><modBC>3</modBC><vBC>${money}</vBC><pICMS>18.00</pICMS><vICMS>${money}</vICMS><modBCST>4</modBCST><vBCST>${money}</vBCST><pICMSST>18.00</pICMSST><vICMSST>${money}</vICMSST></ICMS10>`
    : `<ICMS00><orig>0</orig><CST>00</CST><modBC>3</modBC><vBC>${money}</vBC><pICMS>18.00</pICMS><vICMS>${n}8.00</vICMS></ICMS00>`
  return `<det nItem="${n}"><prod>${prod}</prod><imposto><ICMS>${icms}</ICMS><IPI><cEnq>999</cEnq><IPITrib><CST>50</CST><vBC>${money}</vBC><pIPI>5.00</pIPI><vIPI>${money}</vIPI></IPITrib></IPI></imposto>${long ? `<infAdProd>${text(500, `INF${n}`)}</infAdProd>` : ''}</det>`
}

/** An item that carries each of the groups that stand below a description. */
export function itemOfEveryGroup(n: number): string {
  const groups =
    '<rastro><nLote>L1</nLote><qLote>10.000</qLote><dFab>2026-01-01</dFab><dVal>2027-01-01</dVal></rastro><xPed>4711</xPed><nItemPed>1</nItemPed><nFCI>B01F70AF-10BF-4B1F-848C-65FF57F616FE</nFCI>'
  return det(n, false)
    .replace('<CFOP>', '<cBenef>SP010203</cBenef><CFOP>')
    .replace('<uTrib>PC<', '<uTrib>KG<')
    .replace('<indTot>1</indTot>', `<indTot>1</indTot><vDesc>1.00</vDesc>${groups}`)
    .replace('</det>', `<infAdProd>Entrega parcial do pedido ${n}</infAdProd></det>`)
}

const newTotals =
  '<ISTot><vIS>7.77</vIS></ISTot><IBSCBSTot><vBCIBSCBS>100.00</vBCIBSCBS><gIBS><gIBSUF><vDif>0.00</vDif><vDevTrib>0.00</vDevTrib><vIBSUF>1.11</vIBSUF></gIBSUF><gIBSMun><vDif>0.00</vDif><vDevTrib>0.00</vDevTrib><vIBSMun>2.22</vIBSMun></gIBSMun><vIBS>3.33</vIBS></gIBS><gCBS><vDif>0.00</vDif><vDevTrib>0.00</vDevTrib><vCBS>4.44</vCBS></gCBS></IBSCBSTot><vNFTot>111.11</vNFTot>'

// The second tax of three has a reduced rate, which takes the place of its own.
function taxedDet(n: number): string {
  const red = '<gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>0.0120</pAliqEfet></gRed>'
  const icms = `<ICMS10><orig>0</orig><CST>10</CST><modBC>3</modBC><vBC>${n}00.00</vBC><pICMS>18.00</pICMS><vICMS>${n}8.00</vICMS><modBCST>4</modBCST><vBCST>${n}40.00</vBCST><pICMSST>19.00</pICMSST><vICMSST>${n}9.00</vICMSST></ICMS10>`
  const selective = `<IS><CSTIS>000</CSTIS><cClassTribIS>000001</cClassTribIS><vBCIS>${n}00.50</vBCIS><pIS>7.2500</pIS><vIS>${n}7.25</vIS></IS>`
  const ibscbs = `<IBSCBS><CST>200</CST><cClassTrib>200030</cClassTrib><gIBSCBS><vBC>${n}01.00</vBC><gIBSUF><pIBSUF>0.1000</pIBSUF><vIBSUF>${n}0.11</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0300</pIBSMun>${red}<vIBSMun>${n}0.22</vIBSMun></gIBSMun><vIBS>${n}0.33</vIBS><gCBS><pCBS>0.9000</pCBS><vCBS>${n}0.44</vCBS></gCBS></gIBSCBS></IBSCBS>`
  return det(n, false)
    .replace(/<ICMS>.*<\/ICMS>/, `<ICMS>${icms}</ICMS>`)
    .replace('<indTot>', `<vDesc>${n}0.50</vDesc><indTot>`)
    .replace('</imposto>', `${selective}${ibscbs}</imposto>`)
}
