import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset, localDateTime } from '../clock.ts'
import type { Taxpayer } from './cast.ts'
import { digestOf, newChave, newProtocol } from './chave.ts'
import { group, text } from './elements.ts'
import { fixed, money, split, sum } from './money.ts'
import { buildItems, type GeneratedItem } from './nfe-items.ts'
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
  items: number
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
  const { issuer, recipient, carrier, at, tpAmb } = order
  const { chave, cNF, cDV } = newChave(random, { ...order, cUF: issuer.place.cUF, cnpj: issuer.cnpj, mod: '55' })
  const xPed = random.chance(0.3) ? random.digits(6) : undefined
  const vFrete = carrier !== undefined && random.chance(0.25) ? random.integer(4_000, 60_000) : 0
  const discountRate = random.chance(0.2) ? random.pick([20_000, 35_000, 50_000]) : 0
  const items = buildItems(random, { issuer, recipient, count: order.items, vFrete, discountRate, xPed })
  const total = totals(items)
  const weight = Math.max(1_000, Math.round(total.vProd / 6))
  const info = tag(
    'infNFe',
    { versao: '4.00', Id: `NFe${chave}` },
    ide(order, cNF, cDV),
    issuerGroup(issuer),
    recipientGroup(recipient),
    order.reader && group('autXML', text('CNPJ', order.reader.cnpj)),
    ...items.map((item) => item.xml),
    totalGroup(total, issuer.crt === '3'),
    transport(random, carrier, weight),
    ...payment(random, order, total.vNF),
    additional(random, order, xPed),
    xPed === undefined ? '' : group('compra', text('xPed', xPed)),
  )
  const signed = signEnveloped(tag('NFe', { xmlns: namespace }, info), `NFe${chave}`, signer.key, signer.certificate)
  const authorizedAt = at + random.integer(2, 25) * 1_000
  const nProt = newProtocol(random, `1${issuer.place.cUF}`, at)
  const protocol = tag(
    'protNFe',
    { versao: '4.00' },
    group(
      'infProt',
      text('tpAmb', tpAmb),
      text('verAplic', `${issuer.place.uf}_NFE_PL010`),
      text('chNFe', chave),
      text('dhRecbto', dateTimeWithOffset(authorizedAt)),
      text('nProt', nProt),
      text('digVal', digestOf(signed)),
      text('cStat', '100'),
      text('xMotivo', 'Autorizado o uso da NF-e'),
    ),
  )
  const xml = tag('nfeProc', { versao: '4.00', xmlns: namespace }, signed, protocol)
  const bytes = Buffer.from(xml, 'utf8')
  return { ...order, bytes, chave, nProt, authorizedAt, vNF: total.vNF, vProd: total.vProd, weight }
}

function ide({ issuer, recipient, at, tpAmb, serie, numero }: NfeOrder, cNF: string, cDV: string): string {
  return group(
    'ide',
    text('cUF', issuer.place.cUF),
    text('cNF', cNF),
    text('natOp', 'VENDA DE MERCADORIA'),
    text('mod', '55'),
    text('serie', serie),
    text('nNF', numero),
    text('dhEmi', dateTimeWithOffset(at)),
    text('dhSaiEnt', dateTimeWithOffset(at + 1_800_000)),
    text('tpNF', '1'),
    text('idDest', issuer.place.uf === recipient.place.uf ? '1' : '2'),
    text('cMunFG', issuer.place.cMun),
    text('tpImp', '1'),
    text('tpEmis', '1'),
    text('cDV', cDV),
    text('tpAmb', tpAmb),
    text('finNFe', '1'),
    text('indFinal', '0'),
    text('indPres', '9'),
    text('indIntermed', '0'),
    text('procEmi', '0'),
    text('verProc', 'ERP SIMULADO 4.2'),
  )
}

function issuerGroup(issuer: Taxpayer): string {
  return group(
    'emit',
    text('CNPJ', issuer.cnpj),
    text('xNome', issuer.nome),
    text('xFant', issuer.fantasia),
    group('enderEmit', ...address(issuer)),
    text('IE', issuer.ie),
    text('CRT', issuer.crt),
  )
}

function recipientGroup(recipient: Taxpayer): string {
  return group(
    'dest',
    text('CNPJ', recipient.cnpj),
    text('xNome', recipient.nome),
    group('enderDest', ...address(recipient)),
    text('indIEDest', '1'),
    text('IE', recipient.ie),
    text('email', recipient.email),
  )
}

