import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { date, entryOf, joined, money, phone, quantity, taxId } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import type { FormField } from '../layout/fields.ts'
import { sheetRow } from '../layout/sheet.ts'
import { codeText, codeTexts } from './code-texts.ts'
import type { PrintedCte } from './cte.ts'

/** INFORMAÇÕES ESPECÍFICAS DO MODAL: rows of boxes, and lists that may continue on a sheet. */
export interface Modal {
  block: Block | undefined
  list: string[]
}

type ModalParts = { rows: FormField[][]; list: (string | undefined)[] }

const readers: Record<string, (modal: XmlElement, ide: XmlElement) => ModalParts> = {
  rodo: road,
  rodoOS: roadOfOtherServices,
  aereo: air,
  aquav: water,
  ferrov: rail,
  duto: pipeline,
  multimodal,
}

/** The block of the modal of the file, whatever its layout (MOC CT-e 4.00, Anexo II, 2.21.4). */
export function modal({ ide, norm, sheet }: PrintedCte): Modal {
  const group = child(norm, 'infModal')?.children[0]
  const parts: ModalParts = (group && entryOf(readers, group.name)?.(group, ide)) ?? { rows: [], list: [] }
  const list = [...parts.list, ...children(norm, 'veicNovos').map(newVehicle)].filter((line) => line !== undefined)
  const rows = parts.rows.map((fields) => sheetRow(sheet, fields))
  const name = entryOf(titles, group?.name) ?? ''
  return { block: rows.length > 0 ? stack(title(`INFORMAÇÕES ESPECÍFICAS DO MODAL${name}`), ...rows) : undefined, list }
}

const titles: Record<string, string> = {
  rodo: ' RODOVIÁRIO',
  rodoOS: ' RODOVIÁRIO',
  aereo: ' AÉREO',
  aquav: ' AQUAVIÁRIO',
  ferrov: ' FERROVIÁRIO',
  duto: ' DUTOVIÁRIO',
  multimodal: ' MULTIMODAL',
}

function field(label: string, text: string | undefined, width = 1, align: FormField['align'] = 'left'): FormField {
  return { label, value: text, width, align }
}

function named(label: string, text: string | undefined): string | undefined {
  return text && `${label} ${text}`
}

function road(rodo: XmlElement): ModalParts {
  const first = [
    field('RNTRC DA EMPRESA', value(rodo, 'RNTRC')),
    field('', 'ESTE CONHECIMENTO DE TRANSPORTE ATENDE À LEGISLAÇÃO DE TRANSPORTE RODOVIÁRIO EM VIGOR', 4),
  ]
  // Fields of the layouts up to 3.00.
  const plannedDelivery = value(rodo, 'dPrev')
  const fullLoad = value(rodo, 'lota')
  const ciot = value(rodo, 'CIOT')
  const rows = [first]
  if (plannedDelivery || fullLoad || ciot) {
    rows.push([
      field('DATA PREVISTA DE ENTREGA', date(plannedDelivery)),
      field('LOTAÇÃO', codeText({ 0: 'Não', 1: 'Sim' }, fullLoad)),
      field('CIOT', ciot),
    ])
  }
  return {
    rows,
    list: [
      ...children(rodo, 'occ').map(collectionOrder),
      ...children(rodo, 'veic').map((vehicle) =>
        joined(
          ' - ',
          named('VEÍCULO', joined(' ', value(vehicle, 'placa'), value(vehicle, 'UF'))),
          named('RENAVAM', value(vehicle, 'RENAVAM')),
          named('RNTRC', value(vehicle, 'prop/RNTRC')),
          named('PROPRIETÁRIO', value(vehicle, 'prop/xNome')),
        ),
      ),
      ...children(rodo, 'moto').map((driver) =>
        joined(' - ', named('MOTORISTA', value(driver, 'xNome')), named('CPF', taxId(undefined, value(driver, 'CPF')))),
      ),
      ...children(rodo, 'valePed').map((toll) =>
        joined(
          ' - ',
          named('VALE-PEDÁGIO FORNECEDOR', taxId(value(toll, 'CNPJForn'), undefined)),
          named('COMPROVANTE', value(toll, 'nCompra')),
          named('VALOR', money(value(toll, 'vValePed'))),
        ),
      ),
      named('LACRES', joined(', ', ...children(rodo, 'lacRodo').map((seal) => value(seal, 'nLacre')))),
    ],
  }
}

