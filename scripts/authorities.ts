import { X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { pinnedAuthorities } from '@vigia/sefaz/chain'

// Writes packages/sefaz/carried-authorities.ts from the pinned authorities that the package node-mde (MIT) carries: node scripts/authorities.ts

const text = (await readFile(new URL(import.meta.resolve('node-mde/lib/env/ca.js')), 'utf8'))
  .replaceAll('\\r\\n', '\n')
  .replaceAll('\\n', '\n')
const found = (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
  .map((pem) => new X509Certificate(pem))
  .filter(({ fingerprint256 }) => pinnedAuthorities.some(({ sha256 }) => sha256 === fingerprint256))
if (found.length === 0) throw new Error('no pinned authority in it')
const list = found.map((authority) => `  \`${authority.toString()}\`,\n`).join('')
await writeFile(
  new URL('../packages/sefaz/carried-authorities.ts', import.meta.url),
  `// Written by scripts/authorities.ts.\n/** The pinned authorities whose certificate comes with the program (PEM). */\nexport const carriedAuthorities: readonly string[] = [\n${list}]\n`,
)
console.log(found.map(({ subject }) => subject).join('\n\n'))
