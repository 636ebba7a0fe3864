import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm'
import { SignedXml } from 'xml-crypto'
import { findSamples } from './samples.ts'

// Judges that share no code with ours: libxml2 for the official schemas, xml-crypto for signatures.

const folder = findSamples('xsd')

/** Whether the official schemas are beside the repository. */
export const hasSchemas = folder !== null

type Validate = (xml: string | Uint8Array) => string[]

const registered = new Set<string>()
const validators = new Map<string, Validate>()

/**
 * A validator of one schema of an official package; it answers the errors. `letters` loosens the patterns of CNPJ and
 * chave, for the packages published before NT 2026.004.
 */
export function schema(packageFolder: string, file: string, letters = false): Validate {
  const base = `mem:///${packageFolder}${letters ? '-letters' : ''}/`
  const known = validators.get(base + file)
  if (known !== undefined) return known
  const files = join(folder ?? '', packageFolder)
  const read = (name: string) => readSchema(join(files, name), letters)
  if (!registered.has(base)) {
    registered.add(base)
    const names = readdirSync(files).filter((name) => name.endsWith('.xsd'))
    const buffers = Object.fromEntries(names.map((name) => [base + name, read(name)]))
    xmlRegisterInputProvider(new XmlBufferInputProvider(buffers))
  }
  using source = XmlDocument.fromBuffer(read(file), { url: base + file })
  const validator = XsdValidator.fromDoc(source)
  const validate: Validate = (xml) => {
    try {
      using document = XmlDocument.fromBuffer(typeof xml === 'string' ? Buffer.from(xml) : xml)
      validator.validate(document)
      return []
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    }
  }
  validators.set(base + file, validate)
  return validate
}

function readSchema(path: string, letters: boolean): Uint8Array {
  const source = readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  if (!letters) return new TextEncoder().encode(source)
  return new TextEncoder().encode(
    source
      .replaceAll('value="[0-9]{44}"', 'value="[0-9]{6}[0-9A-Z]{12}[0-9]{26}"')
      .replaceAll('value="[0-9]{14}"', 'value="[0-9A-Z]{12}[0-9]{2}"')
      .replaceAll('value="ID[0-9]{52}"', 'value="ID[0-9]{12}[0-9A-Z]{12}[0-9]{28}"'),
  )
}

/** Whether xml-crypto accepts the first signature of the document, made with the certificate that the signature carries. */
export function verifyWithXmlCrypto(xml: string): boolean {
  const signature = /<(ds:)?Signature[ >][\s\S]*?<\/\1Signature>/.exec(xml)?.[0] ?? ''
  const base64 = /X509Certificate>([^<]*)/.exec(signature)?.[1]?.replace(/\s/g, '')
  const verifier = new SignedXml({ publicCert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----` })
  verifier.loadSignature(signature)
  try {
    return verifier.checkSignature(xml)
  } catch {
    return false
  }
}
