/** Choices of a workspace for its alerts, and the time of the verdict. */
export interface Settings {
  /** Time of the verdict in milliseconds: S44 and S49 depend on it. See `Verdict.againAt`. */
  asOf: number
  /** L of S07, in cents: the limit from which a purchase needs an approval. */
  approvalLimit: number
  /** Bases of related companies, as declared by a person. */
  groups: readonly (readonly string[])[]
  /** Rules that are switched off. */
  off: readonly string[]
  /** "Ignorar este motivo." */
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
