import pino from 'pino'
import { describeError, scrub } from './scrub.ts'

export type Logger = pino.Logger

/**
 * Logs JSON lines. Callers choose fields: never a token, a password, a key or a whole body. A
 * filter removes secrets from the finished line, too.
 */
export function createLogger(level: string, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    hooks: {
      // Without a message pino takes that of the error, which our serializer does not see.
      logMethod(given, method) {
        method.apply(this, given.length === 1 && typeof given[0] === 'object' ? [given[0], 'failed'] : given)
      },
      streamWrite: (line) => `${JSON.stringify(scrub(JSON.parse(line)))}\n`,
    },
  }
  return destination ? pino(options, destination) : pino(options)
}
