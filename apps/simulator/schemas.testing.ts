import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type XmlDocument as Document,
  XmlBufferInputProvider,
  XmlDocument,
  XsdValidator,
  xmlRegisterInputProvider,
} from 'libxml2-wasm'

const folder = join(import.meta.dirname, '../../../shared/data/xsd')

/** Whether the official schemas are beside the repository; without them the checks against them are left out, and said so. */
export const hasSchemas = existsSync(folder)

if (!hasSchemas) console.warn('simulator: no official schemas in ../shared/data/xsd, nothing is validated against them')

export type Validate = (xml: string | Uint8Array) => string[]

const registered = new Set<string>()

/**
 * A validator of one schema of a package; it answers the errors. `letters` loosens the patterns of CNPJ and chave, for
 * the packages published before NT 2026.004.
 */
export function schema(packageFolder: string, file: string, letters = false): Validate {
  const base = `mem:///${packageFolder}${letters ? '-letters' : ''}/`
  const read = (name: string) => {
    const source = readFileSync(join(folder, packageFolder, name), 'utf8').replace(/^\ufeff/, '')
    if (!letters) return Buffer.from(source)
    return Buffer.from(
      source
        .replaceAll('value="[0-9]{44}"', 'value="[0-9]{6}[0-9A-Z]{12}[0-9]{26}"')
        .replaceAll('value="[0-9]{14}"', 'value="[0-9A-Z]{12}[0-9]{2}"')
        .replaceAll('value="ID[0-9]{52}"', 'value="ID[0-9]{12}[0-9A-Z]{12}[0-9]{28}"'),
    )
  }
  if (!registered.has(base)) {
    registered.add(base)
    const files = readdirSync(join(folder, packageFolder)).filter((name) => name.endsWith('.xsd'))
    const buffers = Object.fromEntries(files.map((name) => [`${base}${name}`, new Uint8Array(read(name))]))
    xmlRegisterInputProvider(new XmlBufferInputProvider(buffers))
  }
  const source = XmlDocument.fromBuffer(new Uint8Array(read(file)), { url: `${base}${file}` })
  const validator = XsdValidator.fromDoc(source)
  source.dispose()
  return (xml) => {
    let document: Document | undefined
    try {
      document = XmlDocument.fromBuffer(typeof xml === 'string' ? Buffer.from(xml) : xml)
      validator.validate(document)
      return []
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    } finally {
      document?.dispose()
    }
  }
}
