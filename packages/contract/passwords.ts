import { cnpjBase, parseCnpj } from '@vigia/dfe/cnpj'

/** Passwords of certificate files, as a person wrote them down. */
export interface PasswordList {
  /** The text is one password, for all files. */
  shared: string | null
  /** In line order. A line yields two passwords when its password may end at the next separator. */
  named: { cnpj: string; passwords: string[] }[]
  /** Numbers of unreadable lines, from 1. */
  unread: number[]
}

/**
 * Parses a list of `CNPJ;senha` lines, pasted or saved by a spreadsheet (`;`, `,` or tab, CNPJ with
 * or without mask, optional header), or a single password. Never throws.
 */
export function readPasswordList(text: string): PasswordList {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  const filled = lines.flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]))
  const named = filled.map(({ line }) => readLine(line))
  if (filled.length === 1 && !named[0]) return { shared: filled[0]!.line, named: [], unread: [] }
  const isHeader = (index: number) => index === 0 && /cnpj|senha/i.test(filled[0]!.line)
  return {
    shared: null,
    named: named.filter((line) => line !== null),
    unread: filled.flatMap(({ number }, index) => (named[index] || isHeader(index) ? [] : [number])),
  }
}

function readLine(line: string): PasswordList['named'][number] | null {
  let start = 0
  for (const { index } of line.matchAll(/[;,\t]/g)) {
    const cnpj = cnpjOf(unquoted(line.slice(start, index)))
    start = index + 1
    if (cnpj === null) continue
    const rest = line.slice(start)
    // A password may have the separator in it, or another column may follow.
    const passwords = [rest, rest.split(line[index]!, 1)[0]!].map(unquoted).filter((password) => password !== '')
    return passwords.length > 0 ? { cnpj, passwords: [...new Set(passwords)] } : null
  }
  return null
}

// A spreadsheet takes a CNPJ for a number and leaves its first zeros out.
function cnpjOf(text: string): string | null {
  return parseCnpj(/^\d{11,13}$/.test(text) ? text.padStart(14, '0') : text)
}

function unquoted(field: string): string {
  const text = field.trim()
  return /^"(?:[^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text
}

/**
 * Passwords to try on a file, each once: those of a CNPJ in its name, of the same base, all others,
 * and last those of CNPJs that have their certificate (`done`).
 */
export function passwordsFor(
  { shared, named }: Omit<PasswordList, 'unread'>,
  fileName: string,
  done: ReadonlySet<string> = new Set(),
): string[] {
  if (shared !== null) return [shared]
  const name = fileName.toUpperCase().replace(/[^0-9A-Z]/g, '')
  const distance = ({ cnpj }: { cnpj: string }) => {
    if (name.includes(cnpj)) return 0
    if (name.includes(cnpjBase(cnpj))) return 1
    return done.has(cnpj) ? 3 : 2
  }
  const nearestFirst = named.toSorted((a, b) => distance(a) - distance(b))
  return [...new Set(nearestFirst.flatMap(({ passwords }) => passwords))]
}
