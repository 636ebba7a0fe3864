import type { Fields } from '@vigia/dfe/read'

// Contact keys: suppliers with the same telephone, e-mail or address share a key. People see them.

/** Contact keys of an issuer, at most three; placeholders for "unknown" give none. */
export function contactsOf(emit: Fields): string[] {
  const found = [phoneKey(emit.fone), mailKey(emit.email), addressKey(emit)]
  return found.filter((key) => key !== null)
}

// With its area code; 0 in front and 55 are not dialled by everybody.
function phoneKey(fone: string | undefined): string | null {
  const digits = fone?.replace(/\D/g, '').replace(/^0+/, '') ?? ''
  const number = digits.length > 11 && digits.startsWith('55') ? digits.slice(2) : digits
  if (number.length !== 10 && number.length !== 11) return null
  return /(.)\1{6}$/.test(number) || number.endsWith('12345678') ? null : `fone ${number}`
}

function mailKey(email: string | undefined): string | null {
  const address = email?.trim().toLowerCase() ?? ''
  return address.length <= 100 && /^[!-?A-~]+@[!-?A-~]+\.[a-z]{2,}$/.test(address) ? `email ${address}` : null
}

// The house and the room in it: a tower has a hundred tenants.
function addressKey({ CEP, xLgr, nro, xCpl }: Fields): string | null {
  const [street, number, room] = [xLgr, nro, xCpl].map(plain)
  const zip = CEP?.replace(/\D/g, '') ?? ''
  if (!/^\d{8}$/.test(zip) || /^(.)\1+$/.test(zip) || !/\d/.test(number!) || /^0+$/.test(number!) || street!.length < 3)
    return null
  return `end ${[zip, street, number, room].filter((part) => part !== '').join('/')}`
}

function plain(text: string | undefined): string {
  const letters = (text ?? '').slice(0, 60).normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()
  return letters.replace(/[^0-9A-Z]+/g, ' ').trim()
}

/** A key in the words of a sentence: `o telefone (47) 3333-4444`. */
export function contactText(key: string): string {
  const [kind, ...rest] = key.split(' ')
  const text = rest.join(' ')
  if (kind === 'fone') return `o telefone (${text.slice(0, 2)}) ${text.slice(2, -4)}-${text.slice(-4)}`
  if (kind === 'email') return `o e-mail ${text}`
  const [zip, ...address] = text.split('/')
  return `o endereço ${address.join(', ')} (CEP ${zip!.slice(0, 5)}-${zip!.slice(5)})`
}
