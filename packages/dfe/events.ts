/** What an event code means and does to its document. */
export interface EventKind {
  tpEvento: number
  /** In Portuguese, for people. */
  description: string
  of: ('nfe' | 'cte')[]
  effect:
    | 'cancels'
    | 'acknowledged'
    | 'confirmed'
    | 'unknown-operation'
    | 'not-performed'
    | 'corrected'
    | 'replaced'
    | 'disputed'
    | 'unfit'
    | 'trail'
    | 'undoes'
    | 'none'
  /** The description is not published: the text inside the event says more. */
  ownWords?: true
  /** The code that this one takes back; 110001 names the event by code and protocol instead and has none. */
  undoes?: number
}

type EventKindRow = readonly [tpEvento: number, description: string, effect?: EventKind['effect'], undoes?: number]

const fiscalEvent = 'Evento do Fisco'
const otherEvent = 'Evento de Outro Órgão'

// MOC NF-e 7.0 event table, NT 2020.001, NT 2025.002, NT 2026.006 (110300, 110301). The texts of 4001xx, 4003xx and 5001xx are not published.
const nfe: readonly EventKindRow[] = [
  [110001, 'Cancelamento de Evento', 'undoes'],
  [110110, 'Carta de Correção', 'corrected'],
  [110111, 'Cancelamento', 'cancels'],
  [110112, 'Cancelamento por Substituição', 'cancels'],
  [110130, 'Comprovante de Entrega da NF-e'],
  [110131, 'Cancelamento do Comprovante de Entrega da NF-e', 'undoes', 110130],
  [110140, 'EPEC - Emissão em Contingência'],
  [110150, 'Ator Interessado na NF-e'],
  [110192, 'Insucesso na Entrega da NF-e'],
  [110193, 'Cancelamento do Insucesso na Entrega da NF-e', 'undoes', 110192],
  [110300, 'Vinculação do Pagamento'],
  [110301, 'Cancelamento da Vinculação do Pagamento', 'undoes', 110300],
  [110750, 'Conciliação Financeira'],
  [110751, 'Cancelamento da Conciliação Financeira', 'undoes', 110750],
  [111500, 'Pedido de Prorrogação - 1º Prazo'],
  [111501, 'Pedido de Prorrogação - 2º Prazo'],
  [111502, 'Cancelamento de Pedido de Prorrogação - 1º Prazo', 'undoes', 111500],
  [111503, 'Cancelamento de Pedido de Prorrogação - 2º Prazo', 'undoes', 111501],
  [112110, 'Pagamento Integral para Liberar Crédito Presumido do Adquirente'],
  [112120, 'Importação em ALC/ZFM não Convertida em Isenção'],
  [112130, 'Perecimento, Perda, Roubo ou Furto no Transporte Contratado pelo Fornecedor'],
  [112140, 'Fornecimento não Realizado com Pagamento Antecipado'],
  [112150, 'Atualização da Data de Previsão de Entrega'],
  [210200, 'Confirmação da Operação', 'confirmed'],
  [210210, 'Ciência da Operação', 'acknowledged'],
  [210220, 'Desconhecimento da Operação', 'unknown-operation'],
  [210240, 'Operação não Realizada', 'not-performed'],
  [211110, 'Solicitação de Apropriação de Crédito Presumido'],
  [211120, 'Destinação de Item para Consumo Pessoal'],
  [211124, 'Perecimento, Perda, Roubo ou Furto no Transporte Contratado pelo Adquirente'],
  [211128, 'Aceite de Débito na Apuração por Emissão de Nota de Crédito'],
  [211130, 'Imobilização de Item'],
  [211140, 'Solicitação de Apropriação de Crédito de Combustível'],
  [211150, 'Solicitação de Apropriação de Crédito para Bens e Serviços que Dependem do Adquirente'],
  [212110, 'Manifestação sobre Pedido de Transferência de Crédito de IBS em Sucessão'],
  [212120, 'Manifestação sobre Pedido de Transferência de Crédito de CBS em Sucessão'],
  [400100, fiscalEvent],
  [400101, fiscalEvent],
  [400104, fiscalEvent],
  [400105, fiscalEvent],
  [400120, fiscalEvent],
  [400121, fiscalEvent],
  [400200, 'Documento Fiscal Inidôneo', 'unfit'],
  [400201, 'Cancelamento de Documento Fiscal Inidôneo', 'undoes', 400200],
  [400300, fiscalEvent],
  [400301, fiscalEvent],
  [410300, 'NF-e Referenciada'],
  [411500, 'Resposta do Fisco ao Pedido de Prorrogação - 1º Prazo'],
  [411501, 'Resposta do Fisco ao Pedido de Prorrogação - 2º Prazo'],
  [411502, 'Resposta do Fisco ao Cancelamento de Prorrogação - 1º Prazo'],
  [411503, 'Resposta do Fisco ao Cancelamento de Prorrogação - 2º Prazo'],
  [412120, 'Manifestação do Fisco sobre Transferência de Crédito de IBS em Sucessão'],
  [412130, 'Manifestação do Fisco sobre Transferência de Crédito de CBS em Sucessão'],
  [500100, otherEvent],
  [500101, otherEvent],
  [500104, otherEvent],
  [500105, otherEvent],
  [610130, 'Comprovante de Entrega do CT-e'],
  [610131, 'Cancelamento do Comprovante de Entrega do CT-e', 'undoes', 610130],
  [610500, 'Registro de Passagem', 'trail'],
  [610501, 'Cancelamento do Registro de Passagem', 'trail', 610500],
  [610510, 'Registro de Passagem de MDF-e', 'trail'],
  [610511, 'Cancelamento do Registro de Passagem de MDF-e', 'trail', 610510],
  [610514, 'Registro de Passagem de MDF-e com CT-e', 'trail'],
  [610515, 'Cancelamento do Registro de Passagem de MDF-e com CT-e', 'trail', 610514],
  [610550, 'Registro de Passagem RFID', 'trail'],
  [610552, 'Registro de Passagem Automático de MDF-e', 'trail'],
  [610554, 'Registro de Passagem Automático de MDF-e com CT-e', 'trail'],
  [610600, 'CT-e Autorizado', 'trail'],
  [610601, 'CT-e Cancelado', 'trail', 610600],
  [610610, 'MDF-e Autorizado', 'trail'],
  [610611, 'MDF-e Cancelado', 'trail', 610610],
  [610614, 'MDF-e Autorizado com CT-e', 'trail'],
  [610615, 'Cancelamento de MDF-e Autorizado com CT-e', 'trail', 610614],
  [790700, 'Averbação para Exportação'],
  [990900, 'Vistoria Suframa'],
  [990910, 'Confirmação de Internalização da Mercadoria na Suframa'],
]

