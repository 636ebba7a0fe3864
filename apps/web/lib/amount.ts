/** Parses an amount as people write it (1.234,56, 1234,5, 1234.56); null if invalid. */
export function parseAmount(text: string): string | null {
  const bare = text.replace(/^\s*R\$/i, '').trim()
  if (/^\d{1,13}\.\d{1,2}$/.test(bare)) return bare
  return /^(\d{1,3}(\.\d{3}){1,4}|\d{1,13})(,\d{1,2})?$/.test(bare) ? bare.replaceAll('.', '').replace(',', '.') : null
}
