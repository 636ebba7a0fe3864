import { ufByCode } from '@vigia/dfe/uf'
import { codeAndText, codeTexts } from '../dacte/code-texts.ts'
import { date, dateTime, entryOf, joined, quantity, taxId } from '../formats.ts'

// Labels of everything inside detEvento of published events, from the schemas (NF-e: Eventos_PL_010
// and before; CT-e: PL_CTe_400) and the leiautes of MOC NF-e 7.0 and MOC CT-e 4.00. Ambiguous names
// depend on their group.

const fields: Record<string, string> = {
  // People and places
  cOrgaoAutor: 'Órgão autor do evento',
  tpAutor: 'Autor do evento',
  verAplic: 'Versão do aplicativo do autor',
  CNPJ: 'CNPJ',
  CPF: 'CPF',
  IE: 'Inscrição estadual',
  UF: 'UF',
  xNome: 'Nome',
  idEstrangeiro: 'Identificação de estrangeiro',
  CNPJDest: 'CNPJ do destinatário',
  CPFDest: 'CPF do destinatário',
  emailDest: 'E-mail do destinatário',
  tpAutorizacao: 'Autorização a outros transportadores',
  // Chaves and protocols
  chNFe: 'Chave de acesso da NF-e',
  chNFeRef: 'Chave de acesso da NF-e vinculada',
  chNFePend: 'Chave de acesso de EPEC pendente',
  chCTe: 'Chave de acesso do CT-e',
  chMDFe: 'Chave de acesso do MDF-e',
  chaveAcesso: 'Chave de acesso do documento referenciado',
  nProt: 'Protocolo de autorização',
  nProtCE: 'Protocolo do comprovante de entrega',
  nProtIE: 'Protocolo do insucesso na entrega',
  nProtEvento: 'Protocolo do evento cancelado',
  nProtEvPrestDes: 'Protocolo da prestação em desacordo',
  nProtVincPgto: 'Protocolo da vinculação do pagamento',
  nProtCTe: 'Protocolo do evento do CT-e',
  nProtCTeCanc: 'Protocolo do cancelamento no CT-e',
  nProtCanc: 'Protocolo do cancelamento',
  tpEvento: 'Tipo do evento vinculado',
  tpEventoAut: 'Tipo do evento cancelado',
  idPedido: 'Identificador do pedido',
  idPedidoCancelado: 'Identificador do pedido cancelado',
  NSU: 'NSU',
  // Document
  modal: 'Modal',
  dEmi: 'Data de emissão',
  dhEmi: 'Data e hora de emissão',
  dhRecbto: 'Data e hora da autorização',
  serie: 'Série',
  subserie: 'Subsérie',
  nDoc: 'Número do documento',
  nDV: 'Dígito verificador',
  id: 'Identificador',
  tpNF: 'Tipo de operação',
  tpCTe: 'Tipo do CT-e',
  toma: 'Tomador do serviço',
  UFIni: 'UF de início da prestação',
  UFFim: 'UF de término da prestação',
  vNF: 'Valor total da NF-e',
  vICMS: 'Valor do ICMS',
  vST: 'Valor do ICMS ST',
  vICMSST: 'Valor do ICMS ST',
  vTPrest: 'Valor total da prestação',
  vCarga: 'Valor total da carga',
  qCarga: 'Quantidade de volumes / malotes',
  tpEspecie: 'Espécie transportada',
  vEspecie: 'Valor da espécie',
  placa: 'Placa do veículo',
  RNTRC: 'RNTRC',
  xRegistro: 'Informação do registro',
  // Delivery
  dhEntrega: 'Data e hora da entrega',
  dhTentativaEntrega: 'Data e hora da tentativa de entrega',
  nTentativa: 'Número da tentativa',
  tpMotivo: 'Motivo do insucesso',
  latitude: 'Latitude',
  longitude: 'Longitude',
  latGPS: 'Latitude do ponto de entrega',
  longGPS: 'Longitude do ponto de entrega',
  hashEntrega: 'Hash da imagem da entrega',
  dhHashEntrega: 'Data e hora do hash da entrega',
  hashTentativaEntrega: 'Hash da imagem da tentativa',
  dhHashTentativaEntrega: 'Data e hora do hash da tentativa',
  hashComprovante: 'Hash do comprovante de entrega',
  dhHashComprovante: 'Data e hora do hash do comprovante',
  hashEntregaCTe: 'Hash da entrega no CT-e',
  dhHashEntregaCTe: 'Data e hora do hash da entrega no CT-e',
  dPrevEntrega: 'Data prevista da entrega',
  indDesacordoOper: 'Prestação em desacordo',
  // Passage
  tpTransm: 'Tipo de transmissão',
  cUFTransito: 'UF de trânsito',
  cIdEquip: 'Código do equipamento',
  xIdEquip: 'Identificação do equipamento',
  tpEquip: 'Tipo do equipamento',
  tpSentido: 'Sentido',
  dhPass: 'Data e hora da passagem',
  cUnidFiscal: 'Código da unidade fiscal',
  xUnidFiscal: 'Unidade fiscal',
  // Payment
  indPag: 'Forma de pagamento',
  tPag: 'Meio de pagamento',
  xPag: 'Descrição do meio de pagamento',
  vPag: 'Valor do pagamento',
  dPag: 'Data do pagamento',
  CNPJPag: 'CNPJ do pagamento',
  UFPag: 'UF do pagamento',
  CNPJIF: 'CNPJ da instituição de pagamento',
  tBand: 'Bandeira do cartão',
  cAut: 'Número da autorização',
  CNPJReceb: 'CNPJ do beneficiário',
  UFReceb: 'UF do beneficiário',
  nPag: 'Número sequencial',
  idTransacao: 'Identificador da transação',
  tpMeioPgto: 'Meio de pagamento',
  CNPJBasePSP: 'CNPJ base da instituição de pagamento',
  indQuitacao: 'Quitação do pagamento integral',
  // Items, and the events of the reform
  nItem: 'Item',
  numItem: 'Item',
  qtdeItem: 'Quantidade do item',
  qtde: 'Quantidade',
  unidade: 'Unidade',
  vIBS: 'Valor do IBS',
  vCBS: 'Valor da CBS',
  vBC: 'Base de cálculo',
  cCredPres: 'Código do crédito presumido',
  pCredPres: 'Percentual do crédito presumido',
  vCredPres: 'Valor do crédito presumido',
  vCredIBS: 'Crédito de IBS',
  vCredCBS: 'Crédito de CBS',
  qPerecimento: 'Quantidade perdida',
  uPerecimento: 'Unidade',
  qNaoFornecida: 'Quantidade não fornecida',
  uNaoFornecida: 'Unidade',
  qConsumo: 'Quantidade para consumo pessoal',
  uConsumo: 'Unidade',
  qImobilizado: 'Quantidade imobilizada',
  uImobilizado: 'Unidade',
  qComb: 'Quantidade consumida',
  uComb: 'Unidade',
  indAceitacao: 'Aceitação',
  indDeferimento: 'Deferimento',
  cMotivo: 'Código do motivo',
  xMotivo: 'Motivo',
  statPrazo: 'Prazo do pedido',
  statPedido: 'Resposta ao pedido',
  statCancPedido: 'Resposta ao cancelamento do pedido',
  justStatus: 'Código da justificativa',
  justStaOutra: 'Outra justificativa',
  // Export and Suframa
  dhEmbarque: 'Data e hora do embarque',
  dhAverbacao: 'Data e hora da averbação',
  nDue: 'Número da DU-E',
  nItemDue: 'Item da DU-E',
  qItem: 'Quantidade averbada',
  motAlteracao: 'Motivo da alteração',
  cEnq: 'Código do enquadramento',
  PINe: 'Número do PIN-e',
  dVistoria: 'Data da vistoria',
  locVistoria: 'Local da vistoria',
  postoVistoria: 'Posto da vistoria',
  xHistorico: 'Histórico da ocorrência',
  // Texts inside groups
  xJust: 'Justificativa',
  xJustMotivo: 'Justificativa',
  xObs: 'Observação',
  xCorrecao: 'Correção',
}

