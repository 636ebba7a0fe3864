// The trade of an accounting office and its four clients, as an accountant would tell it. Only data: `days.ts` makes days of it.
// Bases that begin with 98 and 99 do not exist, so no real company is named.

/** Weekdays of a delivery; `quinzenal` is every other week. */
export type Dia = 'seg' | 'ter' | 'qua' | 'qui' | 'sex' | 'sáb'

export interface Endereco {
  municipio: string
  uf: string
}

export interface Cliente extends Endereco {
  cnpj: string
  nome: string
  ramo: string
}

export interface Produto {
  nome: string
  ncm: string
  unidade: string
  /** Reais. */
  preco: number
  /** Usual quantity of a note, from and to. */
  quantidade: [number, number]
  /** Kilos of one unit. */
  peso: number
  /** The ICMS of its later sales was collected before. */
  st?: true
}

export interface Transportadora extends Endereco {
  raiz: string
  nome: string
  /** Reais a kilo; the toll and the papers of a trip come on top. */
  porQuilo: number
}

export interface Fornecedor extends Endereco {
  raiz: string
  nome: string
  regime: 'normal' | 'simples'
  /** Percent. */
  ipi?: number
  /** Of the normal regime, and does not inform IBS and CBS. */
  semIbsCbs?: true
  /** Days until each parcel; none: paid at once. */
  prazo: number[]
  produtos: Produto[]
}

/** Who sells to whom, when, and who pays the way: CIF the seller, FOB the buyer, "retira" nobody. */
export interface Entrega {
  de: keyof typeof fornecedores
  para: keyof typeof clientes
  dias: Dia[]
  quinzenal?: true
  /** Products in a note, from and to. */
  itens: [number, number]
  frete: 'CIF' | 'FOB' | 'retira'
  transportadora?: keyof typeof transportadoras
}

export const clientes = {
  mercado: {
    cnpj: '12ABC34501DE35',
    nome: 'MERCADO BOA VISTA LTDA',
    ramo: 'supermercado',
    municipio: 'CURITIBA',
    uf: 'PR',
  },
  padaria: {
    cnpj: '99234567000190',
    nome: 'PADARIA AURORA LTDA',
    ramo: 'padaria e confeitaria',
    municipio: 'SÃO PAULO',
    uf: 'SP',
  },
  transportes: {
    cnpj: '99456789000157',
    nome: 'TRANSPORTES SERRA AZUL LTDA',
    ramo: 'transporte rodoviário de cargas',
    municipio: 'BELO HORIZONTE',
    uf: 'MG',
  },
  moveis: {
    cnpj: '99678901000102',
    nome: 'MÓVEIS IPÊ AMARELO LTDA',
    ramo: 'fábrica de móveis',
    municipio: 'CAXIAS DO SUL',
    uf: 'RS',
  },
} satisfies Record<string, Cliente>

export const transportadoras = {
  catarinense: {
    raiz: '98310274',
    nome: 'TRANSPORTES CATARINENSE S.A.',
    municipio: 'JOINVILLE',
    uf: 'SC',
    porQuilo: 0.24,
  },
  bandeirantes: {
    raiz: '98422615',
    nome: 'RODOVIÁRIO BANDEIRANTES LTDA',
    municipio: 'GUARULHOS',
    uf: 'SP',
    porQuilo: 0.31,
  },
  cruzeiro: {
    raiz: '98537148',
    nome: 'EXPRESSO CRUZEIRO DO SUL LTDA',
    municipio: 'PORTO ALEGRE',
    uf: 'RS',
    porQuilo: 0.27,
  },
  serrana: {
    raiz: '98573960',
    nome: 'FRIGORÍFICA SERRANA TRANSPORTES LTDA',
    municipio: 'CAXIAS DO SUL',
    uf: 'RS',
    porQuilo: 0.85,
  },
  guanabara: {
    raiz: '98641059',
    nome: 'GUANABARA LOGÍSTICA LTDA',
    municipio: 'CONTAGEM',
    uf: 'MG',
    porQuilo: 0.78,
  },
} satisfies Record<string, Transportadora>

function produto(
  nome: string,
  ncm: string,
  unidade: string,
  preco: number,
  quantidade: [number, number],
  peso: number,
): Produto {
  return { nome, ncm, unidade, preco, quantidade, peso }
}

