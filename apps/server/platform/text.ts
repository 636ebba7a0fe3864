/** How names are written in search columns and how what a person typed is compared with them: no accents, lower case, single spaces. */
export function searchable(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()
}

const termMax = 40

/** A code as what is inside documents is found by it: `AB-12.3/4` is `ab1234`. */
export function bareTerm(text: string): string {
  return searchable(text)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, termMax)
}

/** The term of a code or GTIN of a product, whole. */
export const codeTerm = (code: string): string | null => {
  const bare = bareTerm(code)
  return bare === '' ? null : `cod:${bare}`
}

/** The words of a name as what is inside documents is found by them; single characters are none. */
export function nameTerms(name: string): string[] {
  return searchable(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.slice(0, termMax))
}

/** `text` as the inside of a LIKE pattern. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A public id that somebody sent, for the index; null, which no row has, for what is none: PostgreSQL would refuse to read it. */
export const uuidOf = (publicId: string): string | null => (uuidShape.test(publicId) ? publicId : null)
