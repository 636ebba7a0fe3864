import type { clientes, Endereco, Entrega, Fornecedor, fornecedores, transportadoras } from './office.ts'

// The cases of the story: what does not fit among the days of trade. `dias` counts working days before the first start,
// so that the story is the same on any day of a month.

/** A line of a note: name of the product, quantity, and the price where it is not the usual one. */
export type Linha = [produto: string, quantidade: number, preco?: number]

interface Quando {
  dias: number
  hora: string
}

export interface Nota extends Quando {
  nota: string
  de: keyof typeof fornecedores | keyof typeof estranhos
  para: keyof typeof clientes
  linhas: Linha[]
  frete: Entrega['frete']
  numero?: number
  /** The address of another establishment, under the CNPJ of the client. */
  filial?: Endereco & { ie: string }
  prazo?: number[]
  /** Hours until the client gives Ciência in the system that it used before; none: it does not. */
  ciencia?: number
}

export interface Frete extends Quando {
  frete: string
  /** Note that travels. */
  da: string
  por: keyof typeof transportadoras
  /** Who pays. */
  tomador: 'remetente' | 'destinatário'
  /** Times the price of the table. */
  vezes?: number
  /** What travels instead, and the CT-e cites no note. */
  carga?: string
}

export interface Cancelamento extends Quando {
  cancela: string
}

export interface Carta extends Quando {
  carta: string
  texto: string
}

export type Ato = Nota | Frete | Cancelamento | Carta

export interface Caso {
  conta: string
  atos: Ato[]
  /** Notes that never reach the client. */
  ocultas?: string[]
}

/** Suppliers that only the cases know. */
export const estranhos = {
  mantiquera: {
    raiz: '98970412',
    nome: 'LATICÍNIOS MANTIQUERA LTDA',
    municipio: 'CONTAGEM',
    uf: 'MG',
    regime: 'normal',
    prazo: [2],
    produtos: [
      { nome: 'QUEIJO MUSSARELA PEÇA', ncm: '04061010', unidade: 'KG', preco: 32, quantidade: [600, 600], peso: 1 },
    ],
  },
  eletronicos: {
    raiz: '98361527',
    nome: 'PAULISTANA ELETRÔNICOS LTDA',
    municipio: 'SÃO PAULO',
    uf: 'SP',
    regime: 'normal',
    prazo: [28],
    produtos: [
      {
        nome: 'TELEVISOR LED 65" 4K',
        ncm: '85287200',
        unidade: 'UN',
        preco: 4_190,
        quantidade: [3, 3],
        peso: 21,
      },
    ],
  },
} satisfies Record<string, Fornecedor>

