import { cancelamento, checkLetter, namespace } from './recibo.ts'

export const company = '12ABC34501DE35'
export const supplier = '99387251000138'
const now = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 19)
const at = `${now}-03:00`

/** The chave of a recibo. */
export function chaveOf(number: number, issuer = supplier): string {
  const aamm = now.slice(2, 4) + now.slice(5, 7)
  const first = `RX3550308${aamm}${issuer}${String(number).padStart(13, '0')}ABCDEFGHI`
  return first + checkLetter(first)
}

function documentXml(number: number, { issuer = supplier, replaces = '' } = {}): string {
  const taker = issuer === supplier ? company : supplier
  const names: Record<string, string> = { [supplier]: 'OFICINA DO PARAFUSO', [company]: 'EMPRESA ALFA' }
  const party = (tag: string, cnpj: string) => `<${tag}><CNPJ>${cnpj}</CNPJ><xNome>${names[cnpj]}</xNome></${tag}>`
  return `<recibo xmlns="${namespace}"><infRecibo Id="${chaveOf(number, issuer)}">${party('prest', issuer)}${party('toma', taker)}<dhEmi>${at}</dhEmi><vServ>150.25</vServ>${replaces && `<subst>${replaces}</subst>`}</infRecibo><dhAut>${at}</dhAut></recibo>`
}

/** An event, with the protocol of its registration. */
export function eventXml(chave: string, tpEvento: number, author: string, when = at): string {
  return `<evento xmlns="${namespace}"><infEvento><ch>${chave}</ch><tp>${tpEvento}</tp><CNPJ>${author}</CNPJ><dh>${when}</dh></infEvento><nProt>5</nProt></evento>`
}

/** Numbers of the documents. */
export const numbers = { answered: 9_876_543_210_123, cancelled: 9_876_543_210_124, own: 1, replaced: 2, replacing: 3 }

/** Deliveries of the made-up authority, in order: an event before its document, own issues too. */
export const deliveries: readonly string[] = [
  eventXml(chaveOf(numbers.cancelled), cancelamento, supplier),
  documentXml(numbers.answered),
  documentXml(numbers.cancelled),
  documentXml(numbers.own, { issuer: company }),
  documentXml(numbers.replaced),
  documentXml(numbers.replacing, { replaces: chaveOf(numbers.replaced) }),
]