function collectionOrder(order: XmlElement): string | undefined {
  const issuer = child(order, 'emiOcc')
  return joined(
    ' - ',
    named('ORDEM DE COLETA', joined('/', value(order, 'serie'), value(order, 'nOcc') ?? value(order, 'nOCC'))),
    named('EMISSÃO', date(value(order, 'dEmi'))),
    named('CNPJ', taxId(value(issuer, 'CNPJ'), undefined)),
    named('IE', value(issuer, 'IE')),
    named('UF', value(issuer, 'UF')),
    named('FONE', phone(value(issuer, 'fone'))),
  )
}

function roadOfOtherServices(rodo: XmlElement): ModalParts {
  const vehicle = child(rodo, 'veic')
  return {
    rows: [
      [
        field('TERMO DE AUTORIZAÇÃO DE FRETAMENTO (TAF)', value(rodo, 'TAF'), 2.5),
        field('Nº DE REGISTRO ESTADUAL', value(rodo, 'NroRegEstadual'), 1.7),
        field('PLACA DO VEÍCULO', joined(' ', value(vehicle, 'placa'), value(vehicle, 'UF')), 1.4),
        field('RENAVAM', value(vehicle, 'RENAVAM'), 1.2),
        field('FRETAMENTO', codeText(codeTexts.tpFretamento, value(rodo, 'infFretamento/tpFretamento')), 1.2),
      ],
    ],
    list: [
      joined(
        ' - ',
        named('PROPRIETÁRIO DO VEÍCULO', value(vehicle, 'prop/xNome')),
        named('CNPJ/CPF', taxId(value(vehicle, 'prop/CNPJ'), value(vehicle, 'prop/CPF'))),
        named('TAF', value(vehicle, 'prop/TAF')),
        named('REGISTRO ESTADUAL', value(vehicle, 'prop/NroRegEstadual')),
      ),
    ],
  }
}

function air(aereo: XmlElement, ide: XmlElement): ModalParts {
  const handling = children(aereo, 'natCarga/cInfManu').map((code) =>
    joined(' - ', code.text.trim(), codeText(codeTexts.cInfManu, code.text.trim())),
  )
  return {
    rows: [
      [
        field('NÚMERO OPERACIONAL DO CONHEC. AÉREO', value(aereo, 'nOCA'), 1.5),
        field('NÚMERO DA MINUTA', value(aereo, 'nMinu')),
        field('DATA PREVISTA DA ENTREGA', date(value(aereo, 'dPrevAereo') ?? value(aereo, 'dPrev')), 1.1),
        field('DIMENSÃO (CM)', value(aereo, 'natCarga/xDime')),
      ],
      [
        field(
          'CLASSE DA TARIFA',
          joined(' - ', value(aereo, 'tarifa/CL'), codeText(codeTexts.classe, value(aereo, 'tarifa/CL'))),
          1.5,
        ),
        field('CÓDIGO DA TARIFA', value(aereo, 'tarifa/cTar')),
        field('VALOR DA TARIFA', money(value(aereo, 'tarifa/vTar')), 1.1, 'right'),
        field('RETIRA', codeText({ 0: 'Sim', 1: 'Não' }, value(ide, 'retira')), 0.5),
        field('PRODUTOS PERIGOSOS', children(aereo, 'peri').length > 0 ? 'Sim' : undefined, 0.8),
      ],
    ],
    list: [
      named('INFORMAÇÕES DE MANUSEIO:', joined('; ', ...handling)),
      ...children(aereo, 'peri').map((goods) =>
        joined(
          ' - ',
          named('PRODUTO PERIGOSO Nº ONU', value(goods, 'nONU')),
          named('EMBALAGENS', value(goods, 'qTotEmb')),
          named(
            'QUANTIDADE TOTAL',
            joined(
              ' ',
              quantity(value(goods, 'infTotAP/qTotProd')),
              codeText(codeTexts.uniAP, value(goods, 'infTotAP/uniAP')),
            ),
          ),
        ),
      ),
    ],
  }
}

function water(aquav: XmlElement): ModalParts {
  const barges = joined(' / ', ...children(aquav, 'balsa').map((barge) => value(barge, 'xBalsa')))
  return {
    rows: [
      [
        field('IDENTIFICAÇÃO DO NAVIO / REBOCADOR', value(aquav, 'xNavio'), 2),
        field('IDENTIFICAÇÃO DA(S) BALSA(S)', barges, 2),
        field('VIAGEM', value(aquav, 'nViag'), 0.8),
        field('DIREÇÃO', codeText(codeTexts.direc, value(aquav, 'direc')), 0.8),
      ],
      [
        field('IRIN', value(aquav, 'irin')),
        field('TIPO DE NAVEGAÇÃO', codeText(codeTexts.tpNav, value(aquav, 'tpNav'))),
        field('VALOR DA BASE DE CÁLCULO DO AFRMM', money(value(aquav, 'vPrest')), 1.2, 'right'),
        field('VALOR DO AFRMM', money(value(aquav, 'vAFRMM')), 1, 'right'),
      ],
    ],
    list: children(aquav, 'detCont').map((container) =>
      joined(
        ' - ',
        named('CONTAINER', value(container, 'nCont')),
        named('LACRES', joined(', ', ...children(container, 'lacre').map((seal) => value(seal, 'nLacre')))),
        named('DOCUMENTOS', joined(', ', ...(child(container, 'infDoc')?.children ?? []).map(containerDocument))),
      ),
    ),
  }
}

