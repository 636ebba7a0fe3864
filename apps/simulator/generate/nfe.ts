import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset, localDateTime } from '../clock.ts'
import type { Taxpayer } from './cast.ts'
import { digestOf, newChave, newProtocol } from './chave.ts'
import { group, textElement } from './elements.ts'
import { fixed, money, split, sum } from './money.ts'
import { buildItems, type GeneratedItem, type SoldLine } from './nfe-items.ts'
import type { Random } from './random.ts'

const namespace = 'http://www.portalfiscal.inf.br/nfe'

export interface NfeOrder {
  at: number
  tpAmb: 1 | 2
  issuer: Taxpayer
  recipient: Taxpayer
  carrier?: Taxpayer
  reader?: Taxpayer
  serie: number
  numero: number
  /** How many lines are made up, or these. */
  items: number | readonly SoldLine[]
  terms?: SaleTerms
}

/** What is agreed in a sale; without it everything is made up. */
export interface SaleTerms {
  /** modFrete: 0 the seller pays, 1 the buyer, 9 nobody carries. */
  freightBy: '0' | '1' | '9'
  /** Days until each parcel; none: paid at once. */
  due: readonly number[]
  /** Grams. */
  weight: number
  /** A seller of the normal regime that does not inform IBS and CBS. */
  withoutReform?: boolean
}

/** An authorised NF-e. */
export interface GeneratedNfe extends NfeOrder {
  bytes: Uint8Array
  chave: string
  nProt: string
  authorizedAt: number
  /** In cents. */
  vNF: number
  vProd: number
  /** Grams. */
  weight: number
}

/** A sale of goods with layout 4.00, signed by its issuer and authorised. */
export function buildNfe(random: Random, order: NfeOrder, signer: IssuedCertificate): GeneratedNfe {
  const { issuer, recipient, carrier, at, tpAmb, terms } = order
  const { chave, cNF, cDV } = newChave(random, { ...order, cUF: issuer.place.cUF, cnpj: issuer.cnpj, mod: '55' })
  const xPed = random.chance(0.3) ? random.digits(6) : undefined
  const vFrete = !terms && carrier !== undefined && random.chance(0.25) ? random.integer(4_000, 60_000) : 0
  const discountRate = !terms && random.chance(0.2) ? random.pick([20_000, 35_000, 50_000]) : 0
  const withReform = issuer.crt === '3' && terms?.withoutReform !== true
  const items = buildItems(random, { issuer, recipient, lines: order.items, vFrete, discountRate, xPed, withReform })
  const total = totals(items)
  const weight = terms?.weight ?? Math.max(1_000, Math.round(total.vProd / 6))
  const info = tag(
    'infNFe',
    { versao: '4.00', Id: `NFe${chave}` },
    ide(order, cNF, cDV),
    issuerGroup(issuer),
    recipientGroup(recipient),
    order.reader && group('autXML', textElement('CNPJ', order.reader.cnpj)),
    ...items.map((item) => item.xml),
    totalGroup(total, withReform),
    transport(random, carrier, weight, terms?.freightBy),
    ...payment(random, order, total.vNF),
    additional(random, order, xPed),
    xPed === undefined ? '' : group('compra', textElement('xPed', xPed)),
  )
  const signed = signEnveloped(tag('NFe', { xmlns: namespace }, info), `NFe${chave}`, signer.key, signer.certificate)
  const authorizedAt = at + random.integer(2, 25) * 1_000
  const nProt = newProtocol(random, `1${issuer.place.cUF}`, at)
  const protocol = tag(
    'protNFe',
    { versao: '4.00' },
    group(
      'infProt',
      textElement('tpAmb', tpAmb),
      textElement('verAplic', `${issuer.place.uf}_NFE_PL010`),
      textElement('chNFe', chave),
      textElement('dhRecbto', dateTimeWithOffset(authorizedAt)),
      textElement('nProt', nProt),
      textElement('digVal', digestOf(signed)),
      textElement('cStat', '100'),
      textElement('xMotivo', 'Autorizado o uso da NF-e'),
    ),
  )
  const xml = tag('nfeProc', { versao: '4.00', xmlns: namespace }, signed, protocol)
  const bytes = Buffer.from(xml, 'utf8')
  return { ...order, bytes, chave, nProt, authorizedAt, vNF: total.vNF, vProd: total.vProd, weight }
}

