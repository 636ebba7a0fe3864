/** A document that the authority holds for a CNPJ. */
export interface AuthorityRow {
  service: 'nfe' | 'cte'
  nsu: string
  schema: string
  kind: 'document' | 'summary' | 'event' | 'event-summary' | 'raw'
  chave?: string
  tpEvento?: number
  nSeqEvento?: number
  at: string
  sha256: string
}

/** A call as the authority noted it. */
export interface AuthorityCall {
  /** Counts from 1 in each run of the simulator. */
  id: number
  at: string
  service: 'nfe' | 'cte'
  of: 'distribution' | 'events'
  taxId?: string
  query?: { ultNSU: number } | { nsu: number } | { chNFe: string }
  cStat?: number
  ultNSU?: number
  maxNSU?: number
  events?: number
  fault?: string
  status?: number
  /** It changed what the authority knows of the caller. */
  counted: boolean
  /** The response did not arrive. */
  lost: boolean
  /** A 656 that followed a response which did not arrive. */
  excused?: boolean
}

/** An event that was sent to the authority; with `nProt` it is registered. */
export interface AuthorityEvent {
  service: 'nfe' | 'cte'
  chave: string
  tpEvento: number
  nSeqEvento: number
  author: string
  cStat: number
  nProt?: string
  at: string
  sendings: { at: string; cStat: number; lost: boolean }[]
}

interface FaultOrder {
  fault: string
  probability?: number
  durationMs?: number
  delayMs?: number
}

/** The control interface of the simulator. */
export interface Remote {
  truth(cnpj: string): Promise<AuthorityRow[]>
  calls(): Promise<AuthorityCall[]>
  /** Tells that the product did not keep the responses to these calls. */
  loseResponses(calls: readonly AuthorityCall[]): Promise<void>
  events(): Promise<AuthorityEvent[]>
  /** The highest NSU of each sequence, by service and CNPJ. */
  sequences(): Promise<Map<string, number>>
  /** A document or event of somebody else arrives at the authority. */
  receive(xml: string): Promise<void>
  addFault(order: FaultOrder): Promise<void>
  faultNames(): Promise<string[]>
  clearFaults(): Promise<void>
}

/** Talks to the simulator on `port`; `before` are calls that it no longer remembers. */
export function createAuthority(port: number, before: readonly AuthorityCall[]): Remote {
  const ask = async <T>(method: string, path: string, body?: object | string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/_control/${path}`, {
      method,
      // Another one may stand in its place at the next call.
      headers: {
        connection: 'close',
        'content-type': typeof body === 'string' ? 'application/xml' : 'application/json',
      },
      body: typeof body === 'string' ? body : body && JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (await response.json()) as T
  }
  return {
    truth: async (cnpj) => (await ask<{ documents: AuthorityRow[] }>('GET', `truth?cnpj=${cnpj}`)).documents,
    calls: async () => {
      const lists = await Promise.all(
        ['distribution', 'events'].map((of) => ask<{ calls: AuthorityCall[] }>('GET', `calls?of=${of}`)),
      )
      return [...before, ...lists.flatMap(({ calls }) => calls)]
    },
    loseResponses: async (calls) => void (await ask('POST', 'lost', { ids: calls.map(({ id }) => id) })),
    events: async () => (await ask<{ events: AuthorityEvent[] }>('GET', 'events')).events,
    sequences: async () => {
      const { sequences } = await ask<{ sequences: { service: string; cnpj: string; maxNSU: number }[] }>(
        'GET',
        'state',
      )
      return new Map(sequences.map(({ service, cnpj, maxNSU }) => [`${service} ${cnpj}`, maxNSU]))
    },
    receive: async (xml) => {
      const reception = await ask<{ outcome: string; reason?: string }>('POST', 'documents?activate=false', xml)
      if (reception.outcome === 'refused') throw new Error(`the authority refused a document: ${reception.reason}`)
    },
    addFault: async (order) => void (await ask('POST', 'faults', order)),
    faultNames: async () => (await ask<{ available: string[] }>('GET', 'faults')).available,
    clearFaults: async () => void (await ask('DELETE', 'faults')),
  }
}