// Labels inside a group that names their owner.
const inGroup: Record<string, Record<string, string>> = {
  evCECTe: { nDoc: 'Documento de quem recebeu', xNome: 'Nome de quem recebeu' },
  detEvento: { nDoc: 'Documento de quem recebeu', xNome: 'Nome de quem recebeu' },
  CTe: { nDoc: 'Documento de quem recebeu', xNome: 'Nome de quem recebeu' },
}

const groups: Record<string, string> = {
  autXML: 'Autorizado a acessar o XML',
  emit: 'Emitente',
  dest: 'Destinatário',
  rem: 'Remetente',
  toma4: 'Tomador do serviço',
  CTe: 'CT-e',
  MDFe: 'MDF-e',
  infEntrega: 'Nota entregue',
  infGTV: 'GTV',
  infEspecie: 'Espécie',
  infVeiculo: 'Veículo',
  infPass: 'Passagem',
  detPag: 'Pagamento',
  pgto: 'Pagamento',
  DFeReferenciado: 'Documento referenciado',
  gConsumo: 'Item',
  gPerecimento: 'Item',
  gItemNaoFornecido: 'Item',
  gCredPres: 'Crédito presumido',
  gConsumoComb: 'Item',
  gImobilizacao: 'Item',
  gCredito: 'Crédito',
  gControleEstoque: 'Estoque',
  gIBS: 'IBS',
  gCBS: 'CBS',
  itemPedido: 'Item do pedido',
  respPedido: 'Resposta ao pedido',
  respCancPedido: 'Resposta ao cancelamento',
  itensAverbados: 'Item averbado',
  enquad: 'Enquadramento',
  infPAA: 'Provedor de assinatura e autorização',
}

