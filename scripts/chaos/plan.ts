import { parseArgs } from 'node:util'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'

/** What a run does; the times follow from the authority's hour, the choices from the seed. */
export interface Plan {
  seed: number
  short: boolean
  /** Length of the authority's hour. */
  hourMs: number
  /** How long an answer is waited for; two and a half of these are a lease. */
  answerMs: number
  /** How long the faults last: authority's hours. */
  hours: number
  /** Authority's hours after the faults in which everything must have settled. */
  patienceHours: number
  /** Of each single fault, for each call. */
  probability: number
  /** A worker lives so long after it began to work. */
  lifeMs: [from: number, to: number]
  /** A new document about so often. */
  liveEveryMs: number
  /** Somebody asks for something about so often. */
  wishEveryMs: number
  /** Worker processes at the same time. */
  workers: number
  workspaces: Company[][]
}

export interface Company {
  cnpj: string
  nome: string
  uf: string
  /** Gives Ciência by itself. */
  acknowledges?: boolean
  /** The CNPJ whose certificate speaks for it, when it has none of its own. */
  certificateOf?: string
}

const company = (first12: string, uf: string, more: Partial<Company> = {}): Company => {
  const cnpj = first12 + cnpjCheckDigits(first12)
  return { cnpj, nome: `EMPRESA ${cnpj} LTDA`, uf, ...more }
}

const matriz = company('445556660001', 'SC', { acknowledges: true })
const filial = company('445556660002', 'PR', { certificateOf: matriz.cnpj })
const letters = company('12ABC34501DE', 'SP', { acknowledges: true })
const filialOfLetters = company('12ABC34502DE', 'SP')
const others = [
  company('9XZ876540001', 'MG', { acknowledges: true }),
  company('112223330001', 'RS'),
  company('0A1B2C3D0001', 'MS'),
]

/** The plan that the command line asks for. */
export function readPlan(args: string[]): Plan {
  const { values } = parseArgs({ args, options: { short: { type: 'boolean' }, seed: { type: 'string' } } })
  const short = values.short ?? false
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed takes a whole number, not ${values.seed}`)
  if (short)
    return {
      seed,
      short,
      hourMs: 1_000,
      answerMs: 400,
      hours: 12,
      patienceHours: 60,
      probability: 0.02,
      lifeMs: [100, 1_000],
      liveEveryMs: 200,
      wishEveryMs: 200,
      workers: 2,
      workspaces: [
        [matriz, filial, letters],
        [letters, filialOfLetters],
      ],
    }
  return {
    seed,
    short,
    hourMs: 15_000,
    answerMs: 2_000,
    hours: 8,
    patienceHours: 24,
    probability: 0.02,
    lifeMs: [500, 8_000],
    liveEveryMs: 500,
    wishEveryMs: 400,
    workers: 3,
    workspaces: [
      [matriz, filial, letters, others[0]!],
      [letters, filialOfLetters, others[1]!, others[2]!],
    ],
  }
}
