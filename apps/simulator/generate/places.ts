/** A municipality where the taxpayers of the generator live. */
export interface Municipality {
  uf: string
  cUF: string
  cMun: string
  xMun: string
  /** First digits of its CEP and its telephone area. */
  cep: string
  ddd: string
}

const table: [string, string, string, string, string, string][] = [
  ['RO', '11', '1100205', 'PORTO VELHO', '76801', '69'],
  ['AC', '12', '1200401', 'RIO BRANCO', '69900', '68'],
  ['AM', '13', '1302603', 'MANAUS', '69005', '92'],
  ['RR', '14', '1400100', 'BOA VISTA', '69301', '95'],
  ['PA', '15', '1501402', 'BELÉM', '66010', '91'],
  ['AP', '16', '1600303', 'MACAPÁ', '68900', '96'],
  ['TO', '17', '1721000', 'PALMAS', '77001', '63'],
  ['MA', '21', '2111300', 'SÃO LUÍS', '65010', '98'],
  ['PI', '22', '2211001', 'TERESINA', '64000', '86'],
  ['CE', '23', '2304400', 'FORTALEZA', '60025', '85'],
  ['RN', '24', '2408102', 'NATAL', '59010', '84'],
  ['PB', '25', '2507507', 'JOÃO PESSOA', '58010', '83'],
  ['PE', '26', '2611606', 'RECIFE', '50010', '81'],
  ['AL', '27', '2704302', 'MACEIÓ', '57020', '82'],
  ['SE', '28', '2800308', 'ARACAJU', '49010', '79'],
  ['BA', '29', '2927408', 'SALVADOR', '40015', '71'],
  ['MG', '31', '3106200', 'BELO HORIZONTE', '30110', '31'],
  ['MG', '31', '3118601', 'CONTAGEM', '32010', '31'],
  ['ES', '32', '3205309', 'VITÓRIA', '29010', '27'],
  ['RJ', '33', '3304557', 'RIO DE JANEIRO', '20010', '21'],
  ['SP', '35', '3550308', 'SÃO PAULO', '01001', '11'],
  ['SP', '35', '3509502', 'CAMPINAS', '13010', '19'],
  ['SP', '35', '3518800', 'GUARULHOS', '07010', '11'],
  ['PR', '41', '4106902', 'CURITIBA', '80010', '41'],
  ['PR', '41', '4113700', 'LONDRINA', '86010', '43'],
  ['SC', '42', '4209102', 'JOINVILLE', '89201', '47'],
  ['SC', '42', '4202404', 'BLUMENAU', '89010', '47'],
  ['RS', '43', '4314902', 'PORTO ALEGRE', '90010', '51'],
  ['RS', '43', '4305108', 'CAXIAS DO SUL', '95010', '54'],
  ['MS', '50', '5002704', 'CAMPO GRANDE', '79002', '67'],
  ['MT', '51', '5103403', 'CUIABÁ', '78005', '65'],
  ['GO', '52', '5208707', 'GOIÂNIA', '74003', '62'],
  ['DF', '53', '5300108', 'BRASÍLIA', '70040', '61'],
]

export const places: readonly Municipality[] = table.map(([uf, cUF, cMun, xMun, cep, ddd]) => ({
  uf,
  cUF,
  cMun,
  xMun,
  cep,
  ddd,
}))

/** A municipality of a state; São Paulo for a sigla that does not exist. */
export function placeIn(uf: string): Municipality {
  const place = places.find((one) => one.uf === uf.toUpperCase()) ?? places.find((one) => one.cMun === '3550308')
  if (place === undefined) throw new Error(`no place in ${uf}`)
  return place
}

const southAndSoutheast = new Set(['SP', 'RJ', 'MG', 'PR', 'SC', 'RS'])

/** ICMS rate between two states, in ten thousandths of one percent (Resolução do Senado 22/89); inside one, its usual rate. */
export function icmsRate(from: string, to: string): number {
  if (from === to) return ['SP', 'MG'].includes(from) ? 180_000 : from === 'SC' || from === 'RS' ? 170_000 : 195_000
  return southAndSoutheast.has(from) && !southAndSoutheast.has(to) ? 70_000 : 120_000
}
