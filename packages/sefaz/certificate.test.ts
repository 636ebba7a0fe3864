import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { CertificateError, type CertificateProblem, readCertificate } from './certificate.ts'
import { cnpjName, type IssueOptions, issue, makePfx, newKey, type TestCertificateFiles } from './testing.ts'

const cnpj = '12ABC34501DE35'
const password = 'coração-€-1234'
const root = issue({ commonName: 'AC Raiz de Teste', authority: true })
const intermediate = issue({ commonName: 'AC Intermediária de Teste', authority: true, issuer: root })
const key = newKey()
const company = issueTo({})

function issueTo(options: Partial<IssueOptions>): TestCertificateFiles {
  return issue({
    commonName: `EMPRESA ÁGUA & LUZ LTDA:${cnpj}`,
    state: 'SC',
    otherNames: [{ oid: '2.16.76.1.3.4', text: '0101198012345678909' }, cnpjName(cnpj)],
    issuer: intermediate,
    key,
    ...options,
  })
}

function read(issued: TestCertificateFiles, options: { now?: Date } = {}) {
  return readCertificate(makePfx({ certificates: [issued], key: issued.key, password }), password, options)
}

async function problemOf(reading: Promise<unknown>): Promise<CertificateProblem> {
  const error = await reading.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof CertificateError)) throw error ?? new Error('the certificate was accepted')
  // Every message tells that nothing was stored or changed, and what to do.
  expect(error.message).toMatch(/Nada foi guardado nem alterado\. \S.+\.$/)
  expect(error.message).not.toMatch(/\{|undefined|inválid/)
  return error.problem
}

describe('a certificate file', () => {
  test.each(['aes256', '3des', 'rc2'] as const)(
    'encrypted with %s is read, accents in the password included',
    async (encryption) => {
      const pfx = makePfx({ certificates: [company, intermediate, root], key, password, encryption })
      const certificate = await readCertificate(pfx, password)
      expect(certificate).toEqual({
        cnpj,
        name: 'EMPRESA ÁGUA & LUZ LTDA',
        uf: 'SC',
        issuer: 'AC Intermediária de Teste',
        serialNumber: company.x509.serialNumber,
        validFrom: company.x509.validFromDate,
        validTo: company.x509.validToDate,
        key,
        certificate: company.certificate,
        chain: [intermediate.certificate, root.certificate],
      })
    },
  )

  test('may hold its bags in any order and certificates of strangers', async () => {
    const stranger = issue({ commonName: 'Outra AC', authority: true })
    const certificates = [root, stranger, company, intermediate]
    const { certificate, chain } = await readCertificate(
      makePfx({ certificates, key, password, keyFirst: true }),
      password,
    )
    expect(certificate).toBe(company.certificate)
    expect(chain).toEqual([intermediate.certificate, root.certificate, stranger.certificate])
  })

  test('may hold the expired certificate of the same key', async () => {
    const past = issueTo({ from: new Date('2020-01-01'), to: new Date('2021-01-01') })
    const { certificate } = await readCertificate(makePfx({ certificates: [past, company], key, password }), password)
    expect(certificate).toBe(company.certificate)
  })

  test('may hold an elliptic key', async () => {
    const elliptic = issueTo({ key: newKey('ec') })
    const certificate = await read(elliptic)
    expect(createPrivateKey(certificate.key).asymmetricKeyType).toBe('ec')
    expect(new X509Certificate(certificate.certificate).checkPrivateKey(createPrivateKey(elliptic.key))).toBe(true)
  })

  test('may be followed by stray bytes', async () => {
    const pfx = Buffer.concat([makePfx({ certificates: [company], key, password }), Buffer.from('\r\n')])
    expect((await readCertificate(pfx, password)).cnpj).toBe(cnpj)
  })

  test('opens with a decomposed password when it was made with the composed one', async () => {
    const pfx = makePfx({ certificates: [company], key, password: 'coração'.normalize('NFC') })
    expect((await readCertificate(pfx, 'coração'.normalize('NFD'))).cnpj).toBe(cnpj)
  })

  test('opens with an empty password', async () => {
    const pfx = makePfx({ certificates: [company], key, password: '' })
    expect((await readCertificate(pfx, '')).cnpj).toBe(cnpj)
  })

  test('with 100,000 iterations is read', async () => {
    const pfx = makePfx({ certificates: [company], key, password, iterations: 100_000 })
    expect((await readCertificate(pfx, password)).cnpj).toBe(cnpj)
  })
})

