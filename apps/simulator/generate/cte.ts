import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset } from '../clock.ts'
import type { Taxpayer } from './cast.ts'
import { digestOf, type NewChave, newChave, newProtocol } from './chave.ts'
import { group, text } from './elements.ts'
import { fixed, money, rateText, share, split } from './money.ts'
import { ibsCbs, ibsCbsOf } from './nfe-items.ts'
import { icmsRate, type Municipality } from './places.ts'
import type { Random } from './random.ts'

const namespace = 'http://www.portalfiscal.inf.br/cte'

interface CteOrder {
  at: number
  tpAmb: 1 | 2
  carrier: Taxpayer
  serie: number
  numero: number
  /** Of the service, in cents. */
  vTPrest: number
  reader?: Taxpayer
}

/** A load of goods from one party to another. */
interface FreightOrder extends CteOrder {
  sender: Taxpayer
  receiver: Taxpayer
  /** 0 remetente, 3 destinatário. */
  toma: '0' | '3'
  /** Chaves of the NF-e that are carried, with the value and weight of each. */
  cargo: { chave: string; vNF: number; weight: number }[]
}

interface PassengersOrder extends CteOrder {
  tomador: Taxpayer
}

/** An authorised document of the CT-e family. */
export interface GeneratedCte {
  bytes: Uint8Array
  chave: string
  nProt: string
  at: number
  authorizedAt: number
  carrier: Taxpayer
}

interface CteLayout {
  root: string
  document: string
  mod: '57' | '67'
}

/** CT-e, model 57, by road. */
export function buildCte(random: Random, order: FreightOrder, signer: IssuedCertificate): GeneratedCte {
  const { sender, receiver } = order
  return finish(random, order, { root: 'cteProc', document: 'CTe', mod: '57' }, signer, (made) => [
    group(
      'ide',
      ...ideHead(order, made, '57', cfop(sender, receiver), '0'),
      text('modal', '01'),
      text('tpServ', '0'),
      ...route(sender.place, receiver.place),
      text('retira', '1'),
      text('indIEToma', '1'),
      group('toma3', text('toma', order.toma)),
    ),
    group(
      'compl',
      text('xObs', random.pick(['ENTREGA EM HORÁRIO COMERCIAL', 'AGENDAR DESCARGA COM 24H DE ANTECEDÊNCIA'])),
    ),
    carrierGroup(order.carrier),
    partyGroup('rem', 'enderReme', sender),
    partyGroup('dest', 'enderDest', receiver),
    group(
      'vPrest',
      text('vTPrest', money(order.vTPrest)),
      text('vRec', money(order.vTPrest)),
      ...components(order.vTPrest),
    ),
    taxes(order, sender.place.uf, receiver.place.uf),
    group(
      'infCTeNorm',
      cargoGroup(order, 'PESO BRUTO'),
      group('infDoc', ...order.cargo.map(({ chave }) => group('infNFe', text('chave', chave)))),
      roadModal(random),
    ),
  ])
}

/** CT-e Simplificado: several deliveries to the places of one tomador. */
export function buildSimplifiedCte(random: Random, order: FreightOrder, signer: IssuedCertificate): GeneratedCte {
  const { sender, receiver } = order
  const parts = split(
    order.vTPrest,
    order.cargo.map(() => 1),
  )
  return finish(random, order, { root: 'cteSimpProc', document: 'CTeSimp', mod: '57' }, signer, (made) => [
    group(
      'ide',
      ...ideHead(order, made, '57', cfop(sender, receiver), '5'),
      text('modal', '01'),
      text('tpServ', '0'),
      text('UFIni', sender.place.uf),
      text('UFFim', receiver.place.uf),
      text('retira', '1'),
    ),
    carrierGroup(order.carrier),
    group(
      'toma',
      text('toma', '3'),
      text('indIEToma', '1'),
      text('CNPJ', receiver.cnpj),
      text('IE', receiver.ie),
      text('xNome', receiver.nome),
      text('fone', receiver.fone),
      group('enderToma', ...address(receiver), text('cPais', '1058'), text('xPais', 'BRASIL')),
    ),
    cargoGroup(order, '01'),
    ...order.cargo.map(({ chave }, index) =>
      tag(
        'det',
        { nItem: String(index + 1) },
        text('cMunIni', sender.place.cMun),
        text('xMunIni', sender.place.xMun),
        text('cMunFim', receiver.place.cMun),
        text('xMunFim', receiver.place.xMun),
        text('vPrest', money(parts[index] ?? 0)),
        text('vRec', money(parts[index] ?? 0)),
        group('infNFe', text('chNFe', chave)),
      ),
    ),
    roadModal(random),
    taxes(order, sender.place.uf, receiver.place.uf, false),
    group(
      'total',
      text('vTPrest', money(order.vTPrest)),
      text('vTRec', money(order.vTPrest)),
      text('vTotDFe', money(order.vTPrest)),
    ),
  ])
}

