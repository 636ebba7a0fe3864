import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import { expect, vi } from 'vitest'
import type { Product } from '../support/product.ts'

/** The newest letter to `recipient` whose subject matches, as soon as it has left; without SMTP_URL letters are files. */
export async function letterTo({ config }: Product, recipient: string, subject: RegExp): Promise<ParsedMail> {
  const folder = join(config.dataDir, 'outbox')
  return vi.waitFor(
    async () => {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort()
      const letters = await Promise.all(names.map(async (name) => simpleParser(await readFile(join(folder, name)))))
      const found = letters.findLast(
        (letter) => subject.test(letter.subject ?? '') && [letter.to].flat().some((to) => to?.text.includes(recipient)),
      )
      if (!found) throw new Error(`no letter ${subject} to ${recipient} among ${letters.map((one) => one.subject)}`)
      return found
    },
    { timeout: 30_000, interval: 200 },
  )
}

/** Path of the link in a letter; the product under test listens on a port that its configuration does not know. */
export function linkIn(letter: ParsedMail, path: RegExp): string {
  const addresses = [...`${letter.html}`.matchAll(/href="([^"]+)"/g)].map(([, address]) => new URL(address!).pathname)
  const found = addresses.find((address) => path.test(address))
  expect(found, addresses.join(' ')).toBeDefined()
  return found!
}