function ide({ issuer, recipient, at, tpAmb, serie, numero }: NfeOrder, cNF: string, cDV: string): string {
  return group(
    'ide',
    textElement('cUF', issuer.place.cUF),
    textElement('cNF', cNF),
    textElement('natOp', 'VENDA DE MERCADORIA'),
    textElement('mod', '55'),
    textElement('serie', serie),
    textElement('nNF', numero),
    textElement('dhEmi', dateTimeWithOffset(at)),
    textElement('dhSaiEnt', dateTimeWithOffset(at + 1_800_000)),
    textElement('tpNF', '1'),
    textElement('idDest', issuer.place.uf === recipient.place.uf ? '1' : '2'),
    textElement('cMunFG', issuer.place.cMun),
    textElement('tpImp', '1'),
    textElement('tpEmis', '1'),
    textElement('cDV', cDV),
    textElement('tpAmb', tpAmb),
    textElement('finNFe', '1'),
    textElement('indFinal', '0'),
    textElement('indPres', '9'),
    textElement('indIntermed', '0'),
    textElement('procEmi', '0'),
    textElement('verProc', 'ERP SIMULADO 4.2'),
  )
}

function issuerGroup(issuer: Taxpayer): string {
  return group(
    'emit',
    textElement('CNPJ', issuer.cnpj),
    textElement('xNome', issuer.nome),
    textElement('xFant', issuer.fantasia),
    group('enderEmit', ...address(issuer)),
    textElement('IE', issuer.ie),
    textElement('CRT', issuer.crt),
  )
}

function recipientGroup(recipient: Taxpayer): string {
  return group(
    'dest',
    textElement('CNPJ', recipient.cnpj),
    textElement('xNome', recipient.nome),
    group('enderDest', ...address(recipient)),
    textElement('indIEDest', '1'),
    textElement('IE', recipient.ie),
    textElement('email', recipient.email),
  )
}

function address({ xLgr, nro, xBairro, place, cep, fone }: Taxpayer): string[] {
  return [
    textElement('xLgr', xLgr),
    textElement('nro', nro),
    textElement('xBairro', xBairro),
    textElement('cMun', place.cMun),
    textElement('xMun', place.xMun),
    textElement('UF', place.uf),
    textElement('CEP', cep),
    textElement('cPais', '1058'),
    textElement('xPais', 'BRASIL'),
    textElement('fone', fone),
  ]
}

type Totals = Omit<GeneratedItem, 'xml'> & { vNF: number }

function totals(items: readonly GeneratedItem[]): Totals {
  const of = (name: keyof Omit<GeneratedItem, 'xml'>) => sum(items.map((item) => item[name]))
  const total = {
    vProd: of('vProd'),
    vFrete: of('vFrete'),
    vDesc: of('vDesc'),
    vBC: of('vBC'),
    vICMS: of('vICMS'),
    vBCST: of('vBCST'),
    vST: of('vST'),
    vIPI: of('vIPI'),
    vPIS: of('vPIS'),
    vCOFINS: of('vCOFINS'),
    vBCIBSCBS: of('vBCIBSCBS'),
    vIBSUF: of('vIBSUF'),
    vCBS: of('vCBS'),
  }
  // In 2026 IBS and CBS are not part of the total.
  return { ...total, vNF: total.vProd - total.vDesc + total.vST + total.vFrete + total.vIPI }
}

function totalGroup(total: Totals, withReform: boolean): string {
  const zero = '0.00'
  const icms = group(
    'ICMSTot',
    textElement('vBC', money(total.vBC)),
    textElement('vICMS', money(total.vICMS)),
    textElement('vICMSDeson', zero),
    textElement('vFCP', zero),
    textElement('vBCST', money(total.vBCST)),
    textElement('vST', money(total.vST)),
    textElement('vFCPST', zero),
    textElement('vFCPSTRet', zero),
    textElement('vProd', money(total.vProd)),
    textElement('vFrete', money(total.vFrete)),
    textElement('vSeg', zero),
    textElement('vDesc', money(total.vDesc)),
    textElement('vII', zero),
    textElement('vIPI', money(total.vIPI)),
    textElement('vIPIDevol', zero),
    textElement('vPIS', money(total.vPIS)),
    textElement('vCOFINS', money(total.vCOFINS)),
    textElement('vOutro', zero),
    textElement('vNF', money(total.vNF)),
  )
  if (!withReform) return group('total', icms)
  const credits = [textElement('vCredPres', zero), textElement('vCredPresCondSus', zero)]
  const differences = [textElement('vDif', zero), textElement('vDevTrib', zero)]
  const reform = group(
    'IBSCBSTot',
    textElement('vBCIBSCBS', money(total.vBCIBSCBS)),
    group(
      'gIBS',
      group('gIBSUF', ...differences, textElement('vIBSUF', money(total.vIBSUF))),
      group('gIBSMun', ...differences, textElement('vIBSMun', zero)),
      textElement('vIBS', money(total.vIBSUF)),
      ...credits,
    ),
    group('gCBS', ...differences, textElement('vCBS', money(total.vCBS)), ...credits),
  )
  return group('total', icms, reform, textElement('vNFTot', money(total.vNF)))
}

