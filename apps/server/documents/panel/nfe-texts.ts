import type { NfeDetails, NfeItem } from '@vigia/dfe/read'
import { codeText } from '@vigia/print/code-texts'
import { date, joined, percent, taxId, weight } from '@vigia/print/formats'
import { noDanfeText } from '../print/no-danfe.ts'
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
  unitReais,
  valueOfItem,
} from './texts.ts'

const nfeTexts = {
  tpNF: { 0: 'Entrada', 1: 'Saída' },
  finNFe: { 2: 'Complementar', 3: 'Ajuste', 4: 'Devolução ou retorno', 5: 'Nota de crédito', 6: 'Nota de débito' },
  modFrete: {
    0: 'Por conta do remetente (CIF)',
    1: 'Por conta do destinatário (FOB)',
    2: 'Por conta de terceiros',
    3: 'Transporte próprio do remetente',
    4: 'Transporte próprio do destinatário',
    9: 'Sem transporte',
  },
  tPag: {
    '01': 'Dinheiro',
    '02': 'Cheque',
    '03': 'Cartão de crédito',
    '04': 'Cartão de débito',
    '05': 'Cartão da loja',
    '10': 'Vale-alimentação',
    '11': 'Vale-refeição',
    '12': 'Vale-presente',
    '13': 'Vale-combustível',
    '14': 'Duplicata mercantil',
    '15': 'Boleto',
    '16': 'Depósito bancário',
    '17': 'PIX dinâmico',
    '18': 'Transferência ou carteira digital',
    '19': 'Fidelidade ou cashback',
    '20': 'PIX estático',
    '21': 'Crédito em loja',
    '22': 'Pagamento eletrônico não informado',
    '90': 'Sem pagamento',
    '91': 'Pagamento posterior',
    '99': 'Outros',
  },
} satisfies Record<string, Record<string, string>>

export function nfeSections(note: NfeDetails): Section[] {
  return [
    ...section('Identificação', identification(note)),
    ...section('Emitente', partyLines(note.emit)),
    ...section('Destinatário', partyLines(note.dest)),
    ...section('Local de retirada', partyLines(note.retirada)),
    ...section('Local de entrega', partyLines(note.entrega)),
    ...section('Totais', totals(note)),
    ...section('Cobrança', [...billLines(note.fat, note.dup), ...payments(note)]),
    ...section('Transporte', transport(note)),
    ...section('Informações complementares', [
      ['Do emitente', note.infAdic.infCpl],
      ['De interesse do Fisco', note.infAdic.infAdFisco],
    ]),
  ]
}

function identification({ ide, compra, infProt }: NfeDetails): LabelledValue[] {
  const left = ide.dhSaiEnt ?? joined('T', ide.dSaiEnt, ide.dSaiEnt && ide.hSaiEnt)
  return [
    ['Natureza da operação', ide.natOp],
    ['Número', digitsText(ide.nNF)],
    ['Série', ide.serie],
    ['Emissão', moment(ide.dhEmi ?? ide.dEmi)],
    ['Saída ou entrada', moment(left)],
    ['Previsão de entrega', date(ide.dPrevEntrega)],
    ['Tipo', codeText(nfeTexts.tpNF, ide.tpNF)],
    ['Finalidade', ide.finNFe === '1' ? undefined : codeText(nfeTexts.finNFe, ide.finNFe)],
    ['Pedido', compra.xPed],
    ['Contrato', compra.xCont],
    ['Nota de empenho', compra.xNEmp],
    ['Protocolo de autorização', protocolText(infProt)],
    ['DANFE', noDanfeText(ide.mod)],
    ['Ambiente', ide.tpAmb === '2' ? 'Homologação: sem valor fiscal' : undefined],
  ]
}