test('a thread opens one file after another, and none with the password of another', async () => {
  const files = ['uma', 'outra'].map((password) => ({
    password,
    pfx: makePfx({ certificates: [company], key, password }),
  }))
  for (let round = 0; round < 3; round++)
    for (const { pfx, password } of files) {
      expect((await readCertificate(pfx, password)).cnpj).toBe(cnpj)
      expect(await problemOf(readCertificate(pfx, ''))).toBe('wrong-password')
      expect(await problemOf(readCertificate(pfx, password === 'uma' ? 'outra' : 'uma'))).toBe('wrong-password')
    }
})

test('a thread that waits for the next file does not keep the program alive, and answers when there is one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigia-certificate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const pfx = makePfx({ certificates: [company], key, password }).toString('base64')
  const program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `
    const { readCertificate } = await import(${JSON.stringify(new URL('./certificate.ts', import.meta.url).href)})
    for (let file = 0; file < 3; file++)
      console.log((await readCertificate(Buffer.from('${pfx}', 'base64'), '${password}')).cnpj)`,
  )
  const { stdout, status } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 60_000 })
  expect({ stdout, status }).toEqual({ stdout: `${cnpj}\n`.repeat(3), status: 0 })
})

describe('the CNPJ', () => {
  test.each(['octets', 'utf8', 'printable', 'ia5'] as const)('is taken from an otherName of type %s', async (type) => {
    const issued = issueTo({ commonName: 'SEM NUMERO LTDA', otherNames: [cnpjName('44555666000181', type)] })
    expect(await read(issued)).toMatchObject({ cnpj: '44555666000181', name: 'SEM NUMERO LTDA' })
  })

  test('of the subjectAltName wins over the common name', async () => {
    const issued = issueTo({ commonName: 'EMPRESA LTDA:11222333000181', otherNames: [cnpjName('44555666000181')] })
    expect(await read(issued)).toMatchObject({ cnpj: '44555666000181', name: 'EMPRESA LTDA' })
  })

  test('and the name beside it keep no signs of direction', async () => {
    const issued = issueTo({ commonName: '\u202EEMPRESA\u202C ÁGUA LTDA:11222333000181', otherNames: [] })
    expect(await read(issued)).toMatchObject({ cnpj: '11222333000181', name: 'EMPRESA ÁGUA LTDA' })
  })

  test.each([
    ['nothing', []],
    ['zeros', [cnpjName('00000000000000')]],
    ['wrong check digits', [cnpjName('12ABC34501DE36')]],
  ])('comes from the common name when the subjectAltName holds %s', async (_, otherNames) => {
    expect((await read(issueTo({ otherNames }))).cnpj).toBe(cnpj)
  })

  test('with wrong check digits is not taken from anywhere', async () => {
    const issued = issueTo({ commonName: 'EMPRESA LTDA:12ABC34501DE36', otherNames: [cnpjName('12ABC34501DE36')] })
    expect(await problemOf(read(issued))).toBe('no-cnpj')
  })

  test('is read beside host names', async () => {
    expect((await read(issueTo({ hosts: ['exemplo.com.br'] }))).cnpj).toBe(cnpj)
  })
})

test('a state that is none of the 27 is left out', async () => {
  expect((await read(issueTo({ state: 'XX' }))).uf).toBeUndefined()
  expect((await read(issueTo({ state: undefined }))).uf).toBeUndefined()
})