export const casos: Caso[] = [
  {
    conta:
      'Um CNPJ aberto na semana passada, com nome quase igual ao de um fornecedor de sempre, manda nota a três clientes em dois dias e quer receber em 48 horas.',
    atos: [
      {
        nota: 'sósia no mercado',
        de: 'mantiquera',
        para: 'mercado',
        dias: 4,
        hora: '16:32',
        numero: 7,
        linhas: [['QUEIJO MUSSARELA PEÇA', 1_000, 32]],
        frete: 'CIF',
        ciencia: 17,
      },
      {
        nota: 'sósia na padaria',
        de: 'mantiquera',
        para: 'padaria',
        dias: 4,
        hora: '17:05',
        numero: 8,
        linhas: [['QUEIJO MUSSARELA PEÇA', 500, 32]],
        frete: 'CIF',
        ciencia: 16,
      },
      {
        nota: 'sósia nos móveis',
        de: 'mantiquera',
        para: 'moveis',
        dias: 3,
        hora: '16:48',
        numero: 11,
        linhas: [['QUEIJO MUSSARELA PEÇA', 812.5, 32]],
        frete: 'CIF',
      },
    ],
  },
  {
    conta: 'A mesma compra faturada duas vezes: outro número, mesmos itens, mesmo valor.',
    atos: [
      {
        nota: 'compra',
        de: 'horizonte',
        para: 'mercado',
        dias: 7,
        hora: '16:20',
        linhas: [
          ['ATUM RALADO EM ÓLEO 170G CX C/24', 18],
          ['EXTRATO DE TOMATE 340G CX C/24', 26],
          ['MAIONESE 500G CX C/12', 17],
        ],
        frete: 'CIF',
        ciencia: 15,
      },
      {
        nota: 'compra de novo',
        de: 'horizonte',
        para: 'mercado',
        dias: 6,
        hora: '17:40',
        linhas: [
          ['ATUM RALADO EM ÓLEO 170G CX C/24', 18],
          ['EXTRATO DE TOMATE 340G CX C/24', 26],
          ['MAIONESE 500G CX C/12', 17],
        ],
        frete: 'CIF',
        ciencia: 14,
      },
    ],
  },
  {
    conta: 'Frete por conta do vendedor (CIF) cobrado do mercado, e cobrado duas vezes pela mesma transportadora.',
    atos: [
      {
        nota: 'carga do frete em dobro',
        de: 'horizonte',
        para: 'mercado',
        dias: 9,
        hora: '16:15',
        linhas: [
          ['MILHO VERDE EM CONSERVA 170G CX C/24', 29],
          ['LEITE DE COCO 200ML CX C/24', 15],
          ['MAIONESE 500G CX C/12', 21],
        ],
        frete: 'CIF',
        ciencia: 15,
      },
      {
        frete: 'primeira cobrança',
        da: 'carga do frete em dobro',
        por: 'catarinense',
        tomador: 'destinatário',
        dias: 8,
        hora: '08:10',
        vezes: 1.1,
      },
      {
        frete: 'segunda cobrança',
        da: 'carga do frete em dobro',
        por: 'catarinense',
        tomador: 'destinatário',
        dias: 5,
        hora: '17:22',
        vezes: 1.2,
      },
    ],
  },
  {
    conta: 'Frete de quase três vezes a tabela, numa nota em que o vendedor paga o transporte.',
    atos: [
      {
        nota: 'carga do frete caro',
        de: 'minuano',
        para: 'mercado',
        dias: 11,
        hora: '16:25',
        linhas: [
          ['ACÉM BOVINO RESFRIADO', 84],
          ['COXÃO MOLE BOVINO RESFRIADO', 71],
          ['PATINHO BOVINO RESFRIADO', 66],
        ],
        frete: 'CIF',
        ciencia: 16,
      },
      {
        frete: 'frete caro',
        da: 'carga do frete caro',
        por: 'serrana',
        tomador: 'destinatário',
        dias: 10,
        hora: '08:35',
        vezes: 4,
      },
    ],
  },
  {
    conta: 'CT-e cobrado do mercado por uma nota que nunca chegou.',
    atos: [
      {
        nota: 'nota que não chegou',
        de: 'mantiqueira',
        para: 'mercado',
        dias: 13,
        hora: '16:40',
        linhas: [
          ['QUEIJO MUSSARELA PEÇA', 150],
          ['QUEIJO PRATO PEÇA', 80],
        ],
        frete: 'FOB',
      },
      {
        frete: 'frete sem nota',
        da: 'nota que não chegou',
        por: 'guanabara',
        tomador: 'destinatário',
        dias: 12,
        hora: '08:20',
      },
    ],
    ocultas: ['nota que não chegou'],
  },
  {
    conta: 'CT-e que não cita nota nenhuma: a transportadora cobra do mercado a devolução de paletes.',
    atos: [
      {
        nota: 'entrega dos paletes',
        de: 'paineiras',
        para: 'mercado',
        dias: 10,
        hora: '16:10',
        linhas: [
          ['ARROZ PARBOILIZADO TIPO 1 5KG', 130],
          ['FUBÁ MIMOSO 1KG FARDO C/20', 14],
        ],
        frete: 'FOB',
        ciencia: 17,
      },
      {
        frete: 'paletes',
        da: 'entrega dos paletes',
        por: 'bandeirantes',
        tomador: 'destinatário',
        dias: 9,
        hora: '11:05',
        carga: 'PALETES VAZIOS',
      },
    ],
  },
  {
    conta: 'Nota cancelada e emitida de novo no dia seguinte, mais cara: um dos cortes subiu 70%.',
    atos: [
      {
        nota: 'pedido grande',
        de: 'minuano',
        para: 'mercado',
        dias: 6,
        hora: '16:12',
        linhas: [
          ['ACÉM BOVINO RESFRIADO', 170],
          ['ALCATRA BOVINA RESFRIADA', 115],
          ['CONTRA FILÉ BOVINO RESFRIADO', 118],
          ['COSTELA BOVINA RESFRIADA', 175],
          ['COXÃO MOLE BOVINO RESFRIADO', 155],
          ['FRALDINHA BOVINA RESFRIADA', 116],
          ['MAMINHA BOVINA RESFRIADA', 88],
          ['PATINHO BOVINO RESFRIADO', 154],
        ],
        frete: 'CIF',
        ciencia: 2,
      },
      { cancela: 'pedido grande', dias: 5, hora: '09:20' },
      {
        nota: 'pedido grande de novo',
        de: 'minuano',
        para: 'mercado',
        dias: 5,
        hora: '16:50',
        linhas: [
          ['ACÉM BOVINO RESFRIADO', 170],
          ['ALCATRA BOVINA RESFRIADA', 115, 67.9],
          ['CONTRA FILÉ BOVINO RESFRIADO', 118],
          ['COSTELA BOVINA RESFRIADA', 175],
          ['COXÃO MOLE BOVINO RESFRIADO', 155],
          ['FRALDINHA BOVINA RESFRIADA', 116],
          ['MAMINHA BOVINA RESFRIADA', 88],
          ['PATINHO BOVINO RESFRIADO', 154],
        ],
        frete: 'CIF',
        ciencia: 15,
      },
    ],
  },
  {
    conta: 'O café da padaria sobe 70% de uma semana para outra.',
    atos: [
      {
        nota: 'café mais caro',
        de: 'tresIrmaos',
        para: 'padaria',
        dias: 2,
        hora: '16:05',
        linhas: [
          ['CAFÉ TORRADO E MOÍDO TRADICIONAL 500G', 96, 31.9],
          ['CAFÉ EM GRÃOS GOURMET 1KG', 24],
        ],
        frete: 'CIF',
        ciencia: 5,
      },
    ],
  },
  {
    conta: 'Carta de correção que muda quantidade e valor, o que ela não pode.',
    atos: [
      {
        nota: 'ferragens',
        de: 'bandeirante',
        para: 'moveis',
        dias: 12,
        hora: '16:30',
        linhas: [
          ['CORREDIÇA TELESCÓPICA 450MM PAR', 140, 23.9],
          ['DOBRADIÇA CANECO 35MM COM AMORTECEDOR', 380],
        ],
        frete: 'CIF',
        ciencia: 20,
      },
      {
        carta: 'ferragens',
        dias: 2,
        hora: '10:42',
        texto:
          'Onde se lê quantidade 140 da corrediça telescópica, leia-se 104; onde se lê valor total R$ 3.346,00, leia-se R$ 2.485,60.',
      },
    ],
  },
  {
    conta: 'A nota traz o CNPJ da padaria de São Paulo e o endereço de uma filial que ela não tem.',
    atos: [
      {
        nota: 'filial errada',
        de: 'novaEra',
        para: 'padaria',
        dias: 3,
        hora: '16:18',
        filial: { municipio: 'RIO DE JANEIRO', uf: 'RJ', ie: '84512370' },
        linhas: [
          ['FERMENTO BIOLÓGICO FRESCO 500G CX C/24', 9],
          ['MELHORADOR DE FARINHA 1KG', 38],
        ],
        frete: 'CIF',
        ciencia: 18,
      },
    ],
  },
  {
    conta: 'A transportadora compra seis televisores de um fornecedor novo: mercadoria que ela nunca comprou.',
    atos: [
      {
        nota: 'televisores',
        de: 'eletronicos',
        para: 'transportes',
        dias: 8,
        hora: '16:44',
        linhas: [['TELEVISOR LED 65" 4K', 6]],
        frete: 'CIF',
        ciencia: 16,
      },
    ],
  },
  {
    conta: 'Um pedido com mais de quarenta itens, de duas páginas no DANFE.',
    atos: [
      {
        nota: 'duas páginas',
        de: 'santaClara',
        para: 'mercado',
        dias: 5,
        hora: '16:36',
        linhas: Array.from({ length: 8 }, (): Linha[] => [
          ['ARROZ BRANCO TIPO 1 5KG', 17],
          ['FEIJÃO CARIOCA TIPO 1 1KG FARDO C/10', 3],
          ['AÇÚCAR REFINADO 1KG FARDO C/10', 5],
          ['ÓLEO DE SOJA REFINADO 900ML CX C/20', 2],
          ['MACARRÃO ESPAGUETE 500G CX C/20', 3],
          ['BISCOITO CREAM CRACKER 400G CX C/20', 2],
        ]).flat(),
        frete: 'CIF',
        ciencia: 15,
      },
    ],
  },
  {
    conta: 'O fornecedor de limpeza cancela com frequência: já cancelou dois pedidos neste trimestre.',
    atos: [
      {
        nota: 'limpeza, primeiro cancelamento',
        de: 'valeVerde',
        para: 'mercado',
        dias: 34,
        hora: '16:22',
        linhas: [
          ['DETERGENTE LÍQUIDO NEUTRO 500ML CX C/24', 120],
          ['SABÃO EM PÓ 800G CX C/20', 74],
        ],
        frete: 'CIF',
      },
      { cancela: 'limpeza, primeiro cancelamento', dias: 33, hora: '09:10' },
      {
        nota: 'limpeza, segundo cancelamento',
        de: 'valeVerde',
        para: 'mercado',
        dias: 16,
        hora: '16:28',
        linhas: [
          ['AMACIANTE DE ROUPAS 2L CX C/6', 88],
          ['SABÃO EM PÓ 800G CX C/20', 81],
        ],
        frete: 'CIF',
      },
      { cancela: 'limpeza, segundo cancelamento', dias: 15, hora: '09:25' },
    ],
  },
]

/** The note that is cancelled before the eyes of the visitor, after it was marked as booked: one at each start. */
export const surpresa = {
  conta: 'A nota já foi lançada, e o fornecedor a cancela.',
  de: 'valeVerde',
  para: 'mercado',
  horasAntes: 4,
  linhas: [
    ['DETERGENTE LÍQUIDO NEUTRO 500ML CX C/24', 132],
    ['SABÃO EM PÓ 800G CX C/20', 86],
    ['AMACIANTE DE ROUPAS 2L CX C/6', 95],
  ] satisfies Linha[],
} as const
