import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { AppError } from '../platform/errors.ts'

const unchanged = 'Nada foi alterado.'

/** Refuses a password that is among the first that somebody would try: the 100,000 commonest (NIST SP 800-63B §3.1.1.2). */
export function refuseCommon(password: string): void {
  if (isCommon(password))
    throw new AppError(
      'invalid-input',
      `Essa senha está entre as 100 mil mais usadas, as primeiras que alguém tentaria. ${unchanged} Escolha outra: algumas palavras juntas são fáceis de lembrar.`,
    )
}

/** Refuses the e-mail of its account, or the part before the @, as a password. */
export function refuseOwnEmail(password: string, email: string): void {
  const [typed, own] = [password.trim().toLowerCase(), email.toLowerCase()]
  if (typed === own || typed === own.split('@')[0])
    throw new AppError(
      'invalid-input',
      `A senha não pode ser o seu e-mail nem o começo dele. ${unchanged} Escolha outra.`,
    )
}

function isCommon(password: string): boolean {
  const typed = password.trim().toLowerCase()
  passwords ??= readPasswords()
  return !typed.includes('\n') && passwords.includes(`\n${typed}\n`)
}

// Made by scripts/common-passwords.ts: 800 kB when it is open, and searched in less than the thousandth part of a hash.
let passwords: string | undefined

function readPasswords(): string {
  const packed = readFileSync(new URL('common-passwords.br', import.meta.url))
  return `\n${brotliDecompressSync(packed).toString('latin1')}\n`
}
