/** A kind of supplier and its products. */
export interface BusinessSegment {
  /** Company names, `*` being replaced by a word of their own. */
  names: readonly string[]
  /** IPI rate of its products, in ten thousandths of one percent. */
  ipi: number
  products: readonly SoldProduct[]
}

export interface SoldProduct {
  xProd: string
  NCM: string
  unit: string
  /** cProd; undefined: another one in each note. */
  code?: string
  /** Range of the unit price, in cents. */
  price: [number, number]
  quantity: [number, number]
  /** Its ICMS was collected before, by substituição tributária. */
  st?: boolean
}

function product(
  xProd: string,
  NCM: string,
  unit: string,
  price: [number, number],
  quantity: [number, number],
): SoldProduct {
  return { xProd, NCM, unit, price, quantity }
}

export const segments: readonly BusinessSegment[] = [
  {
    names: ['METALÚRGICA * LTDA', 'INDÚSTRIA DE FIXADORES * S.A.', '* PARAFUSOS E FERRAGENS LTDA'],
    ipi: 65_000,
    products: [
      product('PARAFUSO SEXTAVADO 10MM X 50MM ZINCADO', '73181500', 'CX', [4_590, 15_900], [2, 60]),
      product('PORCA SEXTAVADA M10 AÇO CARBONO', '73181600', 'CT', [1_850, 4_200], [5, 120]),
      product('ARRUELA LISA 3/8" POL. ZINCADA', '73182200', 'CT', [790, 1_980], [10, 200]),
      product('CHUMBADOR MECÂNICO 1/2 X 4', '73181900', 'UN', [349, 890], [50, 800]),
      product('ABRAÇADEIRA ROSCA SEM FIM 19-27', '73269090', 'UN', [189, 560], [50, 900]),
      product('CANTONEIRA AÇO 1" X 1/8" BARRA 6M', '72162100', 'BR', [4_990, 8_890], [4, 80]),
    ],
  },
  {
    names: ['DISTRIBUIDORA DE ALIMENTOS * LTDA', 'COMERCIAL * DE CEREAIS LTDA', '* ATACADO DE ALIMENTOS S.A.'],
    ipi: 0,
    products: [
      product('CAFÉ TORRADO E MOÍDO TRADICIONAL 500G', '09012100', 'PCT', [1_390, 2_490], [20, 400]),
      product('AÇÚCAR REFINADO 1KG FARDO C/10', '17019900', 'FD', [3_290, 4_690], [10, 150]),
      product('ARROZ BRANCO TIPO 1 5KG', '10063021', 'PCT', [2_190, 3_190], [20, 300]),
      product('FEIJÃO CARIOCA TIPO 1 1KG FARDO C/10', '07133399', 'FD', [6_490, 9_890], [5, 90]),
      product('ÓLEO DE SOJA REFINADO 900ML CX C/20', '15079011', 'CX', [11_900, 16_900], [5, 80]),
      product('ÁGUA MINERAL SEM GÁS 500ML C/12', '22011000', 'FD', [1_290, 2_190], [20, 300]),
      product('BISCOITO CREAM CRACKER 400G', '19053100', 'CX', [8_790, 12_900], [4, 60]),
    ],
  },
  {
    names: ['* INFORMÁTICA LTDA', '* TECNOLOGIA E SISTEMAS S.A.', 'COMÉRCIO DE ELETRÔNICOS * LTDA'],
    ipi: 0,
    products: [
      product('NOTEBOOK 15,6" 16GB SSD 512GB', '84713012', 'UN', [289_900, 549_900], [1, 12]),
      product('MONITOR LED 24" FULL HD', '85285200', 'UN', [64_900, 119_900], [1, 20]),
      product('TECLADO USB ABNT2', '84716052', 'UN', [3_990, 12_900], [2, 50]),
      product('MOUSE ÓPTICO USB 1200 DPI', '84716053', 'UN', [1_990, 7_990], [2, 60]),
      product('CABO DE REDE CAT6 CX 305M', '85444900', 'CX', [58_900, 99_900], [1, 8]),
      product('TONER COMPATÍVEL PRETO 2.300 PÁG.', '84439933', 'UN', [6_990, 18_900], [2, 40]),
    ],
  },
  {
    names: ['EMBALAGENS * LTDA', 'PAPEL E CELULOSE * S.A.', '* INDÚSTRIA DE PLÁSTICOS LTDA'],
    ipi: 97_500,
    products: [
      product('CAIXA DE PAPELÃO ONDULADO 40X30X30', '48191000', 'UN', [289, 690], [100, 2_000]),
      product('FITA ADESIVA TRANSPARENTE 45MM X 100M', '39191010', 'RL', [490, 990], [24, 480]),
      product('FILME STRETCH 500MM X 25 MICRA', '39201099', 'RL', [5_490, 8_990], [6, 120]),
      product('SACO PLÁSTICO PEBD 60X80', '39232190', 'KG', [1_490, 2_390], [25, 500]),
      product('PAPEL A4 75G CX C/10 RESMAS', '48025610', 'CX', [21_900, 29_900], [2, 60]),
    ],
  },
  {
    names: ['QUÍMICA * LTDA', '* TINTAS E VERNIZES S.A.', 'HIGIENE E LIMPEZA * LTDA'],
    ipi: 32_500,
    products: [
      product('DETERGENTE LÍQUIDO NEUTRO 5L', '34025000', 'GL', [1_490, 2_990], [10, 120]),
      product('ÁLCOOL ETÍLICO 70% 1L CX C/12', '22071090', 'CX', [7_990, 11_900], [4, 80]),
      product('TINTA ACRÍLICA FOSCA BRANCA 18L', '32091010', 'LT', [18_900, 39_900], [2, 40]),
      product('SOLVENTE THINNER 900ML', '38140090', 'UN', [1_290, 2_490], [12, 120]),
      product('PAPEL TOALHA INTERFOLHA 1.000 FLS', '48182000', 'FD', [1_190, 2_290], [20, 300]),
    ],
  },
  {
    names: ['ELÉTRICA * COMERCIAL LTDA', '* MATERIAIS ELÉTRICOS LTDA', 'CONDUTORES * S.A.'],
    ipi: 0,
    products: [
      product('CABO FLEXÍVEL 2,5MM² 750V ROLO 100M', '85444900', 'RL', [18_900, 28_900], [2, 60]),
      product('DISJUNTOR DIN BIPOLAR 32A', '85362000', 'UN', [3_490, 6_990], [4, 100]),
      product('LÂMPADA LED BULBO 9W E27', '85395200', 'UN', [590, 1_290], [20, 400]),
      product('LUMINÁRIA LED PAINEL 24W', '94051190', 'UN', [3_990, 8_990], [5, 80]),
      product('ELETRODUTO CORRUGADO 25MM 50M', '39173290', 'RL', [7_900, 11_900], [2, 60]),
    ],
  },
  {
    names: ['AUTO PEÇAS * LTDA', '* DISTRIBUIDORA AUTOMOTIVA S.A.', 'ROLAMENTOS * LTDA'],
    ipi: 0,
    products: [
      { ...product('PASTILHA DE FREIO DIANTEIRA JOGO', '87083090', 'JG', [7_900, 18_900], [1, 24]), st: true },
      { ...product('FILTRO DE ÓLEO DO MOTOR', '84212300', 'UN', [1_990, 4_990], [4, 60]), st: true },
      { ...product('AMORTECEDOR DIANTEIRO A GÁS', '87088000', 'UN', [18_900, 42_900], [1, 16]), st: true },
      { ...product('ÓLEO LUBRIFICANTE 5W30 1L', '27101932', 'UN', [2_990, 5_490], [12, 120]), st: true },
      product('ROLAMENTO RÍGIDO DE ESFERAS 6204', '84821010', 'UN', [1_590, 3_990], [4, 80]),
    ],
  },
  {
    names: ['* EQUIPAMENTOS DE PROTEÇÃO LTDA', 'UNIFORMES E EPI * LTDA'],
    ipi: 0,
    products: [
      product('LUVA DE SEGURANÇA NITRÍLICA TAM. M', '40151900', 'PR', [690, 1_990], [20, 400]),
      product('BOTINA DE SEGURANÇA COM BIQUEIRA', '64034000', 'PR', [6_990, 14_900], [4, 80]),
      product('CAPACETE DE SEGURANÇA CLASSE B', '65061000', 'UN', [1_890, 4_990], [5, 100]),
      product('ÓCULOS DE PROTEÇÃO INCOLOR', '90049020', 'UN', [490, 1_490], [10, 200]),
      product('PROTETOR AURICULAR PLUG C/ CORDÃO', '39269090', 'UN', [149, 490], [50, 800]),
    ],
  },
]

/** Words that make a company's name its own. */
export const nameWords: readonly string[] = [
  'SANTA CLARA',
  'BOA VISTA',
  'SÃO JORGE',
  'AURORA',
  'PRIMAVERA',
  'IPÊ AMARELO',
  'TRÊS IRMÃOS',
  'NOVA ERA',
  'HORIZONTE',
  'PAINEIRAS',
  'ARAUCÁRIA',
  'BANDEIRANTES',
  'MANTIQUEIRA',
  'GUANABARA',
  'PANTANAL',
  'SERRA AZUL',
  'VALE VERDE',
  'RIO CLARO',
  "ESTRELA D'ALVA",
  'JEQUITIBÁ',
  'CRUZEIRO DO SUL',
  'PAULISTANA',
  'CATARINENSE',
  'MINUANO',
]