/** CT-e OS, model 67: transport of people. */
export function buildCteOs(random: Random, order: PassengersOrder, signer: IssuedCertificate): GeneratedCte {
  const { carrier, tomador } = order
  return finish(random, order, { root: 'cteOSProc', document: 'CTeOS', mod: '67' }, signer, (made) => [
    group(
      'ide',
      ...ideHead(order, made, '67', cfop(tomador, tomador), '0'),
      text('modal', '01'),
      text('tpServ', '6'),
      text('indIEToma', '1'),
      ...route(tomador.place, tomador.place),
    ),
    group('compl', text('xObs', 'FRETAMENTO CONTÍNUO DE FUNCIONÁRIOS')),
    carrierGroup(carrier),
    partyGroup('toma', 'enderToma', tomador),
    group(
      'vPrest',
      text('vTPrest', money(order.vTPrest)),
      text('vRec', money(order.vTPrest)),
      ...components(order.vTPrest),
    ),
    taxes(order, carrier.place.uf, tomador.place.uf),
    group(
      'infCTeNorm',
      group(
        'infServico',
        text('xDescServ', 'TRANSPORTE DE PESSOAS'),
        group('infQ', text('qCarga', fixed(random.integer(12, 46) * 10_000, 4))),
      ),
      group('seg', text('respSeg', '4')),
      tag(
        'infModal',
        { versaoModal: '4.00' },
        group(
          'rodoOS',
          text('TAF', random.digits(12)),
          group('veic', text('placa', `BUS${random.digits(4)}`), text('UF', carrier.place.uf)),
        ),
      ),
    ),
  ])
}

function finish(
  random: Random,
  order: CteOrder,
  layout: CteLayout,
  signer: IssuedCertificate,
  content: (made: NewChave) => string[],
): GeneratedCte {
  const { carrier, at, tpAmb } = order
  const made = newChave(random, { ...order, cUF: carrier.place.cUF, cnpj: carrier.cnpj, mod: layout.mod })
  const { chave } = made
  const info = tag(
    'infCte',
    { versao: '4.00', Id: `CTe${chave}` },
    ...content(made),
    order.reader && group('autXML', text('CNPJ', order.reader.cnpj)),
  )
  const url = `https://dfe-portal.svrs.rs.gov.br/cte/qrCode?chCTe=${chave}&tpAmb=${tpAmb}`
  const versao = layout.document === 'CTeOS' ? '4.00' : undefined
  const unsigned = tag(layout.document, { xmlns: namespace, versao }, info, group('infCTeSupl', text('qrCodCTe', url)))
  const signed = signEnveloped(unsigned, `CTe${chave}`, signer.key, signer.certificate)
  const authorizedAt = at + random.integer(2, 25) * 1_000
  const nProt = newProtocol(random, `3${carrier.place.cUF}`, at)
  const protocol = tag(
    'protCTe',
    { versao: '4.00' },
    group(
      'infProt',
      text('tpAmb', tpAmb),
      text('verAplic', 'SVRS-CTE-4.00'),
      text('chCTe', chave),
      text('dhRecbto', dateTimeWithOffset(authorizedAt)),
      text('nProt', nProt),
      text('digVal', digestOf(signed)),
      text('cStat', '100'),
      text('xMotivo', 'Autorizado o uso do CT-e'),
    ),
  )
  const xml = tag(layout.root, { versao: '4.00', xmlns: namespace }, signed, protocol)
  return { bytes: Buffer.from(xml, 'utf8'), chave, nProt, at, authorizedAt, carrier }
}

