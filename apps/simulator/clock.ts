/** The authority's clock: real time plus an offset that the control interface moves. */
export interface Clock {
  now(): number
  offsetMs(): number
  advance(ms: number): void
  setNow(at: number): void
}

export function createClock(initialOffsetMs = 0): Clock {
  let offsetMs = initialOffsetMs
  return {
    now: () => Date.now() + offsetMs,
    offsetMs: () => offsetMs,
    advance: (ms) => {
      offsetMs += ms
    },
    setNow: (at) => {
      offsetMs = at - Date.now()
    },
  }
}

// Brazil has had no daylight saving time since 2019; the Ambiente Nacional answers in the time of Brasília.
const brasiliaOffsetMs = -3 * 3_600_000

/** `AAAA-MM-DDThh:mm:ss` in the time of Brasília, without offset (as `dhResp` of the CT-e distribution). */
export function localDateTime(at: number): string {
  return new Date(at + brasiliaOffsetMs).toISOString().slice(0, 19)
}

/** `AAAA-MM-DDThh:mm:ss-03:00`. */
export function dateTimeWithOffset(at: number): string {
  return `${localDateTime(at)}-03:00`
}

/** The instant of a date written by an issuer; without offset it is taken as Brasília. */
export function parseInstant(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const hasTime = text.includes('T')
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) && hasTime
  const at = Date.parse(hasZone ? text : `${hasTime ? text : `${text}T00:00:00`}-03:00`)
  return Number.isNaN(at) ? undefined : at
}

/** Midnight in Brasília of the first day of the month that contains `at`. */
export function monthStart(at: number): number {
  return Date.parse(`${localDateTime(at).slice(0, 7)}-01T00:00:00-03:00`)
}
