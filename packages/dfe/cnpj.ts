/** A CNPJ of 14 positions whose check digits were verified; letters are allowed in the first twelve (IN RFB 2.229/2024). */
export type Cnpj = string & { readonly cnpj: unique symbol }

/** The CNPJ in `text`, with or without mask and in any case, or null (NT Conjunta DF-e 2025.001). */
export function parseCnpj(text: string): Cnpj | null {
  const cnpj = text.toUpperCase().replace(/[\s./-]/g, '')
  if (!/^[0-9A-Z]{12}[0-9]{2}$/.test(cnpj)) return null
  // Fourteen zeros pass the check digits, but mean "no CNPJ" in documents (rejections 489 and 627).
  if (cnpj === '00000000000000') return null
  return cnpj.slice(12) === cnpjCheckDigits(cnpj.slice(0, 12)) ? (cnpj as Cnpj) : null
}

/** The CNPJ with its mask, `12.ABC.345/01DE-35` (IN RFB 2.229/2024). */
export function formatCnpj(cnpj: string): string {
  return cnpj.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5')
}

/** The raiz of a CNPJ, its first eight positions, which a certificate shares with all branches (MOC, rejections 213 and 593). */
export function cnpjBase(cnpj: string): string {
  return cnpj.slice(0, 8)
}

/** The two check digits of the first twelve positions: modulo 11, a letter counts as its ASCII code minus 48 (NT Conjunta DF-e 2025.001). */
export function cnpjCheckDigits(first12: string): string {
  const first = modulo11(first12, 9)
  return `${first}${modulo11(first12 + first, 9)}`
}

/** The CPF in `text`, with or without mask, or null; sequences of one digit are refused (MOC, rejection 490). */
export function parseCpf(text: string): string | null {
  const cpf = text.replace(/[\s.-]/g, '')
  if (!/^[0-9]{11}$/.test(cpf) || /^(.)\1*$/.test(cpf)) return null
  const first = modulo11(cpf.slice(0, 9), 11)
  return cpf.slice(9) === `${first}${modulo11(cpf.slice(0, 9) + first, 11)}` ? cpf : null
}

/** The CPF with its mask, `123.456.789-09`. */
export function formatCpf(cpf: string): string {
  return cpf.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4')
}

// Weights run from 2 at the right end up to `highestWeight` and start again.
function modulo11(body: string, highestWeight: number): number {
  let sum = 0
  for (let i = 0; i < body.length; i++) {
    sum += (body.charCodeAt(body.length - 1 - i) - 48) * (2 + (i % (highestWeight - 1)))
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}
