import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
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
export async function openMailServer(options: SMTPServerOptions = {}, port = 0): Promise<TestMailServer> {
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
  server.listen(port, '127.0.0.1')
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

/** A self-signed certificate for `localhost`. */
export function selfSigned(): { key: string; cert: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))))
  const time = (offsetMs: number) =>
    der(0x18, Buffer.from(`${new Date(Date.now() + offsetMs).toISOString().replace(/[-:T]|\.\d+/g, '')}`))
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = [
    sequence(oid('551d13'), der(0x01, Buffer.from([0xff])), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
    sequence(oid('551d11'), der(0x04, names)),
  ]
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(-86_400_000), time(86_400_000)),
    name,
    createPublicKey(privateKey).export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])
  const certificate = sequence(body, algorithm, der(0x03, signature))
    .toString('base64')
    .match(/.{1,64}/g)!
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
