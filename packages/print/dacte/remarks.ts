import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { date, dateTime, entryOf, joined, money, percent } from '../formats.ts'
import { paragraphs } from '../layout/text.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { inContingency, lacksProtocol, type PrintedCte } from './cte.ts'

function named(label: string, text: string | undefined): string | undefined {
  return text && `${label}: ${text}`
}

function flow(texts: readonly (string | undefined)[]): Ansi[] {
  return texts.flatMap((text) => (text ? paragraphs(text) : []))
}

/**
 * Builds OBSERVAÇÕES: the situation, the whole xObs, then fields without a box (MOC CT-e 4.00,
 * Anexo II, correlation table).
 */
export function remarks(cte: PrintedCte): Ansi[] {
  const { ide, infCte, norm } = cte
  const compl = child(infCte, 'compl')
  const retira = value(ide, 'retira')
  return flow([
    ...situation(cte),
    value(compl, 'xObs'),
    named('Característica adicional do transporte', value(compl, 'xCaracAd')),
    named('Característica adicional do serviço', value(compl, 'xCaracSer')),
    named('Funcionário emissor', value(compl, 'xEmi')),
    delivery(child(compl, 'Entrega')),
    named('Município de origem para cálculo do frete', value(compl, 'origCalc')),
    named('Município de destino para cálculo do frete', value(compl, 'destCalc')),
    joined(' - ', retira === '0' ? 'Recebedor retira a carga no destino: sim' : undefined, value(ide, 'xDetRetira')),
    named('Interesse do fisco', value(infCte, 'imp/infAdFisco')),
    sharedIcms(child(infCte, 'imp/ICMSUFFim')),
    ...billing(child(norm, 'cobr')),
  ])
}

const contingencyWords: Record<string, string> = {
  4: 'DACTE impresso em contingência - EPEC regularmente recebido pela SVC',
  5: 'DACTE em contingência - impresso em decorrência de problemas técnicos',
}

function situation(cte: PrintedCte): (string | undefined)[] {
  const { ide, cancelled, denied, homologation, protocol } = cte
  const started = dateTime(value(ide, 'dhCont'))
  return [
    cte.doubt && `ATENÇÃO - ${cte.doubt}`,
    cancelled
      ? joined(
          ' - ',
          'CT-E CANCELADO',
          cancelled.protocol && `PROTOCOLO DE CANCELAMENTO ${cancelled.protocol}`,
          dateTime(cancelled.at),
        )
      : undefined,
    denied ? joined(' - ', 'CT-E DENEGADO', value(protocol, 'xMotivo')) : undefined,
    homologation ? 'EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL' : undefined,
    lacksProtocol(cte) && !inContingency(cte) ? 'SEM VALOR FISCAL - SEM PROTOCOLO DE AUTORIZAÇÃO DE USO' : undefined,
    entryOf(contingencyWords, value(ide, 'tpEmis')),
    joined(' - ', named('Entrada em contingência', started), named('Justificativa', value(ide, 'xJust'))),
  ]
}

const dayWords: Record<string, string> = { 1: 'na data', 2: 'até a data', 3: 'a partir da data' }
const hourWords: Record<string, string> = { 1: 'no horário', 2: 'até o horário', 3: 'a partir do horário' }

function delivery(group: XmlElement | undefined): string | undefined {
  if (!group) return undefined
  const day = child(group, 'comData')
  const period = child(group, 'noPeriodo')
  const hour = child(group, 'comHora')
  const interval = child(group, 'noInter')
  const when = day
    ? joined(' ', entryOf(dayWords, value(day, 'tpPer')), date(value(day, 'dProg')))
    : period && `de ${date(value(period, 'dIni')) ?? ''} a ${date(value(period, 'dFim')) ?? ''}`
  const clock = hour
    ? joined(' ', entryOf(hourWords, value(hour, 'tpHor')), value(hour, 'hProg'))
    : interval && `entre ${value(interval, 'hIni') ?? ''} e ${value(interval, 'hFim') ?? ''}`
  return named('Previsão de entrega', joined(', ', when, clock))
}

function sharedIcms(group: XmlElement | undefined): string | undefined {
  if (!group) return undefined
  return joined(
    ' - ',
    'ICMS da UF de término',
    named('base', money(value(group, 'vBCUFFim'))),
    named('alíq. interna', percent(value(group, 'pICMSUFFim'))),
    named('alíq. interestadual', percent(value(group, 'pICMSInter'))),
    named('alíq. FCP', percent(value(group, 'pFCPUFFim'))),
    named('ICMS UF término', money(value(group, 'vICMSUFFim'))),
    named('ICMS UF início', money(value(group, 'vICMSUFIni'))),
    named('FCP', money(value(group, 'vFCPUFFim'))),
  )
}

function billing(cobr: XmlElement | undefined): (string | undefined)[] {
  const fat = child(cobr, 'fat')
  const duplicatas = children(cobr, 'dup').map((dup) =>
    joined(' ', value(dup, 'nDup'), date(value(dup, 'dVenc')), money(value(dup, 'vDup'))),
  )
  return [
    fat &&
      joined(
        ' - ',
        named('Fatura', value(fat, 'nFat')),
        named('valor original', money(value(fat, 'vOrig'))),
        named('desconto', money(value(fat, 'vDesc'))),
        named('valor líquido', money(value(fat, 'vLiq'))),
      ),
    named('Duplicatas', joined('; ', ...duplicatas)),
  ]
}

/** USO EXCLUSIVO DO EMISSOR DO CT-E: every ObsCont. */
export function issuerNotes({ infCte }: PrintedCte): Ansi[] {
  return flow(children(infCte, 'compl/ObsCont').map(observation))
}

/** RESERVADO AO FISCO: every ObsFisco and the message of the authorisation (MOC CT-e 4.00, Anexo II, 2.9). */
export function fiscoNotes({ infCte, fisco }: PrintedCte): Ansi[] {
  return flow([...children(infCte, 'compl/ObsFisco').map(observation), value(fisco, 'xMsg')])
}

function observation(obs: XmlElement): string | undefined {
  return joined(': ', obs.attributes.xCampo, value(obs, 'xTexto'))
}
