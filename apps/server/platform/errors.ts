/** Refusals that a caller can act on, with their HTTP status. */
export const errorCodes = {
  'invalid-input': 400,
  unauthenticated: 401,
  'plan-limit': 402,
  'needs-proof': 403,
  forbidden: 403,
  'not-found': 404,
  'wrong-method': 405,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  'too-many': 429,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorCodes

/** A refusal: `message` is for the person, `cause` for the log. */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: ErrorCode
  readonly errors: string[]
  /** When the same call may succeed, where that is known. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options?: { cause?: unknown; errors?: string[]; retryAfterMs?: number },
  ) {
    super(message, options)
    this.code = code
    this.errors = options?.errors ?? [message]
    this.retryAfterMs = options?.retryAfterMs
  }
}
