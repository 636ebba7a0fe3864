import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'

const unchanged = 'Nada foi alterado.'

/**
 * Refuses a password that is among the first that somebody would try: the 100,000 commonest, and those made of the name of the product and of
 * what it is about (NIST SP 800-63B §3.1.1.2). With the simulated authority every password of the specification's length is taken.
 */
export function refuseGuessable({ config }: Pick<Context, 'config'>, password: string): void {
  if (config.sefaz.ambiente === 'simulado') return
  if (isCommon(password))
    throw new AppError(
      'invalid-input',
      `Essa senha está entre as 100 mil mais usadas, as primeiras que alguém tentaria. ${unchanged} Escolha outra: algumas palavras juntas são fáceis de lembrar.`,
    )
  if (isOfContext(password, config.productName))
    throw new AppError(
      'invalid-input',
      `Essa senha é feita do nome do sistema ou de palavras do assunto dele, as primeiras que alguém tentaria aqui. ${unchanged} Escolha outra: algumas palavras juntas são fáceis de lembrar.`,
    )
}

/** Refuses the e-mail of its account, or the part before the @, as a password; not with the simulated authority. */
export function refuseOwnEmail({ config }: Pick<Context, 'config'>, password: string, email: string): void {
  if (config.sefaz.ambiente === 'simulado') return
  const [typed, own] = [password.trim().toLowerCase(), email.toLowerCase()]
  if (typed === own || typed === own.split('@')[0])
    throw new AppError(
      'invalid-input',
      `A senha não pode ser o seu e-mail nem o começo dele. ${unchanged} Escolha outra.`,
    )
}

const context = ['notasfiscais', 'notafiscal', 'fiscal', 'danfe', 'dacte', 'sefaz']

// Such words, alone or together, with whatever digits and signs.
function isOfContext(password: string, productName: string): boolean {
  const letters = lettersOf(password)
  const words = [...productName.split(' ').map(lettersOf), ...context].filter((word) => word !== '')
  const rest = words.toSorted((a, b) => b.length - a.length).reduce((text, word) => text.replaceAll(word, ' '), letters)
  return letters !== '' && rest.trim() === ''
}

function lettersOf(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replace(/\P{L}+/gu, '')
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