const yes = { 1: 'Sim' }
const acceptance = { 0: 'Não aceite', 1: 'Aceite' }
const answer = { 1: 'Deferido', 2: 'Indeferido' }
const codes: Record<string, Record<string, string>> = {
  tpAutor: {
    1: 'Empresa emitente',
    2: 'Empresa destinatária',
    3: 'Empresa',
    5: 'Fisco',
    6: 'Receita Federal',
    8: 'Empresa sucessora',
    9: 'Outros',
  },
  tpAutorizacao: { 0: 'Não permite', 1: 'Permite' },
  modal: codeTexts.modal,
  tpNF: { 0: 'Entrada', 1: 'Saída' },
  tpCTe: codeTexts.tpCTe,
  toma: codeTexts.toma,
  // The GTV of this event has another word than the GTV-e.
  tpEspecie: { ...codeTexts.tpEspecie, 1: 'Numerário' },
  tpMotivo: { 1: 'Recebedor não encontrado', 2: 'Recusa do recebedor', 3: 'Endereço inexistente', 4: 'Outros' },
  indDesacordoOper: yes,
  indPag: { 0: 'À vista', 1: 'A prazo' },
  // Tabela de meios de pagamento of the NF-e.
  tPag: {
    '01': 'Dinheiro',
    '02': 'Cheque',
    '03': 'Cartão de crédito',
    '04': 'Cartão de débito',
    '05': 'Crédito loja',
    10: 'Vale-alimentação',
    11: 'Vale-refeição',
    12: 'Vale-presente',
    13: 'Vale-combustível',
    14: 'Duplicata mercantil',
    15: 'Boleto',
    16: 'Depósito',
    17: 'PIX dinâmico',
    18: 'Transferência ou carteira digital',
    19: 'Fidelidade ou cashback',
    20: 'PIX estático',
    21: 'Crédito em loja',
    22: 'Pagamento eletrônico não informado',
    90: 'Sem pagamento',
    91: 'Pagamento posterior',
    99: 'Outros',
  },
  // NT 2016.002; newer codes are printed as codes.
  tBand: {
    '01': 'Visa',
    '02': 'Mastercard',
    '03': 'American Express',
    '04': 'Sorocred',
    '05': 'Diners Club',
    '06': 'Elo',
    '07': 'Hipercard',
    '08': 'Aura',
    '09': 'Cabal',
    99: 'Outros',
  },
  indQuitacao: yes,
  indAceitacao: acceptance,
  indDeferimento: acceptance,
  cMotivo: { 1: 'Falta de manifestação de todas as sucessoras', 2: 'Outros' },
  statPrazo: { 0: 'Após o prazo', 1: 'Dentro do prazo' },
  statPedido: answer,
  statCancPedido: answer,
  motAlteracao: {
    1: 'Exportação averbada',
    2: 'Retificação da quantidade averbada',
    3: 'Cancelamento da exportação',
  },
}

/** The name of a field in Portuguese; one that no published event has keeps its own. */
export function fieldName(name: string, group: string): string {
  return entryOf(entryOf(inGroup, group) ?? {}, name) ?? entryOf(fields, name) ?? name
}

/** The name of a group in Portuguese. */
export function groupName(name: string): string {
  return entryOf(groups, name) ?? name
}

/** A value as people write it: dates, numbers, CNPJ and CPF in their form, codes with their words. */
export function fieldValue(name: string, text: string): string {
  if (Object.hasOwn(codes, name)) return codeAndText(codes[name]!, text)!
  if (name === 'cOrgaoAutor' || name === 'cUFTransito') return joined(' - ', text, bodyName(Number(text)))!
  if (/^CNPJ/.test(name) && text.length === 14) return taxId(text, undefined) ?? text
  if (/^CPF/.test(name) && text.length === 11) return taxId(undefined, text) ?? text
  if (/^dh?[A-Z]/.test(name)) return (text.includes('T') ? dateTime(text) : date(text)) ?? text
  if (/^[vpq][A-Z]|^qtde/.test(name)) return quantity(text) ?? text
  return text
}

/** Tabela de órgãos: a state, or 90 and above for those of the Union (MOC NF-e 7.0; MOC CT-e 4.00). */
export function bodyName(code: number): string | undefined {
  const state = ufByCode(code)
  return state ? `SEFAZ ${state.uf}` : bodies[code]
}

const bodies: Record<number, string> = {
  90: 'Receita Federal ou Suframa',
  91: 'Ambiente Nacional',
  92: 'SVRS',
  94: 'SVC-RS',
  95: 'SVC-SP',
}
