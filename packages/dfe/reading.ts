import type { XmlFault } from '@vigia/xml/parse'
import { chaveParts, issuerInChave, looksLikeChave, parseChave } from './chave.ts'
import { child, localTime, value, type XmlElement } from './document.ts'
import type { DocumentFacts, Party, Problem, UnknownFacts } from './facts.ts'
import { ufByCode } from './uf.ts'

export function unknown(root: XmlElement, reason: string): UnknownFacts {
  return { kind: 'unknown', root: root.name, reason }
}

/** Describes the faults of a file that was parsed leniently (XML 1.0 §4.1, §4.3.3). */
export function faultProblems(faults: ReadonlySet<XmlFault>): Problem[] {
  return [...faults].map((fault) => ({ code: `xml-${fault}`, message: faultSentences[fault] }))
}

const faultSentences: Record<XmlFault, string> = {
  encoding:
    'Os bytes deste arquivo não estão em UTF-8, como deveriam: os acentos foram lidos como windows-1252, e o arquivo está guardado como chegou.',
  entity:
    'O arquivo traz um código que o XML não define, como &null;: ele foi lido assim mesmo, e o arquivo está guardado como chegou.',
}

/** The CNPJ or CPF directly under a group; empty elements, zeros and other text count as none (MOC: `<CNPJ/>` for a party abroad). */
export function taxIdOf(group: XmlElement | undefined): string | undefined {
  const cnpj = value(group, 'CNPJ')
  if (cnpj !== undefined && /^[0-9A-Z]{12}[0-9]{2}$/.test(cnpj) && !/^0+$/.test(cnpj)) return cnpj
  const cpf = value(group, 'CPF')
  return cpf !== undefined && /^[0-9]{11}$/.test(cpf) && !/^0+$/.test(cpf) ? cpf : undefined
}

export function addParty(parties: Party[], role: number, group: XmlElement | undefined): void {
  const taxId = taxIdOf(group)
  if (taxId !== undefined) parties.push({ role, taxId, name: value(group, 'xNome') })
}

/** The chave in the text, when it has the shape of one; a wrong check digit is a problem, not a refusal. */
export function chaveOf(text: string | undefined, problems: Problem[]): string | undefined {
  if (text === undefined || !looksLikeChave(text)) return undefined
  if (parseChave(text) === null) {
    problems.push({ code: 'chave-check-digit', message: 'O dígito verificador da chave de acesso não confere.' })
  }
  return text
}

/** Returns a date as written; '' if it is missing or invalid, which is reported. */
export function dateOf(text: string | undefined, what: string, problems: Problem[]): string {
  if (text === undefined) problems.push({ code: 'date-missing', message: `O documento não traz a data de ${what}.` })
  return optionalDateOf(text, what, problems) ?? ''
}

/** Returns a date as written; reports an invalid one and returns undefined. */
export function optionalDateOf(text: string | undefined, what: string, problems: Problem[]): string | undefined {
  if (text === undefined || localTime(text) !== null) return text
  const message = `A data de ${what} não é válida: ${text.slice(0, 40)}.`
  problems.push({ code: 'date-invalid', message })
  return undefined
}

export function amountOf(text: string | undefined, problems: Problem[]): string {
  if (text !== undefined && /^\d{1,15}(?:\.\d{1,10})?$/.test(text)) return text
  problems.push({ code: 'amount', message: 'O documento não traz um valor total legível.' })
  return '0'
}

/** The model of a document, two digits; otherwise the model of the chave. */
export function modelOf(text: string | undefined, ofChave: string): string {
  return text !== undefined && /^\d\d$/.test(text) ? text : ofChave
}

export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/**
 * Fields that NF-e and CT-e share: identification, issuer and recipient; `number` is the element of
 * the document number in `ide`.
 */
export function identificationOf(inf: XmlElement, chave: string, number: 'nNF' | 'nCT', problems: Problem[]) {
  const parts = chaveParts(chave)
  const ide = child(inf, 'ide')
  const emit = child(inf, 'emit')
  const dest = child(inf, 'dest')
  return {
    serie: numberOf(value(ide, 'serie')) ?? parts.serie,
    numero: numberOf(value(ide, number)) ?? parts.numero,
    issuedAt: dateOf(value(ide, 'dhEmi') ?? value(ide, 'dEmi'), 'emissão', problems),
    issuerTaxId: taxIdOf(emit) ?? taxIdOfChave(chave, problems),
    issuerName: value(emit, 'xNome') ?? '',
    issuerIe: value(emit, 'IE'),
    issuerUf: value(emit, 'enderEmit/UF') ?? ufByCode(parts.cUF)?.uf,
    recipientTaxId: taxIdOf(dest),
    recipientName: value(dest, 'xNome'),
    tpAmb: value(ide, 'tpAmb') ?? '',
    natOp: value(ide, 'natOp'),
  }
}

export function taxIdOfChave(chave: string, problems: Problem[]): string {
  problems.push({
    code: 'issuer-missing',
    message: 'O emitente não traz CNPJ nem CPF; foi usado o da chave de acesso.',
  })
  const { cnpj, cpf } = issuerInChave(chave)
  return cnpj ?? cpf
}

type Authorization = Pick<DocumentFacts, 'situation' | 'protocol' | 'authorizedAt' | 'cStat' | 'digest'>

/** Situation by the cStat of the document's own protocol (MOC 7.0 and MOC CT-e 4.00). */
export function authorizationOf(protocol: XmlElement | undefined, chave: string, problems: Problem[]): Authorization {
  const infProt = child(protocol, 'infProt')
  if (infProt === undefined) return { situation: 'no-protocol' }
  if ((value(infProt, 'chNFe') ?? value(infProt, 'chCTe')) !== chave) {
    problems.push({ code: 'protocol-of-another-chave', message: 'O protocolo refere-se a outra chave de acesso.' })
    return { situation: 'no-protocol' }
  }
  const cStat = value(infProt, 'cStat')
  const situation = situations.get(cStat ?? '') ?? 'no-protocol'
  if (situation === 'no-protocol') {
    const message = `O protocolo não é de autorização (cStat ${cStat ?? 'ausente'}).`
    problems.push({ code: 'protocol-status', message })
  }
  return {
    situation,
    protocol: value(infProt, 'nProt'),
    authorizedAt: optionalDateOf(value(infProt, 'dhRecbto'), 'autorização', problems),
    cStat,
    digest: value(infProt, 'digVal'),
  }
}

const situations = new Map<string, DocumentFacts['situation']>([
  ['100', 'authorized'],
  ['150', 'authorized'],
  ['110', 'denied'],
  ['205', 'denied'],
  ['301', 'denied'],
  ['302', 'denied'],
  ['303', 'denied'],
  ['101', 'cancelled'],
  ['151', 'cancelled'],
  ['155', 'cancelled'],
])