// MOC CT-e 4.00 Visão Geral §3.7.1, NT 2026.002 (110300, 110301).
const cte: readonly EventKindRow[] = [
  [110110, 'Carta de Correção', 'corrected'],
  [110111, 'Cancelamento', 'cancels'],
  [110113, 'EPEC - Emissão em Contingência'],
  [110160, 'Registro Multimodal'],
  [110170, 'Informações da GTV'],
  [110180, 'Comprovante de Entrega do CT-e'],
  [110181, 'Cancelamento do Comprovante de Entrega do CT-e', 'undoes', 110180],
  [110190, 'Insucesso na Entrega do CT-e'],
  [110191, 'Cancelamento do Insucesso na Entrega do CT-e', 'undoes', 110190],
  [110300, 'Vinculação do Pagamento'],
  [110301, 'Cancelamento da Vinculação do Pagamento', 'undoes', 110300],
  [240130, 'CT-e Complementar Autorizado'],
  [240131, 'CT-e Complementar Cancelado', 'undoes', 240130],
  [240140, 'CT-e de Substituição Autorizado', 'replaced'],
  [240160, 'Liberação de EPEC'],
  [240170, 'Liberação de Prazo de Cancelamento'],
  [240180, 'CT-e OS Autorizado'],
  [240181, 'CT-e OS Cancelado', 'undoes', 240180],
  [310610, 'MDF-e Autorizado', 'trail'],
  [310611, 'MDF-e Cancelado', 'trail', 310610],
  [310620, 'Registro de Passagem', 'trail'],
  [440130, 'Redespacho Autorizado'],
  [440140, 'Redespacho Intermediário Autorizado'],
  [440150, 'Subcontratação Autorizada'],
  [440160, 'Serviço Vinculado a Multimodal Autorizado'],
  [510620, 'Registro de Passagem Automático', 'trail'],
  [610110, 'Prestação do Serviço em Desacordo', 'disputed'],
  [610111, 'Cancelamento da Prestação do Serviço em Desacordo', 'undoes', 610110],
]

const kindsByCode = {
  nfe: new Map(nfe.map((row) => entry('nfe', row))),
  cte: new Map(cte.map((row) => entry('cte', row))),
}

/** Every published event code; a code that both documents use has one row for each (MOC NF-e 7.0, event table; MOC CT-e 4.00 §3.7.1). */
export const eventKinds: readonly EventKind[] = [...kindsByCode.nfe.values(), ...kindsByCode.cte.values()]

/** The cStat of an event that was registered: 134 for a document no longer authorised, 135 and 136, 155 for a cancelamento out of time; a resumo carries none and is always of a registered one (MOC 7.0 and MOC CT-e 4.00 §3.7). */
export const registeredStatuses: ReadonlySet<string> = new Set(['134', '135', '136', '155'])

/** How an event stands by the cStat of its response: registered; `duplicate` when the authority says that this very event is registered already, NF-e 573 and CT-e 631; otherwise not registered (NT 2020.001; MOC CT-e 4.00 rule N16). */
export function registrationOf(type: 'nfe' | 'cte', cStat: string | undefined): 'registered' | 'duplicate' | 'none' {
  if (cStat === undefined) return 'none'
  if (registeredStatuses.has(cStat)) return 'registered'
  return cStat === duplicates[type] ? 'duplicate' : 'none'
}

// The same number says something else in the other document.
const duplicates = { nfe: '573', cte: '631' }

/** What this code means for this document; undefined for codes newer than the table, which have no effect (MOC NF-e 7.0; MOC CT-e 4.00 §3.7.1). */
export function eventKind(type: 'nfe' | 'cte', tpEvento: number): EventKind | undefined {
  return kindsByCode[type].get(tpEvento)
}

function entry(
  type: 'nfe' | 'cte',
  [tpEvento, description, effect = 'none', undoes]: EventKindRow,
): [number, EventKind] {
  const unpublished = description === fiscalEvent || description === otherEvent
  return [
    tpEvento,
    {
      tpEvento,
      description,
      of: [type],
      effect,
      ...(undoes !== undefined && { undoes }),
      ...(unpublished && { ownWords: true }),
    },
  ]
}
