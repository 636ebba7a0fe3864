import { signEnveloped } from '@vigia/xml/sign'
import { tag } from '@vigia/xml/write'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset } from '../clock.ts'
import { eventSummary } from '../summaries.ts'
import { newProtocol } from './chave.ts'
import { group, textElement } from './elements.ts'
import type { Random } from './random.ts'

const nfe = 'http://www.portalfiscal.inf.br/nfe'
const cte = 'http://www.portalfiscal.inf.br/cte'
// Author of the events that the Ambiente Nacional generates.
const serpro = '33683111000107'

// The two conditions of use are fixed texts of the schemas (e110110, evCCeCTe).
const nfeCorrectionTerms =
  'A Carta de Correção é disciplinada pelo § 1º-A do art. 7º do Convênio S/N, de 15 de dezembro de 1970 e pode ser utilizada para regularização de erro ocorrido na emissão de documento fiscal, desde que o erro não esteja relacionado com: I - as variáveis que determinam o valor do imposto tais como: base de cálculo, alíquota, diferença de preço, quantidade, valor da operação ou da prestação; II - a correção de dados cadastrais que implique mudança do remetente ou do destinatário; III - a data de emissão ou de saída.'
const cteCorrectionTerms =
  'A Carta de Correção é disciplinada pelo Art. 58-B do CONVÊNIO/SINIEF 06/89: Fica permitida a utilização de carta de correção, para regularização de erro ocorrido na emissão de documentos fiscais relativos à prestação de serviço de transporte, desde que o erro não esteja relacionado com: I - as variáveis que determinam o valor do imposto tais como: base de cálculo, alíquota, diferença de preço, quantidade, valor da prestação;II - a correção de dados cadastrais que implique mudança do emitente, tomador, remetente ou do destinatário;III - a data de emissão ou de saída.'

interface EventOrder {
  at: number
  tpAmb: 1 | 2
  chave: string
  /** CNPJ of the author. */
  author: string
  /** CNPJ of the destinatário, which the response repeats. */
  recipient?: string
  tpEvento: number
  nSeqEvento?: number
  detail: string
  description: string
}

/** A registered event of an NF-e, signed by its author. */
export function buildNfeEvent(random: Random, order: EventOrder, signer: IssuedCertificate): Uint8Array {
  const { chave, tpEvento, tpAmb, at, nSeqEvento = 1 } = order
  const manifestation = String(tpEvento).startsWith('2102')
  const cOrgao = manifestation ? '91' : chave.slice(0, 2)
  const Id = `ID${tpEvento}${chave}${String(nSeqEvento).padStart(2, '0')}`
  const info = tag(
    'infEvento',
    { Id },
    textElement('cOrgao', cOrgao),
    textElement('tpAmb', tpAmb),
    textElement('CNPJ', order.author),
    textElement('chNFe', chave),
    textElement('dhEvento', dateTimeWithOffset(at)),
    textElement('tpEvento', tpEvento),
    textElement('nSeqEvento', nSeqEvento),
    textElement('verEvento', '1.00'),
    tag('detEvento', { versao: '1.00' }, order.detail),
  )
  const unsigned = tag('evento', { xmlns: nfe, versao: '1.00' }, info)
  const signed = signEnveloped(unsigned, Id, signer.key, signer.certificate)
  const nProt = newProtocol(random, manifestation ? '891' : `1${cOrgao}`, at)
  const response = tag(
    'retEvento',
    { versao: '1.00' },
    tag(
      'infEvento',
      { Id: `ID${nProt}` },
      textElement('tpAmb', tpAmb),
      textElement('verAplic', manifestation ? 'AN_1.6.4' : 'EVENTOS_PL_100'),
      textElement('cOrgao', cOrgao),
      textElement('cStat', '135'),
      textElement('xMotivo', 'Evento registrado e vinculado a NF-e'),
      textElement('chNFe', chave),
      textElement('tpEvento', tpEvento),
      textElement('xEvento', order.description),
      textElement('nSeqEvento', nSeqEvento),
      textElement('CNPJDest', order.recipient),
      textElement('dhRegEvento', dateTimeWithOffset(at + 3_000)),
      textElement('nProt', nProt),
    ),
  )
  return Buffer.from(tag('procEventoNFe', { xmlns: nfe, versao: '1.00' }, signed, response), 'utf8')
}