function transport(
  random: Random,
  carrier: Taxpayer | undefined,
  weight: number,
  freightBy: string = carrier === undefined ? '9' : random.pick(['0', '1']),
): string {
  const modFrete = textElement('modFrete', freightBy)
  if (carrier === undefined) return group('transp', modFrete)
  return group(
    'transp',
    modFrete,
    group(
      'transporta',
      textElement('CNPJ', carrier.cnpj),
      textElement('xNome', carrier.nome),
      textElement('IE', carrier.ie),
      textElement('xEnder', `${carrier.xLgr}, ${carrier.nro}`),
      textElement('xMun', carrier.place.xMun),
      textElement('UF', carrier.place.uf),
    ),
    random.chance(0.4) && group('veicTransp', textElement('placa', plate(random)), textElement('UF', carrier.place.uf)),
    group(
      'vol',
      textElement('qVol', random.integer(1, 60)),
      textElement('esp', random.pick(['CAIXA', 'VOLUME', 'PALETE', 'FARDO'])),
      textElement('pesoL', fixed(Math.round(weight * 0.95), 3)),
      textElement('pesoB', fixed(weight, 3)),
    ),
  )
}

/** A number plate of the Mercosul pattern. */
function plate(random: Random): string {
  const letter = () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[random.integer(0, 25)]
  return `${letter()}${letter()}${letter()}${random.integer(0, 9)}${letter()}${random.digits(2)}`
}

function payment(random: Random, { at, numero, terms }: NfeOrder, vNF: number): string[] {
  const paid = (tPag: string, indPag: '0' | '1') =>
    group(
      'pag',
      group('detPag', textElement('indPag', indPag), textElement('tPag', tPag), textElement('vPag', money(vNF))),
    )
  const due = terms?.due ?? (random.chance(0.3) ? [] : [28, 42, 56, 70].slice(0, random.integer(1, 4)))
  if (due.length === 0) return [paid(random.pick(['17', '18', '01']), '0')]
  const parts = split(
    vNF,
    due.map(() => 1),
  )
  const bill = group(
    'cobr',
    group(
      'fat',
      textElement('nFat', String(numero).padStart(6, '0')),
      textElement('vOrig', money(vNF)),
      textElement('vDesc', '0.00'),
      textElement('vLiq', money(vNF)),
    ),
    ...parts.map((part, index) =>
      group(
        'dup',
        textElement('nDup', String(index + 1).padStart(3, '0')),
        textElement('dVenc', localDateTime(at + (due[index] ?? 0) * 86_400_000).slice(0, 10)),
        textElement('vDup', money(part)),
      ),
    ),
  )
  return [bill, paid('15', '1')]
}

function additional(random: Random, { issuer, tpAmb }: NfeOrder, xPed: string | undefined): string {
  const notes = [
    xPed !== undefined && `PEDIDO DE COMPRA ${xPed}.`,
    issuer.crt === '1' && 'DOCUMENTO EMITIDO POR ME OU EPP OPTANTE PELO SIMPLES NACIONAL.',
    tpAmb === 2 && 'EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL.',
    random.chance(0.5) && 'MERCADORIA CONFERIDA NA EXPEDIÇÃO. AVARIAS DEVEM SER ANOTADAS NO CANHOTO.',
  ].filter((note) => typeof note === 'string')
  return notes.length === 0 ? '' : group('infAdic', textElement('infCpl', notes.join(' ')))
}
