/** Choices of a workspace for its alerts, and the time of the verdict. */
export interface Settings {
  /** The instant at which the verdict is asked, milliseconds: S44 and S49 wait for time to pass. `Verdict.againAt` says when it matters. */
  asOf: number
  /** L of S07, in cents: the limit from which a purchase needs an approval. */
  approvalLimit: number
  /** Bases that belong together, as somebody declared them. */
  groups: readonly (readonly string[])[]
  /** Rules that are switched off. */
  off: readonly string[]
  /** "É conhecido." */
  known: readonly AllowEntry[]
}

/** Settings of a workspace that decided nothing: a limit of R$ 100.000,00, from which several states want a manifestação. */
export const defaultSettings: Omit<Settings, 'asOf'> = { approvalLimit: 10_000_000, groups: [], off: [], known: [] }

/** A person said that what a rule finds is known: of this issuer, for this company, up to a value (cents), in documents issued until an instant (milliseconds). */
export interface AllowEntry {
  issuerBase: string
  rule: string
  companyBase: string
  ceiling?: number
  until: number
}
