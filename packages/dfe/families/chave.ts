import { chaveParts, cleanChave, formatChave, issuerInChave, looksLikeChave, parseChave } from '../chave.ts'
import type { KeyFormat } from './family.ts'
import type { FamilyId } from './id.ts'

/** The chave de acesso of 44 positions that NF-e and CT-e share, told apart by the model (MOC NF-e 7.0; MOC CT-e 4.00; NT Conjunta DF-e 2025.001). */
export function chaveOf44(family: FamilyId, isModel: (model: string) => boolean): KeyFormat {
  const isOwn = (text: string) => looksLikeChave(text) && isModel(chaveParts(text).mod)
  return {
    find(text) {
      const chave = cleanChave(text)
      return isOwn(chave) ? chave : null
    },
    parse(text) {
      if (!isOwn(text)) return null
      const { cUF, aamm, mod, serie, numero } = chaveParts(text)
      const { cnpj, cpf } = issuerInChave(text)
      return {
        family,
        text,
        valid: parseChave(text) !== null,
        model: mod,
        series: serie,
        number: numero,
        issuer: cnpj ?? cpf,
        month: `20${aamm.slice(0, 2)}-${aamm.slice(2)}`,
        place: cUF,
      }
    },
    format: formatChave,
  }
}