function totals({ ICMSTot: icms, ISSQNtot, retTrib, IBSCBSTot: ibs }: NfeDetails): LabelledValue[] {
  return [
    ['Produtos', reais(icms.vProd)],
    ['Serviços', notZero(ISSQNtot.vServ)],
    ['Frete', reais(icms.vFrete)],
    ['Seguro', notZero(icms.vSeg)],
    ['Desconto', reais(icms.vDesc)],
    ['Outras despesas', notZero(icms.vOutro)],
    ['Base de cálculo do ICMS', notZero(icms.vBC)],
    ['ICMS', reais(icms.vICMS)],
    ['ICMS desonerado', notZero(icms.vICMSDeson)],
    ['Base de cálculo do ICMS ST', notZero(icms.vBCST)],
    ['ICMS ST', notZero(icms.vST)],
    ['FCP', notZero(icms.vFCP)],
    ['FCP retido por ST', notZero(icms.vFCPST)],
    ['ICMS da UF de destino (DIFAL)', notZero(icms.vICMSUFDest)],
    ['FCP da UF de destino', notZero(icms.vFCPUFDest)],
    ['ICMS monofásico', notZero(icms.vICMSMono)],
    ['ICMS monofásico por retenção', notZero(icms.vICMSMonoReten)],
    ['IPI', reais(icms.vIPI)],
    ['IPI devolvido', notZero(icms.vIPIDevol)],
    ['Imposto de importação', notZero(icms.vII)],
    ['PIS', notZero(icms.vPIS)],
    ['COFINS', notZero(icms.vCOFINS)],
    ['ISS', notZero(ISSQNtot.vISS)],
    ['PIS retido', notZero(retTrib.vRetPIS)],
    ['COFINS retida', notZero(retTrib.vRetCOFINS)],
    ['CSLL retida', notZero(retTrib.vRetCSLL)],
    ['IRRF retido', notZero(retTrib.vIRRF)],
    ['Previdência retida', notZero(retTrib.vRetPrev)],
    ['Base de cálculo do IBS e da CBS', notZero(ibs.vBCIBSCBS)],
    ['IBS', reais(ibs.vIBS)],
    ['CBS', reais(ibs.vCBS)],
    ['Imposto Seletivo', reais(ibs.vIS)],
    ['Tributos aproximados', notZero(icms.vTotTrib)],
    ['Total da nota', reais(icms.vNF)],
    ['Total com IBS, CBS e IS', ibs.vNFTot === icms.vNF ? undefined : reais(ibs.vNFTot)],
  ]
}

function payments({ detPag }: NfeDetails): LabelledValue[] {
  return detPag.map(({ tPag, xPag, vPag }) => [
    'Pagamento',
    joined(', ', xPag ?? codeText(nfeTexts.tPag, tPag), tPag === '90' ? undefined : reais(vPag)),
  ])
}

function transport({ transp, transporta, veicTransp, vol }: NfeDetails): LabelledValue[] {
  return [
    ['Frete', codeText(nfeTexts.modFrete, transp.modFrete)],
    ['Transportadora', transporta.xNome],
    ['CNPJ ou CPF da transportadora', taxId(transporta.CNPJ, transporta.CPF)],
    ['Endereço da transportadora', joined(', ', transporta.xEnder, joined('/', transporta.xMun, transporta.UF))],
    ['Veículo', joined(' ', veicTransp.placa, veicTransp.UF)],
    ...vol.map(
      (one, index): LabelledValue => [
        vol.length === 1 ? 'Volumes' : `Volumes (${index + 1})`,
        joined(
          ', ',
          joined(' ', amountText(one.qVol), one.esp),
          one.marca && `marca ${one.marca}`,
          one.nVol && `numeração ${one.nVol}`,
          one.pesoB && `peso bruto ${weight(one.pesoB)} kg`,
          one.pesoL && `peso líquido ${weight(one.pesoL)} kg`,
        ),
      ],
    ),
  ]
}

export function nfeItems({ det }: NfeDetails): PanelItem[] {
  return det.map((item, index) => ({
    numero: Number.parseInt(item.nItem ?? '', 10) || index + 1,
    codigo: item.prod.cProd ?? '',
    descricao: item.prod.xProd ?? '',
    quantidade: amountText(item.prod.qCom) ?? '',
    unidade: item.prod.uCom ?? '',
    valorUnitario: unitReais(item.prod.vUnCom) ?? '',
    valor: valueOfItem(item.prod.vProd),
    detalhe: itemDetail(item),
  }))
}

function itemDetail({ prod, infAdProd, ICMS, IPI, IBSCBS }: NfeItem): string {
  const tax = (name: string, rate: string | undefined, value: string | undefined) =>
    notZero(value) && joined(' ', name, rate && `${percent(rate)?.replace(/,00$/, '')}%:`, reais(value))
  const coded = (label: string, code: string | undefined) => code && `${label} ${code}`
  return (
    joined(
      ' · ',
      coded('NCM', prod.NCM?.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1.$2.$3')),
      coded('CFOP', prod.CFOP),
      coded(ICMS.CSOSN ? 'CSOSN' : 'CST', joined('', ICMS.orig, ICMS.CSOSN ?? ICMS.CST)),
      tax('ICMS', ICMS.pICMS, ICMS.vICMS),
      tax('ICMS ST', ICMS.pICMSST, ICMS.vICMSST),
      tax('IPI', IPI.pIPI, IPI.vIPI),
      tax('IBS', undefined, IBSCBS.vIBS),
      tax('CBS', undefined, IBSCBS.vCBS),
      prod.vDesc && `Desconto: ${reais(prod.vDesc)}`,
      prod.vFrete && `Frete: ${reais(prod.vFrete)}`,
      coded('Pedido', joined(', item ', prod.xPed, prod.xPed && prod.nItemPed)),
      infAdProd,
    ) ?? ''
  )
}
