import pino from 'pino'

export type Logger = pino.Logger

/** Log lines as JSON. Whoever logs names what it logs: never a token, a password, a key or a whole body. */
export function createLogger(level: string): Logger {
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime })
}
