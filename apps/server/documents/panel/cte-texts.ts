import type { CteDetails, CteParty, Fields } from '@vigia/dfe/read'
import { codeText, codeTexts } from '@vigia/print/code-texts'
import { date, joined, percent, time } from '@vigia/print/formats'
import {
  amountText,
  billLines,
  digitsText,
  type LabelledValue,
  moment,
  notZero,
  type PanelItem,
  partyLines,
  protocolText,
  reais,
  type Section,
  section,
  valueOfItem,
} from './texts.ts'

const partyTitles: Record<CteParty['group'], string> = {
  emit: 'Emitente',
  rem: 'Remetente',
  exped: 'Expedidor',
  receb: 'Recebedor',
  dest: 'Destinatário',
  toma: 'Tomador',
}

/** Sections of a CT-e in reading order; the payer of the freight is marked. */
export function cteSections(cte: CteDetails): Section[] {
  const parties = cte.parties.flatMap(({ group, pays, fields }) =>
    section(pays ? `${partyTitles[group]} (paga o frete)` : partyTitles[group], partyLines(fields)),
  )
  return [
    ...section('Identificação', identification(cte)),
    ...parties,
    ...section('Rota', route(cte)),
    ...section('Carga', cargo(cte)),
    ...section('Valores do frete', values(cte)),
    ...section('Prazo e vencimento', [['Entrega prevista', deliveryText(cte.Entrega)], ...billLines(cte.fat, cte.dup)]),
    ...section('Observações', [
      ['Do emitente', cte.compl.xObs],
      ...cte.ObsCont.map(({ xCampo, xTexto }): LabelledValue => [xCampo ?? 'Do emitente', xTexto]),
      ['De interesse do Fisco', cte.imp.infAdFisco],
    ]),
  ]
}

function identification({ ide, infProt }: CteDetails): LabelledValue[] {
  return [
    ['Tipo', codeText(codeTexts.tpCTe, ide.tpCTe)],
    ['Serviço', codeText(codeTexts.tpServ, ide.tpServ)],
    ['Modal', codeText(codeTexts.modal, ide.modal?.padStart(2, '0'))],
    ['Natureza da prestação', ide.natOp],
    ['CFOP', ide.CFOP],
    ['Número', digitsText(ide.nCT)],
    ['Série', ide.serie],
    ['Emissão', moment(ide.dhEmi)],
    ['Protocolo de autorização', protocolText(infProt)],
    ['Ambiente', ide.tpAmb === '2' ? 'Homologação: sem valor fiscal' : undefined],
  ]
}

function route({ ide }: CteDetails): LabelledValue[] {
  return [
    ['Início', joined('/', ide.xMunIni, ide.UFIni)],
    ['Término', joined('/', ide.xMunFim, ide.UFFim)],
    ['Retirada no destino', ide.retira === '0' ? (ide.xDetRetira ?? 'Sim') : undefined],
  ]
}

function cargo({ root, infCarga, infQ, infServico, infEspecie }: CteDetails): LabelledValue[] {
  // Coded only in the Simplificado.
  const coded = /Simp/.test(root)
  return [
    ['Serviço contratado', infServico.xDescServ],
    ['Produto predominante', infCarga.proPred],
    ['Outras características', infCarga.xOutCat],
    ['Valor da carga', reais(infCarga.vCarga ?? infCarga.vMerc)],
    ['Valor para averbação', reais(infCarga.vCargaAverb)],
    ...infQ.map(
      ({ tpMed, qCarga, cUnid }): LabelledValue => [
        (coded ? codeText(codeTexts.tpMed, tpMed) : tpMed) ?? 'Quantidade',
        joined(' ', amountText(qCarga), codeText(codeTexts.cUnid, cUnid)),
      ],
    ),
    ...infEspecie.map((one): LabelledValue => [speciesName(one), reais(one.vEspecie)]),
  ]
}

function speciesName({ tpEspecie, tpNumerario, xMoedaEstr }: Fields): string {
  const name = joined(
    ' ',
    codeText(codeTexts.tpEspecie, tpEspecie),
    codeText(codeTexts.tpNumerario, tpNumerario)?.toLowerCase(),
  )
  return joined(', ', name, xMoedaEstr) ?? 'Valores'
}

function values({ vPrest, ICMS, IBSCBS, imp }: CteDetails): LabelledValue[] {
  const rate = percent(ICMS.pICMS ?? ICMS.pICMSOutraUF)?.replace(/,00$/, '')
  return [
    ['Total do serviço', reais(vPrest.vTPrest)],
    ['A receber', reais(vPrest.vRec ?? vPrest.vTRec)],
    ['Base de cálculo do ICMS', notZero(ICMS.vBC ?? ICMS.vBCOutraUF)],
    [rate ? `ICMS (${rate}%)` : 'ICMS', reais(ICMS.vICMS ?? ICMS.vICMSOutraUF)],
    ['ICMS retido por ST', notZero(ICMS.vICMSSTRet)],
    ['ICMS', ICMS.indSN === '1' ? 'Simples Nacional' : undefined],
    ['Base de cálculo do IBS e da CBS', notZero(IBSCBS.vBC)],
    ['IBS', reais(IBSCBS.vIBS)],
    ['CBS', reais(IBSCBS.vCBS)],
    ['Tributos aproximados', notZero(imp.vTotTrib)],
    ['Total do documento', imp.vTotDFe === vPrest.vTPrest ? undefined : reais(imp.vTotDFe)],
  ]
}

function deliveryText({ dProg, dIni, dFim, hProg, hIni, hFim, dPrev }: Fields): string | undefined {
  const days = date(dProg ?? dPrev) ?? joined(' a ', date(dIni), date(dFim))
  const minutes = (text: string | undefined) => time(text)?.slice(0, 5)
  const hours = minutes(hProg) ?? joined(' às ', minutes(hIni), minutes(hFim))
  return joined(', ', days, hours)
}

/** Components of the price, deliveries of a Simplificado, or contents of a GTV-e. */
export function cteItems({ Comp, det, infEspecie }: CteDetails): PanelItem[] {
  const lines: [description: string, value: string | undefined][] =
    det.length > 0
      ? det.map((one) => [joined(' → ', one.xMunIni, one.xMunFim) ?? 'Entrega', one.vPrest])
      : infEspecie.length > 0
        ? infEspecie.map((one) => [speciesName(one), one.vEspecie])
        : Comp.map((one) => [one.xNome ?? 'Frete', one.vComp])
  return lines.map(([descricao, value], index) => ({
    numero: index + 1,
    codigo: '',
    descricao,
    quantidade: '',
    unidade: '',
    valorUnitario: '',
    valor: valueOfItem(value),
    detalhe: '',
  }))
}
