import { parseArgs } from 'node:util'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'

/** What a run does; the times follow from the authority's hour, the choices from the seed. */
export interface ChaosPlan {
  seed: number
  short: boolean
  /** Several APIs behind one address, which are killed too; each process has a clock of its own and a door to the database that is cut and slowed. */
  processes: boolean
  /** The database is a coordinator of Citus with servers for rows, which are killed, cut off and rebalanced; then there are several APIs too. */
  cluster: boolean
  /** In the end the database is brought back from a copy. Not in the form that a commit runs: tests/conformance/restore.test.ts does it there. */
  restores: boolean
  /** API processes at the same time. */
  apis: number
  /** An API lives so long after it began to work. */
  apiLifeMs: [from: number, to: number]
  /** Length of the authority's hour. */
  hourMs: number
  /** What the product adds to the hour; as in reality more than it waits for a response, so that a call that comes late does no harm. */
  marginMs: number
  /** How long the product waits for a response; two and a half of these are a lease. */
  answerMs: number
  /** How long the trouble lasts at least: hours of the authority. */
  hours: number
  /** Hours of the authority after the faults in which everything must have settled. */
  patienceHours: number
  /** Of each single fault, for each call. */
  probability: number
  /** A worker lives so long after it began to work. */
  lifeMs: [from: number, to: number]
  /** A new document arrives about so often. */
  liveEveryMs: number
  /** Somebody asks for something about so often. */
  requestEveryMs: number
  /** Worker processes at the same time. */
  workers: number
  workspaces: PlannedCompany[][]
}

export interface PlannedCompany {
  cnpj: string
  nome: string
  uf: string
  /** Gives Ciência automatically. */
  acknowledges?: boolean
  /** The CNPJ whose certificate speaks for it, when it has none of its own. */
  certificateOf?: string
}

const company = (first12: string, uf: string, more: Partial<PlannedCompany> = {}): PlannedCompany => {
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

/** The plan that the command line asks for, on a machine that is `slowness` times slower than usual. */
export function readChaosPlan(args: string[], slowness: number): ChaosPlan {
  const { values } = parseArgs({
    args,
    options: {
      short: { type: 'boolean' },
      processes: { type: 'boolean' },
      cluster: { type: 'boolean' },
      seed: { type: 'string' },
    },
  })
  const short = values.short ?? false
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed takes a whole number, not ${values.seed}`)
  const cluster = values.cluster ?? false
  // Each statement goes by way of a coordinator, and each event of a batch is claimed by one of its own: a lease has to last for that.
  const pace = cluster ? 3 * slowness : slowness
  const processes = cluster || (values.processes ?? false)
  const apis = cluster ? 2 : processes ? 3 : 1
  const apiLifeMs: [number, number] = short ? [1_000 * pace, 8_000 * pace] : [10_000 * pace, 40_000 * pace]
  const restores = processes || !short
  const common = { seed, short, processes, cluster, restores, apis, apiLifeMs, probability: 0.02 }
  if (short)
    return {
      ...common,
      hourMs: 1_000 * pace,
      marginMs: 500 * pace,
      answerMs: 400 * pace,
      hours: cluster ? 6 : 12,
      patienceHours: 60,
      lifeMs: [100 * pace, 1_000 * pace],
      liveEveryMs: 200 * pace,
      requestEveryMs: 200 * pace,
      workers: cluster ? 1 : processes ? 3 : 2,
      workspaces: cluster
        ? [[matriz, letters], [letters]]
        : [
            [matriz, filial, letters],
            [letters, filialOfLetters],
          ],
    }
  return {
    ...common,
    hourMs: 15_000 * pace,
    marginMs: 3_000 * pace,
    answerMs: 2_000 * pace,
    // With several APIs ten minutes.
    hours: processes ? Math.max(4, Math.ceil(40 / pace)) : 8,
    patienceHours: 24,
    lifeMs: [500 * pace, 8_000 * pace],
    liveEveryMs: 500 * pace,
    requestEveryMs: 400 * pace,
    // With the one behind the door that stalls, four.
    workers: 3,
    workspaces: [
      [matriz, filial, letters, others[0]!],
      [letters, filialOfLetters, others[1]!, others[2]!],
    ],
  }
}
