import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipDocument } from '@vigia/sefaz/distribution'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generatedFor } from '../../../../tests/support/authority.ts'
import { findSamples } from '../../../../tests/support/samples.ts'
import { dictionaryFile, newestDictionary, openReceived, type Packed, packXml } from './bytes.ts'

const files: Buffer[] = []
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-bytes-'))
  const company = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' }
  for (const { content } of await generatedFor(directory, 77, company)) files.push(unzipDocument(content))
  const samples = findSamples()
  if (samples)
    for (const file of await readdir(samples, { recursive: true }))
      if (file.endsWith('.xml')) files.push(await readFile(join(samples, file)))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const stored = ({ content, certificate }: Packed) => (certificate ? Buffer.concat([content, certificate]) : content)

test('every document comes back byte for byte, and most take less than half', () => {
  let packedBytes = 0
  let xmlBytes = 0
  for (const xml of files) {
    const packed = packXml(xml)!
    expect(openReceived(stored(packed)).equals(xml)).toBe(true)
    packedBytes += packed.content.length
    xmlBytes += xml.length
  }
  expect(files.length).toBeGreaterThan(100)
  expect(packedBytes).toBeLessThan(xmlBytes / 5)
})

test('whatever was done to a document, it comes back byte for byte or is not packed', () => {
  const element = /<X509Certificate>[^<]*<\/X509Certificate>/
  const edits: ((xml: string, at: number) => string | Buffer)[] = [
    (xml) => xml.replace(element, ''),
    (xml) => xml.replace(element, (found) => found + found),
    (xml) => xml.replace(element, (found) => found.replace('>', '>\n').replace('</', '\n</')),
    (xml) => xml.replace(element, (found) => found.replace(/(.{76})/g, '$1\r\n')),
    (xml) => xml.replace(element, (found) => found.replaceAll('X509Certificate', 'ds:X509Certificate')),
    (xml) => xml.replace(element, '<X509Certificate></X509Certificate>'),
    (xml) => xml.replace(element, `<X509Certificate>${'não é Base64 '.repeat(60)}</X509Certificate>`),
    (xml) => xml.replace(element, `<X509Certificate>${'A'.repeat(90_000)}</X509Certificate>`),
    (xml) => xml.replace(element, (found) => found.replace('=</', '</').replace('A', '=')),
    (xml, at) => xml.slice(0, at),
    (xml, at) => `${xml.slice(0, at)}<X509Certificate>${xml.slice(at)}`,
    (xml, at) => xml.slice(at) + xml.slice(0, at),
    (xml) => xml.replaceAll('><', '>\r\n<'),
    (xml) => `\ufeff${xml}`,
    (xml) => Buffer.from(xml, 'latin1'),
    (xml) => Buffer.from(xml, 'utf16le'),
    (xml, at) => Buffer.concat([Buffer.from(xml.slice(0, at)), Buffer.from([0, 255, 0xd6, 0x1f, 0x8b])]),
  ]
  const edited = fc.tuple(fc.nat(), fc.array(fc.tuple(fc.nat(edits.length - 1), fc.nat()), { maxLength: 3 }))
  fc.assert(
    fc.property(edited, ([which, chosen]) => {
      let xml = files[which % files.length]!
      for (const [edit, at] of chosen) {
        const text = xml.toString()
        xml = Buffer.from(edits[edit]!(text, at % (text.length + 1)))
      }
      const packed = packXml(xml)
      if (packed) expect(openReceived(stored(packed)).equals(xml)).toBe(true)
    }),
    { numRuns: process.env.RUNS === 'full' ? 50_000 : 300 },
  )
})

test('bytes of all kinds come back or are not packed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      const packed = packXml(Buffer.from(bytes))
      if (packed) expect(openReceived(stored(packed)).equals(bytes)).toBe(true)
    }),
    { numRuns: process.env.RUNS === 'full' ? 50_000 : 300 },
  )
})

test('only what is a certificate, and the last one, is taken out: nobody fills a table with what else they write', () => {
  const certificate = files.map((xml) => packXml(xml)!.certificate).find((one) => one !== null)!
  const element = (bytes: Buffer) => `<X509Certificate>${bytes.toString('base64')}</X509Certificate>`
  const taken = (...elements: string[]) => packXml(Buffer.from(`<a>${elements.join('')}</a>`))!.certificate
  const longer = Buffer.concat([certificate, Buffer.alloc(3)])
  expect(taken(element(certificate))).toEqual(certificate)
  expect(taken(element(longer), element(certificate))).toEqual(certificate)
  expect(taken(element(longer))).toBeNull()
  expect(taken(element(Buffer.alloc(2_000, 1)))).toBeNull()
})

test('what was changed, or stands beside another certificate, is told and not shown', () => {
  const [one, other] = files.filter((xml) => packXml(xml)!.certificate).map((xml) => packXml(xml)!)
  const bytes = stored(one!)
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 0x10
    let opened: Buffer | null = null
    try {
      opened = openReceived(changed)
    } catch {}
    // A bit of the head may say nothing, as the offset of a certificate beyond the end does not.
    if (opened) expect(opened.equals(openReceived(bytes))).toBe(true)
  }
  expect(() => openReceived(one!.content)).toThrow()
  const swapped = Buffer.from(other!.certificate!)
  swapped[100]! ^= 1
  expect(() => openReceived(Buffer.concat([other!.content, swapped]))).toThrow()
})

describe('dictionaries', () => {
  // Documents are packed with them: none may ever change or go.
  const hashes = ['c45d07718f41df92ab110549514126762d527259e1eedb7ebc1f3c127297aaa9']

  test('are the files that documents were packed with', async () => {
    expect(hashes).toHaveLength(newestDictionary)
    for (const [index, hash] of hashes.entries()) {
      const file = await readFile(dictionaryFile(index + 1))
      expect(createHash('sha256').update(file).digest('hex')).toBe(hash)
    }
  })

  test('a document that was packed once opens for ever', () => {
    const packed = Buffer.from(
      '1gFbgOmbhQEAAAAAAAAAACi1L/0AAIUDAGODCRlfW/9vZKSX0ozrGZue1K21DiMUSR7EICkNkgcxzEzda63/7349G/wNCBNAhukOHiwWbGl3WI5oHxsjLodoMP/+TxZcPIFtnN1tL+6W0sO4i1fIscWBHwHCrziAfpIAEMDX24gxWeni2BeAizY=',
      'base64',
    )
    expect(openReceived(packed).toString()).toContain('<chNFe>')
    // Packed by an early version, which took anything in Base64 for a certificate.
    const head = Buffer.from('1gHCiwlcvgEAACwBFAAAACi1L/0AAH0AAEA8Yi8+PC9hPgEA//BAIQ==', 'base64')
    const xml = openReceived(Buffer.concat([head, Buffer.alloc(300)])).toString()
    expect(xml).toBe(`<a><X509Certificate>${'A'.repeat(400)}</X509Certificate><b/></a>`)
  })
})
