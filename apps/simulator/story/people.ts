// The people of the office and what they have set up, besides its documents. Only data.

export const escritorio = {
  nome: 'Prado Contabilidade',
  dona: { nome: 'Helena Prado', email: 'helena@prado-contabilidade.example' },
  /** From so many reais on, a final answer to the authority needs two people. */
  duasPessoasDesde: 20_000,
}

/** Who answers for the notes of all clients. */
export const pessoas = {
  marcos: { nome: 'Marcos Teixeira', email: 'marcos@prado-contabilidade.example', papel: 'fiscal' },
  beatriz: { nome: 'Beatriz Nunes', email: 'beatriz@prado-contabilidade.example', papel: 'fiscal' },
} as const

/** A visitor sees what who runs the office sees; a shared login changes nothing of it. */
export const visitante = { nome: 'Demonstração', papel: 'administrador' } as const

/** In what order the clients come, and until when their certificates are valid; most for a year. */
export const certificados = [
  { cliente: 'moveis', segundos: 40 },
  { cliente: 'mercado' },
  { cliente: 'padaria', dias: 20 },
  { cliente: 'transportes' },
] as const

export const chaves = [
  { nome: 'ERP do Mercado Boa Vista', permissoes: ['documentos:ler', 'exportar'] },
  { nome: 'Sistema contábil', permissoes: ['documentos:ler', 'empresas:ler'], validadeEmDias: 180 },
] as const

/** Paused: the system behind it does not exist. */
export const webhook = {
  endereco: 'https://erp.prado-contabilidade.example/vigia',
  tipos: ['documento-novo', 'cancelamento'],
} as const

/** Rules of answers, in their order; `cliente`: of this one alone. */
export const regras = [
  { nome: 'Com alerta alto, perguntar', condicoes: { comAlerta: 'alto' }, resposta: 'perguntar' },
  {
    nome: 'Padaria: Ciência de fornecedor conhecido',
    cliente: 'padaria',
    condicoes: { emitenteNovo: false },
    resposta: 'ciencia',
  },
  {
    nome: 'Compra grande: sugerir Confirmação',
    condicoes: { emitenteNovo: false, valorDe: '20000' },
    resposta: 'sugerir-confirmacao',
  },
] as const

/** What was done with the documents before the visitor came, in days before today. */
export const rotina = {
  /** Older notes are checked and booked, older parcels are paid. */
  lancadasAte: 12,
  pagasAte: 6,
  /** Of the oldest notes so many are confirmed to the authority. */
  confirmadas: 30,
  recebida: 'Mercadoria recebida e conferida.',
}

/** The answer that waits for the second person. */
export const pedido = {
  de: 'marcos',
  /** As the issuer calls itself. */
  emitente: 'LATICÍNIOS MANTIQUERA',
  cliente: 'mercado',
  justificativa: 'Não houve esta compra: o fornecedor de sempre é LATICÍNIOS MANTIQUEIRA, de outro CNPJ.',
} as const

/** The alert that the office ignores: coffee has become dearer everywhere. */
export const conhecido = { emitente: 'CAFÉ TRÊS IRMÃOS LTDA', cliente: 'padaria' } as const

export const observacao = 'Conferida com o pedido 4471 e lançada no estoque.'