export const fornecedores = {
  santaClara: {
    raiz: '98104233',
    nome: 'DISTRIBUIDORA DE ALIMENTOS SANTA CLARA LTDA',
    municipio: 'LONDRINA',
    uf: 'PR',
    regime: 'normal',
    prazo: [28],
    produtos: [
      produto('ARROZ BRANCO TIPO 1 5KG', '10063021', 'PCT', 24.9, [60, 140], 5),
      produto('FEIJÃO CARIOCA TIPO 1 1KG FARDO C/10', '07133399', 'FD', 74.5, [10, 30], 10),
      produto('AÇÚCAR REFINADO 1KG FARDO C/10', '17019900', 'FD', 38.9, [15, 45], 10),
      produto('ÓLEO DE SOJA REFINADO 900ML CX C/20', '15079011', 'CX', 139, [8, 20], 18),
      produto('MACARRÃO ESPAGUETE 500G CX C/20', '19021900', 'CX', 67.8, [10, 30], 10),
      produto('BISCOITO CREAM CRACKER 400G CX C/20', '19053100', 'CX', 98.4, [6, 18], 8),
    ],
  },
  paineiras: {
    raiz: '98118940',
    nome: 'COMERCIAL PAINEIRAS DE CEREAIS LTDA',
    municipio: 'CAMPO GRANDE',
    uf: 'MS',
    regime: 'normal',
    semIbsCbs: true,
    prazo: [28, 42],
    produtos: [
      produto('ARROZ PARBOILIZADO TIPO 1 5KG', '10063011', 'PCT', 23.4, [120, 240], 5),
      produto('FARINHA DE MANDIOCA 1KG FARDO C/20', '11062000', 'FD', 92, [10, 30], 20),
      produto('FUBÁ MIMOSO 1KG FARDO C/20', '11022000', 'FD', 61.5, [10, 30], 20),
    ],
  },
  horizonte: {
    raiz: '98127356',
    nome: 'HORIZONTE ATACADO DE ALIMENTOS S.A.',
    municipio: 'JOINVILLE',
    uf: 'SC',
    regime: 'normal',
    prazo: [21, 35],
    produtos: [
      produto('ATUM RALADO EM ÓLEO 170G CX C/24', '16041410', 'CX', 168, [8, 20], 5),
      produto('EXTRATO DE TOMATE 340G CX C/24', '20029010', 'CX', 86.4, [10, 30], 9),
      produto('MILHO VERDE EM CONSERVA 170G CX C/24', '20058000', 'CX', 71.9, [10, 30], 5),
      produto('LEITE DE COCO 200ML CX C/24', '20098990', 'CX', 104, [6, 18], 6),
      produto('MAIONESE 500G CX C/12', '21039011', 'CX', 79.2, [8, 24], 7),
    ],
  },
  mantiqueira: {
    raiz: '98135481',
    nome: 'LATICÍNIOS MANTIQUEIRA LTDA',
    municipio: 'BELO HORIZONTE',
    uf: 'MG',
    regime: 'normal',
    prazo: [21],
    produtos: [
      produto('QUEIJO MUSSARELA PEÇA', '04061010', 'KG', 31.9, [80, 180], 1),
      produto('QUEIJO PRATO PEÇA', '04069010', 'KG', 35.4, [40, 90], 1),
      produto('MANTEIGA COM SAL 200G CX C/24', '04051000', 'CX', 213, [4, 12], 5),
      produto('REQUEIJÃO CREMOSO 200G CX C/24', '04061090', 'CX', 156, [6, 16], 6),
    ],
  },
  araucaria: {
    raiz: '98142607',
    nome: 'BEBIDAS ARAUCÁRIA S.A.',
    municipio: 'CURITIBA',
    uf: 'PR',
    regime: 'normal',
    prazo: [14],
    produtos: [
      produto('ÁGUA MINERAL SEM GÁS 500ML C/12', '22011000', 'FD', 14.9, [60, 160], 6),
      produto('SUCO DE UVA INTEGRAL 1L CX C/12', '20096100', 'CX', 118, [8, 24], 13),
      produto('REFRIGERANTE GUARANÁ 2L FARDO C/6', '22021000', 'FD', 36.5, [40, 110], 12),
    ],
  },
  valeVerde: {
    raiz: '98153928',
    nome: 'HIGIENE E LIMPEZA VALE VERDE LTDA',
    municipio: 'GUARULHOS',
    uf: 'SP',
    regime: 'normal',
    prazo: [28],
    produtos: [
      produto('DETERGENTE LÍQUIDO NEUTRO 500ML CX C/24', '34025000', 'CX', 52.8, [30, 60], 13),
      produto('SABÃO EM PÓ 800G CX C/20', '34025000', 'CX', 139, [15, 35], 17),
      produto('AMACIANTE DE ROUPAS 2L CX C/6', '38099190', 'CX', 58.9, [15, 40], 12),
      produto('ÁGUA SANITÁRIA 2L CX C/6', '28289011', 'CX', 29.7, [20, 60], 12),
    ],
  },
  primavera: {
    raiz: '98164075',
    nome: 'EMBALAGENS PRIMAVERA LTDA',
    municipio: 'BLUMENAU',
    uf: 'SC',
    regime: 'normal',
    ipi: 9.75,
    prazo: [28],
    produtos: [
      produto('SACOLA PLÁSTICA RECICLADA 40X50 C/1000', '39232190', 'MIL', 84.9, [15, 40], 6),
      produto('BOBINA PICOTADA 30X40', '39232190', 'RL', 21.6, [30, 90], 2),
      produto('FILME PVC ESTICÁVEL 28CM X 300M', '39204390', 'RL', 33.9, [20, 60], 2),
    ],
  },
  rioClaro: {
    raiz: '98171364',
    nome: 'HORTIFRUTI RIO CLARO LTDA',
    municipio: 'CURITIBA',
    uf: 'PR',
    regime: 'simples',
    prazo: [7],
    produtos: [
      produto('BANANA CATURRA', '08039000', 'KG', 3.9, [90, 220], 1),
      produto('BATATA LAVADA', '07019000', 'KG', 4.2, [90, 220], 1),
      produto('CEBOLA', '07031019', 'KG', 3.6, [50, 140], 1),
      produto('LARANJA PERA', '08051000', 'KG', 3.2, [90, 220], 1),
      produto('MAÇÃ GALA', '08081000', 'KG', 7.4, [50, 140], 1),
      produto('TOMATE LONGA VIDA', '07020000', 'KG', 5.8, [60, 160], 1),
    ],
  },
  minuano: {
    raiz: '98185532',
    nome: 'CARNES MINUANO S.A.',
    municipio: 'CAXIAS DO SUL',
    uf: 'RS',
    regime: 'normal',
    prazo: [14],
    produtos: [
      produto('ACÉM BOVINO RESFRIADO', '02013000', 'KG', 27.9, [50, 90], 1),
      produto('ALCATRA BOVINA RESFRIADA', '02013000', 'KG', 39.8, [30, 60], 1),
      produto('CONTRA FILÉ BOVINO RESFRIADO', '02013000', 'KG', 43.5, [30, 60], 1),
      produto('COSTELA BOVINA RESFRIADA', '02012090', 'KG', 22.4, [50, 90], 1),
      produto('COXÃO MOLE BOVINO RESFRIADO', '02013000', 'KG', 35.6, [40, 80], 1),
      produto('FRALDINHA BOVINA RESFRIADA', '02013000', 'KG', 33.2, [30, 60], 1),
      produto('MAMINHA BOVINA RESFRIADA', '02013000', 'KG', 41.9, [20, 45], 1),
      produto('PATINHO BOVINO RESFRIADO', '02013000', 'KG', 34.7, [40, 80], 1),
    ],
  },
  tresIrmaos: {
    raiz: '98190817',
    nome: 'CAFÉ TRÊS IRMÃOS LTDA',
    municipio: 'CONTAGEM',
    uf: 'MG',
    regime: 'normal',
    prazo: [28],
    produtos: [
      produto('CAFÉ TORRADO E MOÍDO TRADICIONAL 500G', '09012100', 'PCT', 17.9, [80, 200], 0.5),
      produto('CAFÉ EM GRÃOS GOURMET 1KG', '09012100', 'PCT', 52, [20, 60], 1),
    ],
  },
  pantanal: {
    raiz: '98203146',
    nome: 'MOINHO PANTANAL S.A.',
    municipio: 'CAMPINAS',
    uf: 'SP',
    regime: 'normal',
    prazo: [28],
    produtos: [
      produto('FARINHA DE TRIGO ESPECIAL 25KG', '11010010', 'SC', 84.5, [30, 70], 25),
      produto('FARINHA DE TRIGO INTEGRAL 25KG', '11010010', 'SC', 92.8, [8, 24], 25),
      produto('MISTURA PARA PÃO FRANCÊS 10KG', '19012000', 'SC', 61.4, [10, 30], 10),
    ],
  },
  novaEra: {
    raiz: '98216703',
    nome: 'FERMENTOS NOVA ERA LTDA',
    municipio: 'CAMPINAS',
    uf: 'SP',
    regime: 'normal',
    prazo: [14],
    produtos: [
      produto('FERMENTO BIOLÓGICO FRESCO 500G CX C/24', '21021090', 'CX', 167, [4, 12], 12),
      produto('MELHORADOR DE FARINHA 1KG', '21069010', 'PCT', 19.8, [15, 45], 1),
      produto('CREME DE CONFEITEIRO 5KG', '21069090', 'BD', 73.5, [6, 18], 5),
    ],
  },
  saoJorge: {
    raiz: '98227951',
    nome: 'OVOS SÃO JORGE LTDA',
    municipio: 'GUARULHOS',
    uf: 'SP',
    regime: 'simples',
    prazo: [14],
    produtos: [
      produto('OVO BRANCO GRANDE CX C/360', '04072100', 'CX', 198, [6, 18], 22),
      produto('OVO VERMELHO GRANDE CX C/360', '04072100', 'CX', 224, [3, 9], 22),
    ],
  },
  jequitiba: {
    raiz: '98231688',
    nome: 'AUTO PEÇAS JEQUITIBÁ LTDA',
    municipio: 'CONTAGEM',
    uf: 'MG',
    regime: 'normal',
    prazo: [28, 56],
    produtos: [
      { ...produto('PASTILHA DE FREIO PARA CAMINHÃO JOGO', '87083090', 'JG', 246, [4, 12], 6), st: true },
      { ...produto('FILTRO DE ÓLEO DO MOTOR DIESEL', '84212300', 'UN', 68.9, [10, 30], 1), st: true },
      { ...produto('LONA DE FREIO TRASEIRA JOGO', '87083090', 'JG', 318, [3, 9], 9), st: true },
      { ...produto('AMORTECEDOR DE CABINE', '87088000', 'UN', 274, [2, 8], 4), st: true },
    ],
  },
  guanabaraPneus: {
    raiz: '98243370',
    nome: 'PNEUS GUANABARA LTDA',
    municipio: 'RIO DE JANEIRO',
    uf: 'RJ',
    regime: 'normal',
    prazo: [28, 42, 56],
    produtos: [
      produto('PNEU RADIAL 295/80 R22,5', '40112090', 'UN', 1_890, [4, 8], 58),
      produto('CÂMARA DE AR 1000 R20', '40131090', 'UN', 189, [4, 12], 4),
      produto('PROTETOR DE PNEU ARO 20', '40129090', 'UN', 62, [4, 12], 2),
    ],
  },
  paulistana: {
    raiz: '98254092',
    nome: 'LUBRIFICANTES PAULISTANA S.A.',
    municipio: 'GUARULHOS',
    uf: 'SP',
    regime: 'normal',
    prazo: [28],
    produtos: [
      produto('ÓLEO LUBRIFICANTE 15W40 BALDE 20L', '27101932', 'BD', 389, [6, 18], 18),
      produto('GRAXA DE LÍTIO BALDE 20KG', '27101991', 'BD', 428, [2, 6], 20),
      produto('ADITIVO PARA RADIADOR 5L', '38200000', 'GL', 79, [8, 24], 5),
    ],
  },
  iguacu: {
    raiz: '98265814',
    nome: 'MADEIRAS IGUAÇU LTDA',
    municipio: 'CURITIBA',
    uf: 'PR',
    regime: 'normal',
    prazo: [28, 42],
    produtos: [
      produto('CHAPA DE MDF 15MM 2,75X1,85M', '44111492', 'CH', 189, [30, 70], 55),
      produto('CHAPA DE MDF 6MM 2,75X1,85M', '44111210', 'CH', 98, [20, 60], 23),
      produto('COMPENSADO NAVAL 18MM', '44123300', 'CH', 247, [8, 24], 24),
    ],
  },
  bandeirante: {
    raiz: '98278435',
    nome: 'FERRAGENS BANDEIRANTE LTDA',
    municipio: 'GUARULHOS',
    uf: 'SP',
    regime: 'normal',
    ipi: 6.5,
    prazo: [28],
    produtos: [
      produto('CORREDIÇA TELESCÓPICA 450MM PAR', '83024200', 'PR', 23.9, [80, 200], 1),
      produto('DOBRADIÇA CANECO 35MM COM AMORTECEDOR', '83021000', 'UN', 7.9, [200, 500], 0.1),
      produto('PUXADOR ALÇA 128MM', '83024200', 'UN', 11.4, [100, 300], 0.1),
    ],
  },
  estrela: {
    raiz: '98289106',
    nome: "TINTAS ESTRELA D'ALVA LTDA",
    municipio: 'PORTO ALEGRE',
    uf: 'RS',
    regime: 'normal',
    ipi: 3.25,
    prazo: [28],
    produtos: [
      produto('VERNIZ POLIURETANO 18L', '32081020', 'LT', 412, [4, 12], 18),
      produto('SELADOR PARA MADEIRA 18L', '32081020', 'LT', 268, [4, 12], 18),
      produto('THINNER 18L', '38140090', 'LT', 214, [3, 9], 15),
    ],
  },
} satisfies Record<string, Fornecedor>

