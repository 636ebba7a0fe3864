/** How names are written in search columns and how what a person typed is compared with them: no accents, lower case, single spaces. */
export function searchable(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()
}

/** `text` as the inside of a LIKE pattern. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
