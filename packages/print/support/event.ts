import { cteKey, nfeKey } from './cte.ts'

/** The condition of use that every Carta de Correção carries. */
export const condition =
  'A Carta de Correção é disciplinada pelo § 1º-A do art. 7º do Convênio S/N, de 15 de dezembro de 1970 e pode ser utilizada para regularização de erro ocorrido na emissão de documento fiscal, desde que o erro não esteja relacionado com: I - as variáveis que determinam o valor do imposto.'

const chave = nfeKey(1)

/** Options of a generated event. */
export interface PrintedEventOptions {
  tpEvento?: string
  tpAmb?: string
  cStat?: string
  detail?: string
  key?: string
}

/** A registered event of an NF-e. */
export function writeEvent({
  tpEvento = '110110',
  tpAmb = '1',
  cStat = '135',
  detail,
  key = chave,
}: PrintedEventOptions = {}) {
  const said =
    detail ??
    `<descEvento>Carta de Correcao</descEvento><xCorrecao>Onde se lê Parafuso, leia-se Porca.</xCorrecao><xCondUso>${condition}</xCondUso>`
  return Buffer.from(
    `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento Id="ID${tpEvento}${key}01"><cOrgao>35</cOrgao><tpAmb>${tpAmb}</tpAmb><CNPJ>99387251000138</CNPJ><chNFe>${key}</chNFe><dhEvento>2026-08-12T10:15:30-03:00</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>3</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00">${said}</detEvento></infEvento></evento><retEvento versao="1.00"><infEvento><tpAmb>${tpAmb}</tpAmb><cOrgao>35</cOrgao><cStat>${cStat}</cStat><xMotivo>Evento registrado e vinculado a NF-e</xMotivo><chNFe>${key}</chNFe><tpEvento>${tpEvento}</tpEvento><nSeqEvento>3</nSeqEvento><dhRegEvento>2026-08-12T10:15:31-03:00</dhRegEvento><nProt>135260000000777</nProt></infEvento></retEvento></procEventoNFe>`,
  )
}

/** A Carta de Correção of a CT-e with as many corrections. */
export function writeCorrections(count: number, valueLength = 40) {
  const item = (n: number) =>
    `<infCorrecao><grupoAlterado>compl</grupoAlterado><campoAlterado>xObs</campoAlterado><valorAlterado>${`Valor novo ${n} `.repeat(50).slice(0, valueLength).trim()}</valorAlterado><nroItemAlterado>${n}</nroItemAlterado></infCorrecao>`
  const items = Array.from({ length: count }, (_, at) => item(at + 1)).join('')
  return Buffer.from(
    `<procEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><eventoCTe versao="4.00"><infEvento><cOrgao>35</cOrgao><tpAmb>1</tpAmb><CNPJ>99387251000138</CNPJ><chCTe>${cteKey(1)}</chCTe><dhEvento>2026-08-12T10:15:30-03:00</dhEvento><tpEvento>110110</tpEvento><nSeqEvento>1</nSeqEvento><detEvento versaoEvento="4.00"><evCCeCTe><descEvento>Carta de Correção</descEvento>${items}<xCondUso>${condition}</xCondUso></evCCeCTe></detEvento></infEvento></eventoCTe><retEventoCTe versao="4.00"><infEvento><tpAmb>1</tpAmb><cOrgao>35</cOrgao><cStat>135</cStat><xMotivo>Evento registrado e vinculado a CT-e</xMotivo><dhRegEvento>2026-08-12T10:15:31-03:00</dhRegEvento><nProt>135260000000888</nProt></infEvento></retEventoCTe></procEventoCTe>`,
  )
}