function containerDocument(group: XmlElement): string | undefined {
  return value(group, 'chave') ?? joined('/', value(group, 'serie'), value(group, 'nDoc'))
}

function rail(ferrov: XmlElement): ModalParts {
  const mutual = child(ferrov, 'trafMut')
  return {
    rows: [
      [
        field('TIPO DE TRÁFEGO', codeText(codeTexts.tpTraf, value(ferrov, 'tpTraf'))),
        field('FLUXO FERROVIÁRIO', value(ferrov, 'fluxo')),
        field('VALOR DO FRETE', money(value(mutual, 'vFrete') ?? value(ferrov, 'vFrete')), 1, 'right'),
        field('RESPONSÁVEL PELO FATURAMENTO', codeText(codeTexts.ferrovia, value(mutual, 'respFat')), 1.2),
        field('FERROVIA EMITENTE DO CT-E', codeText(codeTexts.ferrovia, value(mutual, 'ferrEmi')), 1.2),
      ],
    ],
    list: [
      named('CT-E DA FERROVIA DE ORIGEM', value(mutual, 'chCTeFerroOrigem')),
      ...[...children(mutual, 'ferroEnv'), ...children(ferrov, 'ferroEnv')].map((company) =>
        joined(
          ' - ',
          named('FERROVIA ENVOLVIDA', value(company, 'xNome')),
          named('CNPJ', taxId(value(company, 'CNPJ'), undefined)),
          named('IE', value(company, 'IE')),
          named('CÓDIGO INTERNO', value(company, 'cInt')),
        ),
      ),
    ],
  }
}

function pipeline(duto: XmlElement): ModalParts {
  return {
    rows: [
      [
        field('VALOR DA TARIFA', quantity(value(duto, 'vTar')), 1, 'right'),
        field('DATA DE INÍCIO DA PRESTAÇÃO', date(value(duto, 'dIni'))),
        field('DATA DE FIM DA PRESTAÇÃO', date(value(duto, 'dFim'))),
        field('CLASSIFICAÇÃO DO DUTO', codeText(codeTexts.classDuto, value(duto, 'classDuto'))),
      ],
      [
        field('TIPO DE CONTRATAÇÃO', codeText(codeTexts.tpContratacao, value(duto, 'tpContratacao'))),
        field('PONTO DE ENTRADA', value(duto, 'codPontoEntrada')),
        field('PONTO DE SAÍDA', value(duto, 'codPontoSaida')),
        field('NÚMERO DO CONTRATO', value(duto, 'nContrato')),
      ],
    ],
    list: [],
  }
}

function multimodal(group: XmlElement): ModalParts {
  const negotiable = value(group, 'indNegociavel')
  const boxes = negotiable && (negotiable === '1' ? '[X] SIM   [  ] NÃO' : '[  ] SIM   [X] NÃO')
  const seg = child(group, 'seg')
  const rows = [
    [
      field('Nº DO CERTIFICADO DO OPERADOR DE TRANSPORTE MULTIMODAL', value(group, 'COTM'), 2),
      field('INDICADOR NEGOCIÁVEL', boxes),
    ],
  ]
  if (seg) {
    rows.push([
      field('NOME DA SEGURADORA', value(seg, 'infSeg/xSeg'), 2),
      field('CNPJ DA SEGURADORA', taxId(value(seg, 'infSeg/CNPJ'), undefined)),
      field('NÚMERO DA APÓLICE', value(seg, 'nApol')),
      field('NÚMERO DA AVERBAÇÃO', value(seg, 'nAver')),
    ])
  }
  return { rows, list: [] }
}

function newVehicle(vehicle: XmlElement): string | undefined {
  return joined(
    ' - ',
    named('VEÍCULO NOVO CHASSI', value(vehicle, 'chassi')),
    named('COR', joined(' ', value(vehicle, 'cCor'), value(vehicle, 'xCor'))),
    named('MARCA/MODELO', value(vehicle, 'cMod')),
    named('VALOR UNITÁRIO', money(value(vehicle, 'vUnit'))),
    named('FRETE', money(value(vehicle, 'vFrete'))),
  )
}
