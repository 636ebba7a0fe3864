import type { X509Certificate } from 'node:crypto'

/** The taxpayer of a client certificate, from the ICP-Brasil fields; empty without CNPJ and CPF. */
export function certificateTaxpayer(certificate: X509Certificate): { cnpj?: string; cpf?: string } {
  const cnpj = otherName(certificate.raw, 3)
  if (cnpj !== undefined) return { cnpj: cnpj.slice(0, 14) }
  // 3.1 begins with the birth date (8), then the CPF (11).
  const person = otherName(certificate.raw, 1)
  return person === undefined ? {} : { cpf: person.slice(8, 19) }
}

// The object identifier 2.16.76.1.3.x is followed by [0] EXPLICIT and a string of any of four types.
function otherName(der: Buffer, field: number): string | undefined {
  const at = der.indexOf(Buffer.from([0x06, 0x05, 0x60, 0x4c, 0x01, 0x03, field]))
  if (at < 0) return undefined
  const wrapper = at + 7
  if (der[wrapper] !== 0xa0) return undefined
  const length = der[wrapper + 3] ?? 0
  return der.subarray(wrapper + 4, wrapper + 4 + length).toString('latin1')
}
