import { chaveParts, cleanChave, formatChave, issuerInChave, looksLikeChave, parseChave } from '../chave.ts'
import { value } from '../document.ts'
import type { KeyFormat, SignedLayout } from './family.ts'
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

/** Whether a chave of 44 positions is made of the fields of its document (MOC NF-e 7.0 and MOC CT-e 4.00: chave de acesso). */
export function agreementOf44(names: {
  number: string
  code: string
  since: number
  avulsa: boolean
}): SignedLayout['agrees'] {
  return (chave, group) => {
    if (parseChave(chave) === null) return false
    const parts = chaveParts(chave)
    const field = (path: string) => value(group, path)
    const issuedAt = field('ide/dhEmi') ?? field('ide/dEmi') ?? ''
    const issuer = field('emit/CNPJ') ?? field('emit/CPF')?.padStart(14, '0')
    // The chave of a nota avulsa (séries 890 to 919) has the CNPJ of the Fisco.
    const isAvulsa = names.avulsa && parts.serie >= 890 && parts.serie <= 919
    // Before the layout `since` the code had nine digits, and the chave no tpEmis.
    const isOld = Number(group.attributes.versao) < names.since
    return (
      field('ide/cUF') === parts.cUF &&
      issuedAt.slice(2, 4) + issuedAt.slice(5, 7) === parts.aamm &&
      (isAvulsa || issuer === parts.cnpj) &&
      field('ide/mod') === parts.mod &&
      Number(field('ide/serie')) === parts.serie &&
      Number(field(names.number)) === parts.numero &&
      (isOld || (field('ide/tpEmis') === parts.tpEmis && field(names.code) === parts.cNF))
    )
  }
}