export const entregas: readonly Entrega[] = [
  { de: 'santaClara', para: 'mercado', dias: ['seg', 'qua', 'sex'], itens: [3, 5], frete: 'CIF' },
  { de: 'paineiras', para: 'mercado', dias: ['ter'], itens: [2, 3], frete: 'FOB', transportadora: 'bandeirantes' },
  {
    de: 'horizonte',
    para: 'mercado',
    dias: ['ter', 'qui'],
    itens: [3, 4],
    frete: 'FOB',
    transportadora: 'catarinense',
  },
  {
    de: 'mantiqueira',
    para: 'mercado',
    dias: ['seg', 'ter', 'qui'],
    itens: [3, 4],
    frete: 'FOB',
    transportadora: 'guanabara',
  },
  { de: 'araucaria', para: 'mercado', dias: ['seg', 'qua', 'sex'], itens: [2, 3], frete: 'retira' },
  {
    de: 'valeVerde',
    para: 'mercado',
    dias: ['qua'],
    quinzenal: true,
    itens: [3, 4],
    frete: 'FOB',
    transportadora: 'bandeirantes',
  },
  { de: 'primavera', para: 'mercado', dias: ['sex'], itens: [2, 3], frete: 'CIF', transportadora: 'catarinense' },
  { de: 'rioClaro', para: 'mercado', dias: ['seg', 'ter', 'qua', 'qui', 'sex', 'sáb'], itens: [4, 6], frete: 'retira' },
  {
    de: 'minuano',
    para: 'mercado',
    dias: ['ter', 'qua', 'sex'],
    itens: [3, 5],
    frete: 'FOB',
    transportadora: 'serrana',
  },
  { de: 'tresIrmaos', para: 'mercado', dias: ['qui'], quinzenal: true, itens: [2, 2], frete: 'CIF' },

  { de: 'pantanal', para: 'padaria', dias: ['seg', 'qui'], itens: [2, 3], frete: 'CIF' },
  { de: 'mantiqueira', para: 'padaria', dias: ['ter'], itens: [2, 3], frete: 'FOB', transportadora: 'guanabara' },
  { de: 'novaEra', para: 'padaria', dias: ['ter', 'qua'], itens: [2, 3], frete: 'retira' },
  { de: 'saoJorge', para: 'padaria', dias: ['ter', 'sex'], itens: [2, 2], frete: 'retira' },
  { de: 'tresIrmaos', para: 'padaria', dias: ['ter', 'qui'], itens: [2, 2], frete: 'CIF', transportadora: 'guanabara' },
  {
    de: 'primavera',
    para: 'padaria',
    dias: ['sex'],
    quinzenal: true,
    itens: [2, 3],
    frete: 'FOB',
    transportadora: 'bandeirantes',
  },

  { de: 'jequitiba', para: 'transportes', dias: ['seg', 'ter', 'qua'], itens: [2, 4], frete: 'retira' },
  {
    de: 'guanabaraPneus',
    para: 'transportes',
    dias: ['qui'],
    itens: [2, 3],
    frete: 'CIF',
    transportadora: 'guanabara',
  },
  {
    de: 'paulistana',
    para: 'transportes',
    dias: ['ter', 'sex'],
    itens: [2, 3],
    frete: 'CIF',
    transportadora: 'bandeirantes',
  },

  { de: 'iguacu', para: 'moveis', dias: ['ter'], itens: [2, 3], frete: 'FOB', transportadora: 'cruzeiro' },
  {
    de: 'bandeirante',
    para: 'moveis',
    dias: ['ter', 'qui'],
    itens: [2, 3],
    frete: 'FOB',
    transportadora: 'bandeirantes',
  },
  { de: 'estrela', para: 'moveis', dias: ['seg', 'qua'], itens: [2, 3], frete: 'CIF', transportadora: 'cruzeiro' },
]