function address({ xLgr, nro, xBairro, place, cep, fone }: Taxpayer): string[] {
  return [
    text('xLgr', xLgr),
    text('nro', nro),
    text('xBairro', xBairro),
    text('cMun', place.cMun),
    text('xMun', place.xMun),
    text('UF', place.uf),
    text('CEP', cep),
    text('cPais', '1058'),
    text('xPais', 'BRASIL'),
    text('fone', fone),
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
    text('vBC', money(total.vBC)),
    text('vICMS', money(total.vICMS)),
    text('vICMSDeson', zero),
    text('vFCP', zero),
    text('vBCST', money(total.vBCST)),
    text('vST', money(total.vST)),
    text('vFCPST', zero),
    text('vFCPSTRet', zero),
    text('vProd', money(total.vProd)),
    text('vFrete', money(total.vFrete)),
    text('vSeg', zero),
    text('vDesc', money(total.vDesc)),
    text('vII', zero),
    text('vIPI', money(total.vIPI)),
    text('vIPIDevol', zero),
    text('vPIS', money(total.vPIS)),
    text('vCOFINS', money(total.vCOFINS)),
    text('vOutro', zero),
    text('vNF', money(total.vNF)),
  )
  if (!withReform) return group('total', icms)
  const credits = [text('vCredPres', zero), text('vCredPresCondSus', zero)]
  const differences = [text('vDif', zero), text('vDevTrib', zero)]
  const reform = group(
    'IBSCBSTot',
    text('vBCIBSCBS', money(total.vBCIBSCBS)),
    group(
      'gIBS',
      group('gIBSUF', ...differences, text('vIBSUF', money(total.vIBSUF))),
      group('gIBSMun', ...differences, text('vIBSMun', zero)),
      text('vIBS', money(total.vIBSUF)),
      ...credits,
    ),
    group('gCBS', ...differences, text('vCBS', money(total.vCBS)), ...credits),
  )
  return group('total', icms, reform, text('vNFTot', money(total.vNF)))
}

function transport(random: Random, carrier: Taxpayer | undefined, weight: number): string {
  if (carrier === undefined) return group('transp', text('modFrete', '9'))
  return group(
    'transp',
    text('modFrete', random.pick(['0', '1'])),
    group(
      'transporta',
      text('CNPJ', carrier.cnpj),
      text('xNome', carrier.nome),
      text('IE', carrier.ie),
      text('xEnder', `${carrier.xLgr}, ${carrier.nro}`),
      text('xMun', carrier.place.xMun),
      text('UF', carrier.place.uf),
    ),
    random.chance(0.4) && group('veicTransp', text('placa', plate(random)), text('UF', carrier.place.uf)),
    group(
      'vol',
      text('qVol', random.integer(1, 60)),
      text('esp', random.pick(['CAIXA', 'VOLUME', 'PALETE', 'FARDO'])),
      text('pesoL', fixed(Math.round(weight * 0.95), 3)),
      text('pesoB', fixed(weight, 3)),
    ),
  )
}

/** A number plate of the Mercosul pattern. */
function plate(random: Random): string {
  const letter = () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[random.integer(0, 25)]
  return `${letter()}${letter()}${letter()}${random.integer(0, 9)}${letter()}${random.digits(2)}`
}

function payment(random: Random, { at, numero }: NfeOrder, vNF: number): string[] {
  const paid = (tPag: string, indPag: '0' | '1') =>
    group('pag', group('detPag', text('indPag', indPag), text('tPag', tPag), text('vPag', money(vNF))))
  if (random.chance(0.3)) return [paid(random.pick(['17', '18', '01']), '0')]
  const count = random.integer(1, 4)
  const parts = split(
    vNF,
    Array.from({ length: count }, () => 1),
  )
  const bill = group(
    'cobr',
    group(
      'fat',
      text('nFat', String(numero).padStart(6, '0')),
      text('vOrig', money(vNF)),
      text('vDesc', '0.00'),
      text('vLiq', money(vNF)),
    ),
    ...parts.map((part, index) =>
      group(
        'dup',
        text('nDup', String(index + 1).padStart(3, '0')),
        text('dVenc', localDateTime(at + (28 + 14 * index) * 86_400_000).slice(0, 10)),
        text('vDup', money(part)),
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
  return notes.length === 0 ? '' : group('infAdic', text('infCpl', notes.join(' ')))
}
