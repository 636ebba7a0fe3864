import { chaveCheckDigit } from '@vigia/dfe/chave'
import { localDateTime } from '../clock.ts'
import type { Random } from './random.ts'

export interface NewChave {
  chave: string
  cNF: string
  cDV: string
}

/** A new chave de acesso, emitted normally (tpEmis 1). */
export function newChave(
  random: Random,
  of: { cUF: string; at: number; cnpj: string; mod: string; serie: number; numero: number },
): NewChave {
  const aamm = localDateTime(of.at).slice(2, 7).replace('-', '')
  const cNF = random.digits(8)
  const serie = String(of.serie).padStart(3, '0')
  const numero = String(of.numero).padStart(9, '0')
  const body = `${of.cUF}${aamm}${of.cnpj}${of.mod}${serie}${numero}1${cNF}`
  const cDV = String(chaveCheckDigit(body))
  return { chave: body + cDV, cNF, cDV }
}

/** A protocol number: kind of authoriser, state or órgão, year, ten digits. */
export function newProtocol(random: Random, prefix: string, at: number): string {
  return `${prefix}${localDateTime(at).slice(2, 4)}${random.digits(10)}`
}

/** The digest of a signed document, which its protocol repeats. */
export function digestOf(signed: string): string {
  return /<DigestValue>([^<]+)<\/DigestValue>/.exec(signed)?.[1] ?? ''
}
