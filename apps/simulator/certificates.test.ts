import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import forge from 'node-forge'
import { describe, expect, it, vi } from 'vitest'
import { useFolder } from '../../tests/support/folder.ts'
import { issuePfx, openCertificationAuthority } from './certificates.ts'
import { CommandError, readCommand } from './command.ts'
import { certificateTaxpayer } from './holder.ts'

// Every case makes certificates and TLS connections, which a busy machine is slow at.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const now = Date.now()
const directory = await useFolder()
const authority = await openCertificationAuthority(directory, now)

const holder = { cnpj: '12ABC34501DE35', nome: 'EMPRESA AÇÃO LTDA', uf: 'SC', senha: 'ção-123' }

function open(pfx: Uint8Array, password: string) {
  const asn1 = forge.asn1.fromDer(forge.util.createBuffer(Buffer.from(pfx).toString('binary')))
  const file = forge.pkcs12.pkcs12FromAsn1(asn1, password)
  const bags = file.safeContents.flatMap((safe) => safe.safeBags)
  return {
    keys: bags.filter((bag) => bag.key != null).length,
    certificates: bags.flatMap((bag) => (bag.cert == null ? [] : [bag.cert.subject.getField('CN').value])),
  }
}

describe('the certification authority', () => {
  it('is created once and shared by everything that uses the folder', async () => {
    const [again, another] = await Promise.all([
      openCertificationAuthority(directory, now),
      openCertificationAuthority(directory, now),
    ])
    expect(again.root).toBe(authority.root)
    const { certificate } = await another.issue(holder, now)
    expect(authority.check(certificate, now)).toBe('ok')
  })

  it('is created once when two start together', async () => {
    const fresh = join(directory, 'fresh')
    const [one, two] = await Promise.all([
      openCertificationAuthority(fresh, now),
      openCertificationAuthority(fresh, now),
    ])
    expect(one.root).toBe(two.root)
  })

  it('puts the ICP-Brasil fields into the certificates', async () => {
    const { certificate } = await authority.issue(holder, now)
    expect(certificateTaxpayer(certificate)).toEqual({ cnpj: '12ABC34501DE35' })
    expect(certificate.subject).toContain('CN=EMPRESA AÇÃO LTDA:12ABC34501DE35')
    expect(certificate.subject).toContain('O=ICP-Brasil')
    for (const id of [2, 3, 4, 7]) {
      expect(certificate.raw.includes(Buffer.from([0x06, 0x05, 0x60, 0x4c, 0x01, 0x03, id])), `3.${id}`).toBe(true)
    }
    const person = await authority.issue({ cpf: '52998224725', nome: 'FULANO' }, now)
    expect(certificateTaxpayer(person.certificate)).toEqual({ cpf: '52998224725' })
  })

  it('chains to its root', async () => {
    const { certificate } = await authority.issue(holder, now)
    const [middle, top] = [new X509Certificate(authority.intermediate), new X509Certificate(authority.root)]
    expect(certificate.verify(middle.publicKey) && middle.verify(top.publicKey) && top.verify(top.publicKey)).toBe(true)
    expect([certificate.ca, middle.ca, top.ca]).toEqual([false, true, true])
  })

  it('makes certificates that have expired', async () => {
    const { certificate } = await authority.issue({ ...holder, expires: Date.parse('2026-01-31T12:00:00Z') }, now)
    expect(authority.check(certificate, now)).toBe('expired')
    expect(authority.check(certificate, Date.parse('2026-01-30T12:00:00Z'))).toBe('ok')
  })
})

describe('the PFX', () => {
  it('is AES-256 by default, with key and chain', async () => {
    const pfx = await issuePfx(authority, { ...holder, senha: 'segredo' }, now)
    expect(() => createSecureContext({ pfx: Buffer.from(pfx), passphrase: 'segredo' })).not.toThrow()
    expect(() => createSecureContext({ pfx: Buffer.from(pfx), passphrase: 'outra' })).toThrow(/mac verify failure/)
    expect(open(pfx, 'segredo')).toMatchObject({ keys: 1, certificates: { length: 3 } })
  })

  it('takes passwords with accents, as UTF-8', async () => {
    const pfx = await issuePfx(authority, holder, now)
    expect(() => createSecureContext({ pfx: Buffer.from(pfx), passphrase: holder.senha })).not.toThrow()
  })

  it('can be RC2-40 and 3DES, which OpenSSL 3 refuses and node-forge reads', async () => {
    const pfx = await issuePfx(authority, { ...holder, legacy: true }, now)
    expect(() => createSecureContext({ pfx: Buffer.from(pfx), passphrase: holder.senha })).toThrow(/[Uu]nsupported/)
    expect(open(pfx, holder.senha)).toMatchObject({
      keys: 1,
      certificates: expect.arrayContaining(['AC SIMULADOR VIGIA RFB v5']),
    })
    expect(() => open(pfx, 'outra')).toThrow(/MAC could not be verified/)
  })

  it('holds the key of its certificate', async () => {
    const { key, certificate } = await authority.issue(holder, now)
    expect(certificate.checkPrivateKey(createPrivateKey(key.export({ format: 'pem', type: 'pkcs8' })))).toBe(true)
  })
})

