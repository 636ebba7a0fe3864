// Values that change by date, with sources; a change touches only this file. Dates are of dhEmi.

/** The day of the tables below (Portal da Conformidade Fácil, table of CST-IBS/CBS and cClassTrib; Informe Técnico 2025.002 v1.60). */
export const tableDay = '2026-10-08'

/** From this day on an issuer of the normal regime (CRT 3) informs IBS and CBS (LC 214/2025, art. 348); what an earlier document says of them was a test. */
export const inForceFrom = '2026-01-01'

/** CST-IBS/CBS and what the table calls each; the first three digits of a cClassTrib are its CST (Informe Técnico 2025.002, table of 08/10/2026). */
export const situations: ReadonlyMap<string, string> = new Map([
  ['000', 'Tributação integral'],
  ['010', 'Tributação com alíquotas uniformes'],
  ['011', 'Tributação com alíquotas uniformes reduzidas'],
  ['200', 'Alíquota reduzida'],
  ['220', 'Alíquota fixa'],
  ['221', 'Alíquota fixa proporcional'],
  ['222', 'Redução de base de cálculo'],
  ['400', 'Isenção'],
  ['410', 'Imunidade e não incidência'],
  ['510', 'Diferimento'],
  ['515', 'Diferimento com redução de alíquota'],
  ['550', 'Suspensão'],
  ['620', 'Tributação monofásica'],
  ['800', 'Transferência de crédito'],
  ['810', 'Ajuste de IBS na ZFM'],
  ['811', 'Ajustes'],
  ['820', 'Tributação em documento específico'],
  ['830', 'Exclusão de base de cálculo'],
])

/** Codes of cClassTrib that ended, with their last day (Informe Técnico 2025.002, table of 08/10/2026). */
export const endedCodes: ReadonlyMap<string, string> = new Map([
  ['220001', '2026-01-01'],
  ['220002', '2026-01-01'],
  ['220003', '2026-01-01'],
])

/** Standard rates in percent of the years in which they are known, both days included. */
export interface Rates {
  from: string
  to: string
  pIBSUF: string
  pIBSMun: string
  /** Undefined until a law sets it. */
  pCBS?: string
}

/** 2026: rejections 1026, 1036, 1037 (NT 2025.002, UB18-10, UB37-10, UB56-10); 2027 and 2028: LC 214/2025. */
export const rates: readonly Rates[] = [
  { from: '2026-01-01', to: '2026-12-31', pIBSUF: '0.1', pIBSMun: '0', pCBS: '0.9' },
  { from: '2027-01-01', to: '2028-12-31', pIBSUF: '0.05', pIBSMun: '0.05' },
]

/** The years that are a test, in which IBS and CBS are no part of vNF; what every screen says beside their values (LC 214/2025, art. 348). */
export const testYears: ReadonlyMap<string, string> = new Map([
  ['2026', '2026 é ano-teste: os valores são informativos, não geram débito nem crédito.'],
])

/** A kind of nota de crédito or de débito; `otherTaxes`: it may have ICMS, IPI, PIS and COFINS too (NT 2025.002, rejection 1001). */
export interface NoteKind {
  text: string
  otherTaxes: boolean
}

/** By tpNFCredito, of finNFe 5 (NT 2025.002; package PL_010e). Reduces the issuer's debt. */
export const creditNotes: ReadonlyMap<string, NoteKind> = new Map([
  ['01', { text: 'multa e juros', otherTaxes: false }],
  ['02', { text: 'crédito presumido sobre o saldo na ZFM', otherTaxes: false }],
  ['03', { text: 'retorno por recusa na entrega ou destinatário não localizado', otherTaxes: true }],
  ['04', { text: 'redução de valores', otherTaxes: true }],
  ['05', { text: 'transferência de crédito na sucessão', otherTaxes: false }],
  ['06', { text: 'retorno por recusa de parte da entrega', otherTaxes: true }],
])

/** By tpNFDebito, of finNFe 6 (NT 2025.002; package PL_010e). Increases the issuer's debt. */
export const debitNotes: ReadonlyMap<string, NoteKind> = new Map([
  ['01', { text: 'transferência de créditos para cooperativas', otherTaxes: false }],
  ['02', { text: 'anulação de crédito por saídas imunes ou isentas', otherTaxes: false }],
  ['03', { text: 'débitos de notas não processadas na apuração', otherTaxes: false }],
  ['04', { text: 'multa e juros', otherTaxes: false }],
  ['05', { text: 'transferência de crédito na sucessão', otherTaxes: false }],
  ['06', { text: 'pagamento antecipado', otherTaxes: true }],
  ['07', { text: 'perda em estoque', otherTaxes: true }],
  ['08', { text: 'desenquadramento do Simples Nacional', otherTaxes: false }],
])
