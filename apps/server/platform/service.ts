/** The two conversations with the authority; documents are of the same two families. */
export type Service = 'nfe' | 'cte'

/** How tables and `TipoDFe` write a service. */
export const serviceCodes = { nfe: 0, cte: 2 } as const

export type ServiceCode = (typeof serviceCodes)[Service]

export const services: readonly Service[] = ['nfe', 'cte']

export function serviceOf(code: number): Service {
  return code === serviceCodes.nfe ? 'nfe' : 'cte'
}

/** An NSU as the authority writes it. */
export function nsuText(nsu: bigint): string {
  return String(nsu).padStart(15, '0')
}

/** A conversation that should have asked so long ago is late. */
export const lateMinutes = 15

/** A conversation that is up to date asks again before so long has passed. */
export const waitMinutesMax = 130