/** A registered event of a CT-e, signed by its author. */
export function buildCteEvent(random: Random, order: EventOrder, signer: IssuedCertificate): Uint8Array {
  const { chave, tpEvento, tpAmb, at, nSeqEvento = 1 } = order
  const cOrgao = chave.slice(0, 2)
  const Id = `ID${tpEvento}${chave}${String(nSeqEvento).padStart(3, '0')}`
  const info = tag(
    'infEvento',
    { Id },
    textElement('cOrgao', cOrgao),
    textElement('tpAmb', tpAmb),
    textElement('CNPJ', order.author),
    textElement('chCTe', chave),
    textElement('dhEvento', dateTimeWithOffset(at)),
    textElement('tpEvento', tpEvento),
    textElement('nSeqEvento', nSeqEvento),
    tag('detEvento', { versaoEvento: '4.00' }, order.detail),
  )
  const unsigned = tag('eventoCTe', { xmlns: cte, versao: '4.00' }, info)
  const signed = signEnveloped(unsigned, Id, signer.key, signer.certificate)
  const response = tag(
    'retEventoCTe',
    { versao: '4.00' },
    group(
      'infEvento',
      textElement('tpAmb', tpAmb),
      textElement('verAplic', 'SVRS-CTE-4.00'),
      textElement('cOrgao', cOrgao),
      textElement('cStat', '135'),
      textElement('xMotivo', 'Evento registrado e vinculado a CT-e'),
      textElement('chCTe', chave),
      textElement('tpEvento', tpEvento),
      textElement('xEvento', order.description),
      textElement('nSeqEvento', nSeqEvento),
      textElement('dhRegEvento', dateTimeWithOffset(at + 3_000)),
      textElement('nProt', newProtocol(random, `3${cOrgao}`, at)),
    ),
  )
  return Buffer.from(tag('procEventoCTe', { xmlns: cte, versao: '4.00' }, signed, response), 'utf8')
}

/** Detail and description of a manifestação do destinatário, by code. */
export function manifestationDetail(tpEvento: 210200 | 210210 | 210220 | 210240): {
  detail: string
  description: string
} {
  const description = {
    210200: 'Confirmacao da Operacao',
    210210: 'Ciencia da Operacao',
    210220: 'Desconhecimento da Operacao',
    210240: 'Operacao nao Realizada',
  }[tpEvento]
  const reason = tpEvento === 210240 ? textElement('xJust', 'Mercadoria devolvida no ato do recebimento') : ''
  return { detail: textElement('descEvento', description) + reason, description }
}

export function nfeCancellationDetail(nProt: string): { detail: string; description: string } {
  const description = 'Cancelamento'
  const reason = textElement('xJust', 'Pedido cancelado pelo cliente antes da saída da mercadoria')
  return { detail: textElement('descEvento', description) + textElement('nProt', nProt) + reason, description }
}

export function nfeCorrectionDetail(xCorrecao: string): { detail: string; description: string } {
  const description = 'Carta de Correção'
  const detail = [
    textElement('descEvento', description),
    textElement('xCorrecao', xCorrecao),
    textElement('xCondUso', nfeCorrectionTerms),
  ]
  return { detail: detail.join(''), description }
}

export function cteCancellationDetail(nProt: string): { detail: string; description: string } {
  const description = 'Cancelamento'
  const parts = [
    textElement('descEvento', description),
    textElement('nProt', nProt),
    textElement('xJust', 'Serviço de transporte não foi iniciado'),
  ]
  return { detail: group('evCancCTe', ...parts), description }
}

export function cteCorrectionDetail(valorAlterado: string): { detail: string; description: string } {
  const description = 'Carta de Correção'
  const correction = [
    textElement('grupoAlterado', 'compl'),
    textElement('campoAlterado', 'xObs'),
    textElement('valorAlterado', valorAlterado),
  ]
  const parts = [
    textElement('descEvento', description),
    group('infCorrecao', ...correction),
    textElement('xCondUso', cteCorrectionTerms),
  ]
  return { detail: group('evCCeCTe', ...parts), description }
}

const trailTexts = {
  610600: 'CT-e Autorizado para NF-e',
  610601: 'CT-e Cancelado para NF-e',
  610610: 'MDF-e Autorizado para NF-e',
  610614: 'MDF-e Autorizado vinculado a CT-e',
}

/** The resEvento of an event that the Ambiente Nacional propagates from a CT-e or MDF-e to an NF-e. */
export function buildTrailSummary(
  random: Random,
  order: { at: number; chave: string; tpEvento: keyof typeof trailTexts; nSeqEvento?: number },
): Uint8Array {
  return eventSummary({
    cOrgao: '91',
    CNPJ: serpro,
    chNFe: order.chave,
    dhEvento: dateTimeWithOffset(order.at),
    tpEvento: order.tpEvento,
    nSeqEvento: order.nSeqEvento ?? 1,
    xEvento: trailTexts[order.tpEvento],
    dhRecbto: dateTimeWithOffset(order.at + 5_000),
    nProt: newProtocol(random, '891', order.at),
  })
}
