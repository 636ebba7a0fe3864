import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset } from '../clock.ts'
import type { Taxpayer } from './cast.ts'
import { digestOf, type NewChave, newChave, newProtocol } from './chave.ts'
import { group, textElement } from './elements.ts'
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
  /** Value of the service in cents. */
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
  /** The load in words: the CT-e cites no NF-e. */
  otherLoad?: string | undefined
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
      textElement('modal', '01'),
      textElement('tpServ', '0'),
      ...route(sender.place, receiver.place),
      textElement('retira', '1'),
      textElement('indIEToma', '1'),
      group('toma3', textElement('toma', order.toma)),
    ),
    group(
      'compl',
      textElement('xObs', random.pick(['ENTREGA EM HORÁRIO COMERCIAL', 'AGENDAR DESCARGA COM 24H DE ANTECEDÊNCIA'])),
    ),
    carrierGroup(order.carrier),
    partyGroup('rem', 'enderReme', sender),
    partyGroup('dest', 'enderDest', receiver),
    group(
      'vPrest',
      textElement('vTPrest', money(order.vTPrest)),
      textElement('vRec', money(order.vTPrest)),
      ...components(order.vTPrest),
    ),
    taxes(order, sender.place.uf, receiver.place.uf),
    group(
      'infCTeNorm',
      cargoGroup(order, 'PESO BRUTO'),
      order.otherLoad === undefined
        ? group('infDoc', ...order.cargo.map(({ chave }) => group('infNFe', textElement('chave', chave))))
        : group('infDoc', group('infOutros', textElement('tpDoc', '99'), textElement('descOutros', order.otherLoad))),
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
      textElement('modal', '01'),
      textElement('tpServ', '0'),
      textElement('UFIni', sender.place.uf),
      textElement('UFFim', receiver.place.uf),
      textElement('retira', '1'),
    ),
    carrierGroup(order.carrier),
    group(
      'toma',
      textElement('toma', '3'),
      textElement('indIEToma', '1'),
      textElement('CNPJ', receiver.cnpj),
      textElement('IE', receiver.ie),
      textElement('xNome', receiver.nome),
      textElement('fone', receiver.fone),
      group('enderToma', ...address(receiver), textElement('cPais', '1058'), textElement('xPais', 'BRASIL')),
    ),
    cargoGroup(order, '01'),
    ...order.cargo.map(({ chave }, index) =>
      tag(
        'det',
        { nItem: String(index + 1) },
        textElement('cMunIni', sender.place.cMun),
        textElement('xMunIni', sender.place.xMun),
        textElement('cMunFim', receiver.place.cMun),
        textElement('xMunFim', receiver.place.xMun),
        textElement('vPrest', money(parts[index] ?? 0)),
        textElement('vRec', money(parts[index] ?? 0)),
        group('infNFe', textElement('chNFe', chave)),
      ),
    ),
    roadModal(random),
    taxes(order, sender.place.uf, receiver.place.uf, false),
    group(
      'total',
      textElement('vTPrest', money(order.vTPrest)),
      textElement('vTRec', money(order.vTPrest)),
      textElement('vTotDFe', money(order.vTPrest)),
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
      textElement('modal', '01'),
      textElement('tpServ', '6'),
      textElement('indIEToma', '1'),
      ...route(tomador.place, tomador.place),
    ),
    group('compl', textElement('xObs', 'FRETAMENTO CONTÍNUO DE FUNCIONÁRIOS')),
    carrierGroup(carrier),
    partyGroup('toma', 'enderToma', tomador),
    group(
      'vPrest',
      textElement('vTPrest', money(order.vTPrest)),
      textElement('vRec', money(order.vTPrest)),
      ...components(order.vTPrest),
    ),
    taxes(order, carrier.place.uf, tomador.place.uf),
    group(
      'infCTeNorm',
      group(
        'infServico',
        textElement('xDescServ', 'TRANSPORTE DE PESSOAS'),
        group('infQ', textElement('qCarga', fixed(random.integer(12, 46) * 10_000, 4))),
      ),
      group('seg', textElement('respSeg', '4')),
      tag(
        'infModal',
        { versaoModal: '4.00' },
        group(
          'rodoOS',
          textElement('TAF', random.digits(12)),
          group('veic', textElement('placa', `BUS${random.digits(4)}`), textElement('UF', carrier.place.uf)),
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
    order.reader && group('autXML', textElement('CNPJ', order.reader.cnpj)),
  )
  const url = `https://dfe-portal.svrs.rs.gov.br/cte/qrCode?chCTe=${chave}&tpAmb=${tpAmb}`
  const versao = layout.document === 'CTeOS' ? '4.00' : undefined
  const unsigned = tag(
    layout.document,
    { xmlns: namespace, versao },
    info,
    group('infCTeSupl', textElement('qrCodCTe', url)),
  )
  const signed = signEnveloped(unsigned, `CTe${chave}`, signer.key, signer.certificate)
  const authorizedAt = at + random.integer(2, 25) * 1_000
  const nProt = newProtocol(random, `3${carrier.place.cUF}`, at)
  const protocol = tag(
    'protCTe',
    { versao: '4.00' },
    group(
      'infProt',
      textElement('tpAmb', tpAmb),
      textElement('verAplic', 'SVRS-CTE-4.00'),
      textElement('chCTe', chave),
      textElement('dhRecbto', dateTimeWithOffset(authorizedAt)),
      textElement('nProt', nProt),
      textElement('digVal', digestOf(signed)),
      textElement('cStat', '100'),
      textElement('xMotivo', 'Autorizado o uso do CT-e'),
    ),
  )
  const xml = tag(layout.root, { versao: '4.00', xmlns: namespace }, signed, protocol)
  return { bytes: Buffer.from(xml, 'utf8'), chave, nProt, at, authorizedAt, carrier }
}

function ideHead(order: CteOrder, made: NewChave, mod: string, CFOP: string, tpCTe: string): string[] {
  const { place } = order.carrier
  return [
    textElement('cUF', place.cUF),
    textElement('cCT', made.cNF),
    textElement('CFOP', CFOP),
    textElement('natOp', 'PRESTAÇÃO DE SERVIÇO DE TRANSPORTE'),
    textElement('mod', mod),
    textElement('serie', order.serie),
    textElement('nCT', order.numero),
    textElement('dhEmi', dateTimeWithOffset(order.at)),
    textElement('tpImp', '1'),
    textElement('tpEmis', '1'),
    textElement('cDV', made.cDV),
    textElement('tpAmb', order.tpAmb),
    textElement('tpCTe', tpCTe),
    textElement('procEmi', '0'),
    textElement('verProc', 'TMS SIMULADO 2.9'),
    textElement('cMunEnv', place.cMun),
    textElement('xMunEnv', place.xMun),
    textElement('UFEnv', place.uf),
  ]
}

function cfop(from: Taxpayer, to: Taxpayer): string {
  return from.place.uf === to.place.uf ? '5353' : '6353'
}

function route(from: Municipality, to: Municipality): string[] {
  return [
    textElement('cMunIni', from.cMun),
    textElement('xMunIni', from.xMun),
    textElement('UFIni', from.uf),
    textElement('cMunFim', to.cMun),
    textElement('xMunFim', to.xMun),
    textElement('UFFim', to.uf),
  ]
}

function carrierGroup(carrier: Taxpayer): string {
  return group(
    'emit',
    textElement('CNPJ', carrier.cnpj),
    textElement('IE', carrier.ie),
    textElement('xNome', carrier.nome),
    textElement('xFant', carrier.fantasia),
    group('enderEmit', ...address(carrier), textElement('fone', carrier.fone)),
    textElement('CRT', carrier.crt),
  )
}

function partyGroup(name: string, addressName: string, party: Taxpayer): string {
  return group(
    name,
    textElement('CNPJ', party.cnpj),
    textElement('IE', party.ie),
    textElement('xNome', party.nome),
    textElement('fone', party.fone),
    group(addressName, ...address(party), textElement('cPais', '1058'), textElement('xPais', 'BRASIL')),
    textElement('email', party.email),
  )
}

function address({ xLgr, nro, xBairro, place, cep }: Taxpayer): string[] {
  return [
    textElement('xLgr', xLgr),
    textElement('nro', nro),
    textElement('xBairro', xBairro),
    textElement('cMun', place.cMun),
    textElement('xMun', place.xMun),
    textElement('CEP', cep),
    textElement('UF', place.uf),
  ]
}

function components(vTPrest: number): string[] {
  const [weight = 0, value = 0, toll = 0] = split(vTPrest, [8, 1, 1])
  const component = (xNome: string, cents: number) =>
    group('Comp', textElement('xNome', xNome), textElement('vComp', money(cents)))
  return [component('FRETE PESO', weight), component('FRETE VALOR', value), component('PEDAGIO', toll)]
}

function taxes(order: CteOrder, from: string, to: string, withTotal = true): string {
  const { carrier, vTPrest } = order
  if (carrier.crt === '1')
    return group('imp', group('ICMS', group('ICMSSN', textElement('CST', '90'), textElement('indSN', '1'))))
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
        textElement('CST', '00'),
        textElement('vBC', money(vTPrest)),
        textElement('pICMS', rateText(rate)),
        textElement('vICMS', money(vICMS)),
      ),
    ),
    ibsCbs(base, vIBSUF, vCBS),
    withTotal && textElement('vTotDFe', money(vTPrest)),
  )
}

function cargoGroup({ cargo }: FreightOrder, tpMed: string): string {
  const value = cargo.reduce((total, one) => total + one.vNF, 0)
  const weight = cargo.reduce((total, one) => total + one.weight, 0)
  return group(
    'infCarga',
    textElement('vCarga', money(value)),
    textElement('proPred', 'MERCADORIAS DIVERSAS'),
    group(
      'infQ',
      textElement('cUnid', '01'),
      textElement('tpMed', tpMed),
      textElement('qCarga', fixed(weight * 10, 4)),
    ),
  )
}

function roadModal(random: Random): string {
  return tag('infModal', { versaoModal: '4.00' }, group('rodo', textElement('RNTRC', random.digits(8))))
}
