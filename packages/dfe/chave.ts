const pattern = /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/

/** Whether `text` looks like a chave de acesso; its check digit may be wrong (NT Conjunta DF-e 2025.001). */
export function looksLikeChave(text: string): boolean {
  return pattern.test(text)
}

/** The chave de acesso in `text`, or null: exactly 44 characters, letters only in the CNPJ part, check digit right (NT Conjunta DF-e 2025.001). */
export function parseChave(text: string): string | null {
  if (!looksLikeChave(text)) return null
  return chaveCheckDigit(text.slice(0, 43)) === text.charCodeAt(43) - 48 ? text : null
}

/**
 * Strips pasted text down to the characters of a chave: removes spaces, dots, the prefix
 * `NFe`/`CTe` of the `Id` attribute and the address of a QR Code (MOC 7.0 Anexo II, DANFE NFC-e QR
 * Code).
 */
export function cleanChave(text: string): string {
  const query = /[?&](?:chNFe|chCTe|p)=([0-9a-z]{44})(?![0-9a-z])/i.exec(text)
  if (query?.[1]) return query[1].toUpperCase()
  // These letters may begin a CNPJ: they are a prefix only before the length of a chave.
  return text
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replace(/^(?:NFE|CTE)(?=[0-9].{24})/, '')
}

/** The chave in groups of four characters, as the DANFE and the DACTE print it (MOC 7.0 Anexo II; MOC CT-e 4.00 Anexo II). */
export function formatChave(chave: string): string {
  return chave.replace(/(.{4})(?=.)/g, '$1 ')
}

/** The check digit of the first 43 characters: modulo 11, weights 2 to 9 from the right, a letter counts as its ASCII code minus 48 (NT Conjunta DF-e 2025.001). */
export function chaveCheckDigit(first43: string): number {
  let sum = 0
  for (let i = 0; i < 43; i++) sum += (first43.charCodeAt(42 - i) - 48) * (2 + (i % 8))
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

/**
 * The CNPJ of the issuer in the chave, or the CPF, which is padded there with three zeros. Only the
 * séries 920 to 969 belong to people; in others a CNPJ may begin with 000 (MOC NF-e 7.0, MOC CT-e
 * 4.00: chave de acesso).
 */
export function issuerInChave(chave: string): { cnpj: string; cpf?: undefined } | { cpf: string; cnpj?: undefined } {
  const { cnpj, serie } = chaveParts(chave)
  return serie >= 920 && serie <= 969 && cnpj.startsWith('000') ? { cpf: cnpj.slice(3) } : { cnpj }
}

/** The fields a chave is made of, cut by position (MOC NF-e 7.0, MOC CT-e 4.00: chave de acesso). */
export function chaveParts(chave: string) {
  return {
    cUF: chave.slice(0, 2),
    aamm: chave.slice(2, 6),
    cnpj: chave.slice(6, 20),
    mod: chave.slice(20, 22),
    serie: Number(chave.slice(22, 25)),
    numero: Number(chave.slice(25, 34)),
    tpEmis: chave.slice(34, 35),
    cNF: chave.slice(35, 43),
  }
}
