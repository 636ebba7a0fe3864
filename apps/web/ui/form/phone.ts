/** The digits of a Brazilian phone number, at most eleven; a pasted country code is removed. */
export function phoneDigits(text: string): string {
  const digits = text.replace(/\D/g, '')
  return (digits.length > 11 && digits.startsWith('55') ? digits.slice(2) : digits).slice(0, 11)
}

/** Formats typed digits as (DD) NNNNN-NNNN. */
export function maskPhone(text: string): string {
  const digits = phoneDigits(text)
  if (digits.length <= 2) return digits && `(${digits}`
  const split = digits.length > 10 ? 7 : 6
  const end = digits.slice(split)
  return `(${digits.slice(0, 2)}) ${digits.slice(2, split)}${end && `-${end}`}`
}
