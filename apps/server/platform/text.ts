/** How names are written in search columns and how what a person typed is compared with them: no accents, lower case, single spaces. */
export function searchable(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()
}

/** `text` as the inside of a LIKE pattern. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A public id that somebody sent, for the index; null, which no row has, for what is none: PostgreSQL would refuse to read it. */
export const uuidOf = (publicId: string): string | null => (uuidShape.test(publicId) ? publicId : null)
