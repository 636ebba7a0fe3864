// Input and output of `decide`.

export interface Rhythm {
  hourMs: number
  pagePauseMs: number
  marginMs: number
}

export type CaptureState = 'waiting' | 'blocked' | 'failed' | 'stopped'

/** A capture line as a decision finds it. */
export interface LineState {
  lastNsu: bigint
  maxNsu: bigint
  failures: number
  state: CaptureState
  /** No query of it ever got a response. */
  first: boolean
  /** `maxNsu` is of the last day: documents that waited then have not expired since. */
  recent: boolean
  /** Time until the next automatic query; null: not before a person acts. */
  nextInMs: number | null
  /** Before this, not even a person's request may cause a query. */
  allowedInMs: number
}

/** Everything besides question and answer that a decision depends on. */
export interface Situation {
  line: LineState
  rhythm: Rhythm
  /** A response was lost after the last one with the cursor of the authority, which may have counted that query. */
  lossBefore: boolean
  /** The database may be restored from a backup, and no response with a cursor came since. */
  mayBeCopy: boolean
  /** The certificate that was shown; null: nothing is noted of it, because an ended process chose it, or it is of no workspace. */
  certificate: { proved: boolean; doubted: boolean } | null
  /** For how long each other certificate of the line rests; 0 or less: it may be used now. */
  others: readonly number[]
  /** The turn may go on with another certificate, or with another question. */
  mayTryOther: boolean
  mayAskMore: boolean
  /** This process closed the connection itself, because it ends: that says nothing about service and certificate. */
  isEnding: boolean
  /** Positions of the documents that came, and those of them that came damaged. */
  arrived: readonly bigint[]
  damaged: readonly bigint[]
  /** How often the position of the question was fetched before; null: nothing is missing there. */
  fetchedBefore: number | null
}

/** NSUs from one to another, both included. */
export interface NsuRange {
  from: bigint
  to: bigint
}

/** Positions to fetch one by one; `passed`: the authority passed over them, and there may be nothing. */
export interface Gap extends NsuRange {
  passed: boolean
  waitMs: number
  /** Why they did not come, for the completeness; null: they came damaged. */
  cause: string | null
}

/** Columns of a line to write; an absent one stays. */
export interface LineChange {
  state?: CaptureState
  message?: string
  failures?: number
  nextInMs?: number | null
  allowedInMs?: number
  lastNsu?: bigint
  maxNsu?: bigint
  succeeded?: boolean
  /** A person's request is fulfilled. */
  fulfilled?: boolean
}

export interface Decision {
  line: LineChange
  /** More documents wait at the authority. */
  more: boolean
  certificate: CertificateChange | null
  /** How the service did; a number: it is down for so many milliseconds. */
  service: 'answered' | 'failed' | number | null
  gaps: Gap[]
  /** How the gap ends at the position that the question was for; null: it stays open. */
  closes: GapClosing | null
  /** How long missing positions and notes wait because of this answer. */
  waitMs: number
  next: 'nextPage' | 'nextCertificate' | 'done'
}

export type GapClosing = 'fetched' | 'expired' | 'damaged'

export type CertificateChange =
  | { kind: 'proved' }
  /** Others go first for `restMs`. `why`: for its owner only. `isSilent`: an unproved one got no response. */
  | { kind: 'refused'; restMs: number; why: string; isSilent: boolean }
  /** No answer came; `isTried`: others go before it; `why`: for the owner of an unproved one. */
  | { kind: 'failed'; isTried: boolean; why: string | null }

/** The decision about the line alone. */
export interface Verdict extends LineChange {
  state: CaptureState
  message: string
  nextInMs: number | null
  allowedInMs: number
  failures: number
  more?: boolean
  gaps?: Gap[]
  /** Only the pauses are written: another certificate is used next, and state and message of the line stay. */
  keepsState?: boolean
}
