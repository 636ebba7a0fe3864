/** A text as it is compared: without accents and capitals. */
export const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Whether every word that was typed is in the text, in any order. */
export function hasWords(text: string, typed: string): boolean {
  const among = plain(text)
  return plain(typed)
    .split(/\s+/)
    .every((word) => among.includes(word))
}

/** Whether typed text, with or without punctuation, is part of a CNPJ. */
export function isPartOfCnpj(cnpj: string, typed: string): boolean {
  return /\d/.test(typed) && bareCnpj(cnpj).includes(bareCnpj(typed.trim()))
}

export const bareCnpj = (cnpj: string) => cnpj.replace(/[./-]/g, '').toUpperCase()
