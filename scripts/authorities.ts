import { X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { pinnedAuthorities } from '@vigia/sefaz/chain'

// Makes packages/sefaz/carried-authorities.ts of the pinned authorities that FILE holds, as lib/env/ca.js of the npm package node-mde 0.14.13
// (MIT) does: node scripts/authorities.ts FILE

const [, , file] = process.argv
if (!file) throw new Error('name the file with the certificates')
const text = (await readFile(file, 'utf8')).replaceAll('\\r\\n', '\n').replaceAll('\\n', '\n')
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
