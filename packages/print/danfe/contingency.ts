import { chaveCheckDigit } from '@vigia/dfe/chave'
import { value } from '@vigia/dfe/document'
import { ufBySigla } from '@vigia/dfe/uf'
import type { Note } from './note.ts'

/** The 36 digits of the second bar code of FS and FS-DA (MOC NF-e 7.0, Anexo II, dados adicionais do código de barras). */
export function additionalDataCode({ infNFe, ide }: Note): string {
  const uf = ufBySigla(value(infNFe, 'dest/enderDest/UF') ?? '')?.code ?? 99
  const id = value(infNFe, 'dest/CNPJ') ?? value(infNFe, 'dest/CPF') ?? ''
  const cents = (value(infNFe, 'total/ICMSTot/vNF') ?? '').replace(/^(\d+)(?:\.(\d*))?$/, (_, whole, fraction = '') => {
    return whole + fraction.slice(0, 2).padEnd(2, '0')
  })
  const ownIcms = isPositive(value(infNFe, 'total/ICMSTot/vICMS')) ? 1 : 2
  const substitution = isPositive(value(infNFe, 'total/ICMSTot/vST')) ? 1 : 2
  const day = (value(ide, 'dhEmi') ?? value(ide, 'dEmi') ?? '').slice(8, 10)
  const head = `${uf}${value(ide, 'tpEmis') ?? ''}${id.padStart(14, '0')}${cents.padStart(14, '0')}`
  const body = `${head}${ownIcms}${substitution}${day.padStart(2, '0')}`
  // The weights run from the right, so zeros at the left change nothing.
  return `${body}${chaveCheckDigit(body.padStart(43, '0'))}`
}

function isPositive(text: string | undefined): boolean {
  return text !== undefined && /[1-9]/.test(text)
}