describe('of several holders in one file', () => {
  const day = 86_400_000
  const from = new Date(Date.now() - 400 * day)
  const until = (days: number) => new Date(Date.now() + days * day)
  const ofCompany = (number: string, to: Date) =>
    issue({ commonName: `OUTRA LTDA:${number}`, otherNames: [cnpjName(number)], issuer: intermediate, from, to })
  const person = issue({ commonName: 'FULANO DE TAL:12345678909', issuer: intermediate, to: until(1_000) })
  const other = ofCompany('11222333000181', until(300))
  const readAll = (issued: TestCertificateFiles[], wanted?: string) =>
    readCertificate(
      makePfx({
        certificates: [...issued, intermediate],
        key: issued.map((one) => one.key),
        password,
      }),
      password,
      { cnpj: wanted },
    )

  test('a company goes before a person that lasts longer, whose certificate is no part of its chain', async () => {
    const found = await readAll([person, company])
    expect(found).toMatchObject({ cnpj, certificate: company.certificate, chain: [intermediate.certificate] })
  })

  test('the base of the company at hand goes before others; without one it is asked which', async () => {
    expect((await readAll([company, other], '12ABC345000269')).cnpj).toBe(cnpj)
    expect((await readAll([company, other], '11222333000181')).cnpj).toBe('11222333000181')
    await expect(readAll([company, other])).rejects.toThrow(
      'Este arquivo traz certificados de mais de uma empresa: EMPRESA ÁGUA & LUZ LTDA (12.ABC.345/01DE-35), OUTRA LTDA (11.222.333/0001-81).',
    )
    expect(await problemOf(readAll([company, other]))).toBe('several-companies')
  })

  test('one that is valid now goes before one that is not, then the one that is valid longest', async () => {
    const past = ofCompany(cnpj, until(-1))
    const short = ofCompany(cnpj, until(10))
    const future = issueTo({ key: newKey(), from: until(20), to: until(500) })
    expect((await readAll([past, future, short])).certificate).toBe(short.certificate)
    expect((await readAll([past, short, company])).certificate).toBe(company.certificate)
    expect((await readAll([past, other])).cnpj).toBe('11222333000181')
  })

  const both = new URL('../../../shared/data/cases/17-cert-two-holders/both.p12', import.meta.url)
  test.runIf(existsSync(both))('so it is with the e-CNPJ and the e-CPF of an owner', async () => {
    const found = await readCertificate(readFileSync(both), 'segredo', { now: new Date('2026-12-01') })
    expect(found).toMatchObject({ cnpj: '99500001000162', name: 'EMPRESA FICTICIA LTDA' })
    expect(found.chain.map((pem) => new X509Certificate(pem).subject)).not.toContainEqual(
      expect.stringContaining('MARIA'),
    )
  })
})

test('a thread that tries passwords ends with what asked for it', async () => {
  const pfx = makePfx({ certificates: [company], key, password, macIterations: 100_000 })
  const ending = new AbortController()
  const reading = readCertificate(
    pfx,
    Array.from({ length: 5_000 }, (_, n) => `senha ${n}`),
    { signal: ending.signal },
  )
  ending.abort(new Error('the program ends'))
  await expect(reading).rejects.toThrow('the program ends')
  await expect(readCertificate(pfx, password, { signal: ending.signal })).rejects.toThrow('the program ends')
  expect((await readCertificate(pfx, password)).cnpj).toBe(cnpj)
})

describe('of several passwords', () => {
  const pfx = makePfx({ certificates: [company], key, password })

  test('the first that is right opens the file', async () => {
    const unreadable = makePfx({ certificates: [company], key, password, macIterations: 2_000_000_000 })
    expect((await readCertificate(pfx, ['uma', 'açaí', '', password, 'outra'])).cnpj).toBe(cnpj)
    expect(await problemOf(readCertificate(unreadable, ['uma', password]))).toBe('too-many-rounds')
  })

  test('it is told how many were tried when none was', async () => {
    await expect(readCertificate(pfx, ['uma', 'açaí', ''])).rejects.toMatchObject({
      problem: 'wrong-password',
      tried: 3,
    })
    await expect(readCertificate(pfx, [])).rejects.toMatchObject({ problem: 'wrong-password', tried: 0 })
  })
})

