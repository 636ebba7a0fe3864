/** A state of the federation: IBGE code, sigla, name, and who authorises the CT-e of its emitentes. */
export interface Uf {
  code: number
  uf: string
  name: string
  cteAuthorizer: string
}

const table: readonly (readonly [number, string, string, string])[] = [
  [11, 'RO', 'Rondônia', 'SVRS'],
  [12, 'AC', 'Acre', 'SVRS'],
  [13, 'AM', 'Amazonas', 'SVRS'],
  [14, 'RR', 'Roraima', 'SVSP'],
  [15, 'PA', 'Pará', 'SVRS'],
  [16, 'AP', 'Amapá', 'SVSP'],
  [17, 'TO', 'Tocantins', 'SVRS'],
  [21, 'MA', 'Maranhão', 'SVRS'],
  [22, 'PI', 'Piauí', 'SVRS'],
  [23, 'CE', 'Ceará', 'SVRS'],
  [24, 'RN', 'Rio Grande do Norte', 'SVRS'],
  [25, 'PB', 'Paraíba', 'SVRS'],
  [26, 'PE', 'Pernambuco', 'SVSP'],
  [27, 'AL', 'Alagoas', 'SVRS'],
  [28, 'SE', 'Sergipe', 'SVRS'],
  [29, 'BA', 'Bahia', 'SVRS'],
  [31, 'MG', 'Minas Gerais', 'MG'],
  [32, 'ES', 'Espírito Santo', 'SVRS'],
  [33, 'RJ', 'Rio de Janeiro', 'SVRS'],
  [35, 'SP', 'São Paulo', 'SP'],
  [41, 'PR', 'Paraná', 'PR'],
  [42, 'SC', 'Santa Catarina', 'SVRS'],
  [43, 'RS', 'Rio Grande do Sul', 'SVRS'],
  [50, 'MS', 'Mato Grosso do Sul', 'MS'],
  [51, 'MT', 'Mato Grosso', 'MT'],
  [52, 'GO', 'Goiás', 'SVRS'],
  [53, 'DF', 'Distrito Federal', 'SVRS'],
]

/** The 27 states with their IBGE codes (MOC NF-e 7.0, `cUF`) and the authorisers of the CT-e (MOC CT-e 4.00, ambientes de autorização). */
export const ufs: readonly Uf[] = table.map(([code, uf, name, cteAuthorizer]) => ({ code, uf, name, cteAuthorizer }))

const byCode = new Map(ufs.map((uf) => [uf.code, uf]))
const bySigla = new Map(ufs.map((uf) => [uf.uf, uf]))

/** The state with this IBGE code (`cUF`); the bodies 90 to 96 are not states. */
export function ufByCode(code: number | string): Uf | undefined {
  return byCode.get(Number(code))
}

/** The state with this sigla, in any case. */
export function ufBySigla(sigla: string): Uf | undefined {
  return bySigla.get(sigla.toUpperCase())
}
