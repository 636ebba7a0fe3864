import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A message as a mail server got it. */
interface ReceivedMail {
  from: string
  to: string[]
  /** The user that logged in; null: none. */
  user: string | null
  encrypted: boolean
  raw: string
  mail: ParsedMail
}

export interface TestMailServer {
  port: number
  received: ReceivedMail[]
  /** Called for each message before it is accepted; a thrown error becomes the response. */
  refuse: (received: ReceivedMail) => void | Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A refusal of a mail server. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** A mail server on loopback; in plain and without login, unless `options` say otherwise. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<TestMailServer> {
  const plain: SMTPServerOptions = { authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'] }
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 500,
    ...plain,
    onData: (stream, session, callback) => {
      void (async () => {
        const raw = (await buffer(stream)).toString('latin1')
        const { mailFrom, rcptTo } = session.envelope
        const received: ReceivedMail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          user: session.user || null,
          encrypted: session.secure,
          raw,
          mail: await simpleParser(Buffer.from(raw, 'latin1')),
        }
        await self.refuse(received)
        self.received.push(received)
      })().then(
        () => callback(),
        (error: Error) => callback(error),
      )
    },
    ...options,
  })
  // A client that goes away in the middle is no failure of a test.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const self: TestMailServer = {
    port: address.port,
    received: [],
    refuse: () => {},
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  }
  return self
}