describe('a problem has its own text', () => {
  const good = makePfx({ certificates: [company], key, password })

  test.each(['errada', '', 'coracao-€-1234'])('wrong password %j', async (wrong) => {
    expect(await problemOf(readCertificate(good, wrong))).toBe('wrong-password')
  })

  test.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('isto não é um certificado')],
    ['noise', Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) % 251))],
    ['truncated', good.subarray(0, good.length - 200)],
    ['a header alone', good.subarray(0, 30)],
    ['a sequence of nothing', Buffer.from([0x30, 0x00])],
    ['nested without end', Buffer.concat(Array.from({ length: 16_000 }, () => Buffer.from([0x30, 0x80])))],
  ])('unreadable: %s', async (_, bytes) => {
    expect(await problemOf(readCertificate(bytes, password))).toBe('unreadable')
  })

  test('unreadable: an unknown encryption is not called a wrong password', async () => {
    const claim = { algorithm: '1.2.840.113549.1.12.1.1' } // RC4
    const pfx = makePfx({ certificates: [company], key, password, encryption: '3des', claim })
    expect(await problemOf(readCertificate(pfx, password))).toBe('unreadable')
  })

  test('no-key', async () => {
    const pfx = makePfx({ certificates: [company], password })
    expect(await problemOf(readCertificate(pfx, password))).toBe('no-key')
  })

  test('no-key: the key of another certificate', async () => {
    const pfx = makePfx({ certificates: [company], key: intermediate.key, password })
    expect(await problemOf(readCertificate(pfx, password))).toBe('no-key')
  })

  test.each(['der', 'pem'])('no-key: the certificate alone as %s', async (form) => {
    const bytes = form === 'der' ? company.x509.raw : Buffer.from(company.certificate)
    expect(await problemOf(readCertificate(bytes, password))).toBe('no-key')
  })

  test('expired, with the date', async () => {
    const issued = issueTo({ to: new Date('2026-03-10T15:04:00-03:00'), from: new Date('2025-03-10T15:04:00-03:00') })
    const reading = read(issued, { now: new Date('2026-03-11T00:00:00-03:00') })
    await expect(reading).rejects.toThrow('Este certificado venceu em 10/03/2026 às 15:04.')
    expect(await problemOf(reading)).toBe('expired')
    expect((await read(issued, { now: new Date('2026-03-10T15:03:59-03:00') })).cnpj).toBe(cnpj)
  })

  test('not yet valid, with the date', async () => {
    const issued = issueTo({ from: new Date('2026-03-10T15:04:00-03:00') })
    const reading = read(issued, { now: new Date('2026-03-10T15:03:00-03:00') })
    await expect(reading).rejects.toThrow('Este certificado só começa a valer em 10/03/2026 às 15:04.')
    expect(await problemOf(reading)).toBe('not-yet-valid')
  })

  test.each([
    [
      'the field of the person',
      issueTo({ commonName: 'FULANO', otherNames: [{ oid: '2.16.76.1.3.1', text: '010119801234' }] }),
    ],
    ['a CPF in the common name', issueTo({ commonName: 'FULANO DE TAL:12345678909', otherNames: [] })],
  ])('e-CPF by %s', async (_, issued) => {
    expect(await problemOf(read(issued))).toBe('e-cpf')
  })

  test('no-cnpj', async () => {
    expect(await problemOf(read(issueTo({ commonName: 'exemplo.com.br', otherNames: [] })))).toBe('no-cnpj')
  })

  test('too-large', async () => {
    expect(await problemOf(readCertificate(Buffer.alloc(32 * 1024 + 1), password))).toBe('too-large')
  })

  test.each([
    ['of the MAC', { macIterations: 700_001 }],
    ['of a PBES2 key', { claim: { iterations: 700_001 } }],
    ['of a 3DES key', { claim: { iterations: 2_000_000_000 }, encryption: '3des' as const }],
  ])('too-many-rounds: a hostile iteration count %s is refused before anything is derived', async (_, options) => {
    const pfx = makePfx({ certificates: [company], key, password, ...options })
    expect(await problemOf(readCertificate(pfx, password))).toBe('too-many-rounds')
  })

  test('huge-key: a key that would make every connection cost seconds', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 4_104 })
    const huge = issueTo({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() })
    const pfx = makePfx({ certificates: [huge], key: huge.key, password })
    expect(await problemOf(readCertificate(pfx, password))).toBe('huge-key')
  })

  test('too-slow: what takes more than five seconds is given up', async () => {
    const pfx = makePfx({ certificates: [company], key, password })
    // To load a thread does not count: afterwards one waits for the next file.
    await readCertificate(pfx, password)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      // Its derivation takes far longer than the clock needs here.
      const slow = makePfx({ certificates: [company], key, password, macIterations: 700_000 })
      const reading = problemOf(readCertificate(slow, password))
      await vi.advanceTimersByTimeAsync(5_000)
      expect(await reading).toBe('too-slow')
    } finally {
      vi.useRealTimers()
    }
    // The next file gets another thread.
    expect((await readCertificate(pfx, password)).cnpj).toBe(cnpj)
  })
})

