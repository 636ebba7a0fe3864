/** Names of the status codes by which documents are filtered: situation of the document, manifestação do destinatário, carta de correção (NT 2020.001; MOC 7.0). */
export const statusNames: Record<number, string> = {
  1: 'Resumo',
  2: 'Autorizada',
  3: 'Cancelada',
  4: 'Desconhecimento',
  5: 'Operação Não Realizada',
  6: 'Confirmação',
  7: 'Carta Correção',
  8: 'Ciência',
  9: 'Denegada',
  10: 'Sem protocolo',
}