describe('the command line', () => {
  const read = (...args: string[]) => readCommand(args, { DATA_DIR: '/d' }, '/w')

  it('makes a certificate that a running server accepts', () => {
    const out = join(directory, 'empresa.pfx')
    const args = ['certificate', '--cnpj', '12ABC34501DE35', '--nome', 'EMPRESA EXEMPLO LTDA', '--senha', 'segredo']
    execFileSync(process.execPath, [
      join(import.meta.dirname, 'main.ts'),
      ...args,
      '--out',
      out,
      '--directory',
      directory,
    ])
    const file = readFileSync(out)
    expect(open(file, 'segredo').certificates).toContain('EMPRESA EXEMPLO LTDA:12ABC34501DE35')
  })

  it('reads its options', () => {
    expect(
      read('--port', '0', '--company', '12ABC34501DE35:EMPRESA A:sc', '--hour-ms', '60000', '--xml-delay-ms', '5'),
    ).toMatchObject({
      options: {
        port: 0,
        hourMs: 60_000,
        responseMs: 0,
        xmlDelayMs: 5,
        companies: [{ cnpj: '12ABC34501DE35', nome: 'EMPRESA A', uf: 'SC' }],
      },
    })
    const certificate = ['certificate', '--nome', 'X', '--senha', 's', '--out', 'o.pfx']
    expect(read(...certificate, '--cpf', '529.982.247-25', '--legacy', '--expires', '2026-01-31')).toMatchObject({
      directory: '/d/simulator',
      holder: { cpf: '52998224725', legacy: true, expires: Date.parse('2026-01-31T23:59:59-03:00') },
    })
  })

  it('reads the certificates it is told to trust', () => {
    const root = join(directory, 'ca', 'root.pem')
    expect(read('--trust', root)).toMatchObject({ options: { trust: [readFileSync(root, 'utf8')] } })
    expect(() => read('--trust', 'nowhere.pem')).toThrow('--trust: não foi possível ler /w/nowhere.pem')
  })

  it('without options is what the worker of the product expects', () => {
    const worker = { port: 3443, directory: '/w/data/simulator', archive: undefined, hourMs: 60_000, tpAmb: 1 }
    expect(readCommand([], {}, '/w')).toMatchObject({ name: 'serve', options: worker })
    expect(readCommand([], { SIMULATOR_PORT: '', DATA_DIR: '', SIMULATOR_ARCHIVE: '' }, '/w')).toMatchObject({
      options: worker,
    })
    const env = {
      SIMULATOR_PORT: '4443',
      DATA_DIR: './d',
      SIMULATOR_ARCHIVE: 'xml',
      SIMULATOR_ARCHIVE_ANSWERED: 'true',
    }
    expect(readCommand(['serve'], env, '/w')).toMatchObject({
      options: { port: 4443, directory: '/w/d/simulator', archive: '/w/xml', archiveAnswered: true },
    })
    expect(() => readCommand([], { SIMULATOR_PORT: 'x' }, '/w')).toThrow('SIMULATOR_PORT espera um número')
  })

  it.each([
    ['an unknown command', ['dance']],
    ['an unknown option', ['--dance']],
    ['a port that is no number', ['--port', 'x']],
    ['a date that is none', ['--since', 'ontem']],
    ['a company without state', ['--company', '12ABC34501DE35:X']],
    ['a CNPJ that is wrong', ['certificate', '--cnpj', '12ABC34501DE36', '--nome', 'X', '--senha', 's', '--out', 'o']],
    ['a certificate without password', ['certificate', '--cnpj', '12ABC34501DE35', '--nome', 'X', '--out', 'o']],
    [
      'both CNPJ and CPF',
      ['certificate', '--cnpj', '12ABC34501DE35', '--cpf', '52998224725', '--nome', 'X', '--senha', 's', '--out', 'o'],
    ],
  ])('refuses %s', (_, args) => {
    expect(() => read(...args)).toThrow(CommandError)
  })
})