function ideHead(order: CteOrder, made: NewChave, mod: string, CFOP: string, tpCTe: string): string[] {
  const { place } = order.carrier
  return [
    text('cUF', place.cUF),
    text('cCT', made.cNF),
    text('CFOP', CFOP),
    text('natOp', 'PRESTAÇÃO DE SERVIÇO DE TRANSPORTE'),
    text('mod', mod),
    text('serie', order.serie),
    text('nCT', order.numero),
    text('dhEmi', dateTimeWithOffset(order.at)),
    text('tpImp', '1'),
    text('tpEmis', '1'),
    text('cDV', made.cDV),
    text('tpAmb', order.tpAmb),
    text('tpCTe', tpCTe),
    text('procEmi', '0'),
    text('verProc', 'TMS SIMULADO 2.9'),
    text('cMunEnv', place.cMun),
    text('xMunEnv', place.xMun),
    text('UFEnv', place.uf),
  ]
}

function cfop(from: Taxpayer, to: Taxpayer): string {
  return from.place.uf === to.place.uf ? '5353' : '6353'
}

function route(from: Municipality, to: Municipality): string[] {
  return [
    text('cMunIni', from.cMun),
    text('xMunIni', from.xMun),
    text('UFIni', from.uf),
    text('cMunFim', to.cMun),
    text('xMunFim', to.xMun),
    text('UFFim', to.uf),
  ]
}

function carrierGroup(carrier: Taxpayer): string {
  return group(
    'emit',
    text('CNPJ', carrier.cnpj),
    text('IE', carrier.ie),
    text('xNome', carrier.nome),
    text('xFant', carrier.fantasia),
    group('enderEmit', ...address(carrier), text('fone', carrier.fone)),
    text('CRT', carrier.crt),
  )
}

function partyGroup(name: string, addressName: string, party: Taxpayer): string {
  return group(
    name,
    text('CNPJ', party.cnpj),
    text('IE', party.ie),
    text('xNome', party.nome),
    text('fone', party.fone),
    group(addressName, ...address(party), text('cPais', '1058'), text('xPais', 'BRASIL')),
    text('email', party.email),
  )
}

function address({ xLgr, nro, xBairro, place, cep }: Taxpayer): string[] {
  return [
    text('xLgr', xLgr),
    text('nro', nro),
    text('xBairro', xBairro),
    text('cMun', place.cMun),
    text('xMun', place.xMun),
    text('CEP', cep),
    text('UF', place.uf),
  ]
}

function components(vTPrest: number): string[] {
  const [weight = 0, value = 0, toll = 0] = split(vTPrest, [8, 1, 1])
  const component = (xNome: string, cents: number) => group('Comp', text('xNome', xNome), text('vComp', money(cents)))
  return [component('FRETE PESO', weight), component('FRETE VALOR', value), component('PEDAGIO', toll)]
}

function taxes(order: CteOrder, from: string, to: string, withTotal = true): string {
  const { carrier, vTPrest } = order
  if (carrier.crt === '1') return group('imp', group('ICMS', group('ICMSSN', text('CST', '90'), text('indSN', '1'))))
  const rate = icmsRate(from, to)
  const vICMS = share(vTPrest, rate)
  const base = vTPrest - vICMS
  const { vIBSUF, vCBS } = ibsCbsOf(base)
  return group(
    'imp',
    group(
      'ICMS',
      group(
        'ICMS00',
        text('CST', '00'),
        text('vBC', money(vTPrest)),
        text('pICMS', rateText(rate)),
        text('vICMS', money(vICMS)),
      ),
    ),
    ibsCbs(base, vIBSUF, vCBS),
    withTotal && text('vTotDFe', money(vTPrest)),
  )
}

function cargoGroup({ cargo }: FreightOrder, tpMed: string): string {
  const value = cargo.reduce((total, one) => total + one.vNF, 0)
  const weight = cargo.reduce((total, one) => total + one.weight, 0)
  return group(
    'infCarga',
    text('vCarga', money(value)),
    text('proPred', 'MERCADORIAS DIVERSAS'),
    group('infQ', text('cUnid', '01'), text('tpMed', tpMed), text('qCarga', fixed(weight * 10, 4))),
  )
}

function roadModal(random: Random): string {
  return tag('infModal', { versaoModal: '4.00' }, group('rodo', text('RNTRC', random.digits(8))))
}
