import { hash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger } from './log.ts'

/** The lines that `write` leaves behind. */
function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = []
  write(createLogger('debug', { write: (line) => lines.push(line) }))
  for (const line of lines) {
    expect(line.endsWith('\n')).toBe(true)
    expect(JSON.parse(line)).toBeTypeOf('object')
  }
  return lines.join('')
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
const mask = (cpf: string) => cpf.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4')
const token = fc.constant(null).map(() => randomBytes(32).toString('base64url'))
const before = fc.constantFrom('', ' ', 'CPF:', '"', '(', '\n', '\t', '>', 'chave=', '/')
const after = fc.constantFrom('', ' ', '.', ',', '"', ')', '\n', '<', '&x=1')

describe('never in a line', () => {
  test('a CPF, bare or masked, as text or number, wherever it stands', () => {
    fc.assert(
      fc.property(digits(11), before, after, (cpf, head, tail) => {
        const text = logged((log) => {
          log.info({ deep: [{ text: `${head}${cpf}${tail}`, masked: head + mask(cpf) + tail }] }, head + cpf + tail)
          log.error({ err: new Error(`no ${mask(cpf)}${tail}`, { cause: new Error(`${head}${cpf}`) }), [cpf]: 1 })
          log.warn({ number: Number(`1${cpf.slice(1)}`) })
        })
        expect(text).not.toContain(cpf)
        expect(text).not.toContain(mask(cpf))
        expect(text).not.toContain(`1${cpf.slice(1)}`)
      }),
    )
  })

  test('an API key', () => {
    const key = `vigia_${randomBytes(32).toString('hex')}`
    expect(logged((log) => log.info({ url: `/x?chave=${key}` }, key))).not.toContain(key.slice(0, 14))
  })

  test('a token, in a header, an address or alone', () => {
    fc.assert(
      fc.property(token, (secret) => {
        const text = logged((log) => {
          log.info({ headers: { authorization: `Bearer ${secret}`, cookie: secret } }, `Bearer ${secret}`)
          log.info({ url: `https://x.example/atualizar-senha/${secret}?a=1` }, secret)
          log.info(`GET /v1/api/RecuperarSenha/${secret.slice(0, 20)}`)
          log.error({ err: new Error(`got ${secret}`) })
          log.error({ token: secret.slice(0, 9), sessionToken: 1 })
        })
        expect(text).not.toContain(secret.slice(0, 9))
      }),
    )
  })

  test.each([
    ['a key', '-----BEGIN PRIVATE KEY-----\nMIIsegredo\n-----END PRIVATE KEY-----'],
    ['a key that is cut off', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIsegredo'],
    ['the password of an address', 'postgres://vigia:segredo@db.example:5432/vigia'],
    ['the name and password of a mail server', 'smtps://ana%40x.example:segredo@smtp.example'],
    ['basic credentials', 'Basic c2VncmVkbzpzZWdyZWRv segredo'.replace(' segredo', '')],
  ])('%s', (_, text) => {
    const line = logged((log) => {
      log.info({ text }, text)
      log.error({ err: new Error(text) })
    })
    expect(line).not.toMatch(/segredo|c2VncmVkbz/)
  })

  test('what is before the @ of an e-mail; the domain helps whoever looks after the mail', () => {
    const line = logged((log) =>
      log.warn('550 5.1.1 <ana.souza+x@empresa.example>: unknown, said "josé@outra.example"'),
    )
    expect(line).not.toMatch(/souza|jos/)
    expect(line).toContain('***@empresa.example')
  })

  test('fields that are secrets by their name', () => {
    const names = ['senha', 'senhaNovamente', 'password', 'Certificado', 'passphrase', 'pfx', 'client_secret']
    const line = logged((log) => log.info(Object.fromEntries(names.map((name) => [name, 'escondido']))))
    expect(line).not.toContain('escondido')
  })

  test('a body that went astray, beyond its beginning', () => {
    const line = logged((log) => log.info('x '.repeat(100_000)))
    expect(line.length).toBeLessThan(9_000)
  })
})

describe('of an error', () => {
  test('values that PostgreSQL repeats are left out, names of tables are not', () => {
    const error = Object.assign(new Error('invalid input syntax for type integer: "segredo"'), {
      code: '22P02',
      severity: 'ERROR',
      detail: 'Key (email)=(segredo) already exists.',
      where: "unnamed portal parameter $1 = 'segredo'",
      hint: 'segredo',
      internalQuery: 'segredo',
      parameters: ['segredo'],
      table: 'account',
      constraint: 'account_email_key',
      routine: 'pg_strtoint32_safe',
    })
    const line = logged((log) => log.error({ err: error }))
    expect(line).not.toContain('segredo')
    expect(JSON.parse(line).err).toMatchObject({
      message: 'invalid input syntax for type integer: "…"',
      code: '22P02',
      table: 'account',
      constraint: 'account_email_key',
    })
  })

  test('bodies, requests, answers and commands that libraries hang on it are left out', () => {
    const error = Object.assign(new TypeError('no'), {
      input: 'segredo',
      body: 'segredo',
      part: { value: 'segredo' },
      response: '535 segredo',
      rejected: ['segredo'],
      config: { auth: 'segredo' },
      responseCode: 535,
    })
    const line = logged((log) => log.error({ err: new Error('outer', { cause: new AggregateError([error], 'both') }) }))
    expect(line).not.toContain('segredo')
    expect(JSON.parse(line).err.cause.errors[0]).toMatchObject({ type: 'TypeError', message: 'no', responseCode: 535 })
  })

  test('the text that is no JSON', () => {
    let error: unknown
    try {
      JSON.parse('{"senha": segredo')
    } catch (caught) {
      error = caught
    }
    expect(String(error)).toContain('segredo')
    const line = logged((log) => {
      log.error({ err: error })
      log.error(error)
    })
    expect(line).not.toContain('segredo')
  })

  test('its place is kept', () => {
    const line = JSON.parse(logged((log) => log.error({ err: new Error('a\nb') })))
    expect(line.err.stack[0]).toContain('scrub.test.ts')
    expect(line.err).toMatchObject({ type: 'Error', message: 'a\nb' })
  })

  test('whatever is thrown can be written', () => {
    const loop = new Error('loop')
    loop.cause = loop
    for (const thrown of [null, undefined, 1, 'text', {}, [], loop, 1n, Symbol('x'), () => {}])
      expect(logged((log) => log.error({ err: thrown }, 'thrown'))).toContain('thrown')
  })
})

describe('always readable', () => {
  const chave = '35260744555666000181550010000012341000012349'
  test.each([
    ['a CNPJ', '44555666000181'],
    ['a masked CNPJ', '44.555.666/0001-81'],
    ['a CNPJ with letters', '12ABC34501DE35'],
    ['a CNPJ that ends in many digits', 'AAA12345678901'],
    ['a chave', chave],
    ['a chave in groups', chave.replace(/(.{4})/g, '$1 ').trim()],
    ['an NSU', '000000012345678'],
    ['a protocol', '135260000123456'],
    ['the number of a request', 'b9a7b4a0-3c62-4b53-9b0e-12345678901a'],
    ['the id of a document', 'AbCdEfGhIjKlMnOpQrStUv'],
    ['an address of the network', '192.168.100.12'],
    ['an instant', '2026-07-30T12:34:56.789Z'],
    ['a digest', hash('sha256', 'x')],
    ['the name of a package', 'file:///app/node_modules/@vigia/contract/route.ts:12:34'],
  ])('%s', (_, text) => {
    const line = logged((log) => log.info({ text, inside: `about ${text}, which` }, text))
    expect(JSON.parse(line)).toMatchObject({ text, inside: `about ${text}, which`, msg: text })
  })
})