function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

// The command of other makes has other options; without it the files above, made by node-forge, cover the same encryptions.
function hasOpenssl(): boolean {
  const { stdout } = spawnSync('openssl', ['list', '-providers', '-provider', 'legacy'], { encoding: 'utf8' })
  return /legacy/i.test(stdout ?? '')
}

describe.runIf(hasOpenssl())('a file made by the openssl command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigia-certificate-'))
  const at = (name: string) => join(folder, name)

  beforeAll(() => {
    writeFileSync(at('rsa.key'), key)
    writeFileSync(at('rsa.pem'), company.certificate)
    const elliptic = issueTo({ key: newKey('ec') })
    writeFileSync(at('ec.key'), elliptic.key)
    writeFileSync(at('ec.pem'), elliptic.certificate)
    writeFileSync(at('chain.pem'), intermediate.certificate + root.certificate)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function exported(kind: 'rsa' | 'ec', pass: string, options: string[]): Buffer {
    const inputs = ['-inkey', at(`${kind}.key`), '-in', at(`${kind}.pem`), '-certfile', at('chain.pem')]
    openssl('pkcs12', '-export', ...inputs, '-passout', `pass:${pass}`, '-out', at('out.pfx'), ...options)
    return readFileSync(at('out.pfx'))
  }

  test.each([
    ['modern', 'rsa', []],
    ['modern, elliptic key', 'ec', []],
    ['RC2-40 and 3DES', 'rsa', ['-legacy']],
    ['3DES with elliptic key', 'ec', ['-legacy']],
    ['3DES for everything', 'rsa', ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1']],
    ['AES-256 with SHA-1', 'rsa', ['-keypbe', 'AES-256-CBC', '-certpbe', 'AES-256-CBC', '-macalg', 'sha1']],
    ['AES-128 with SHA-512', 'rsa', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'sha512']],
    ['nothing encrypted', 'rsa', ['-keypbe', 'NONE', '-certpbe', 'NONE']],
    ['no MAC', 'rsa', ['-nomac']],
  ] as const)('is read: %s', async (_, kind, options) => {
    for (const pass of [password, '']) {
      const certificate = await readCertificate(exported(kind, pass, [...options]), pass)
      expect(certificate.cnpj).toBe(cnpj)
      expect(certificate.chain).toEqual([intermediate.certificate, root.certificate])
      expect(`${certificate.certificate}`).toBe(readFileSync(at(`${kind}.pem`), 'utf8'))
    }
  })

  test.each([[[]], [['-legacy']], [['-nomac']]])('refuses a wrong password: %j', async (options) => {
    expect(await problemOf(readCertificate(exported('rsa', password, options), 'outra'))).toBe('wrong-password')
  })

  test('without the key is reported', async () => {
    const pfx = exported('rsa', password, ['-nokeys'])
    expect(await problemOf(readCertificate(pfx, password))).toBe('no-key')
  })
})
