/** Refusals that a caller can act on, with their HTTP status. */
export const errorCodes = {
  'invalid-input': 400,
  unauthenticated: 401,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorCodes

/** A refusal: `message` is for the person, `cause` for the log. */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: ErrorCode
  readonly errors: string[]

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; errors?: string[] }) {
    super(message, options)
    this.code = code
    this.errors = options?.errors ?? [message]
  }
}
