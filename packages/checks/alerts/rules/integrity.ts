import { chaveParts, parseChave } from '@vigia/dfe/chave'
import { nfe } from '@vigia/dfe/families/nfe'
import { type AlertFacts, isAvulsa } from '../facts.ts'
import { cents, dayText, instantOf, reais } from '../values.ts'
import type { Rule } from './rule.ts'

export const integrityRules: Rule[] = [
  {
    id: 'S11',
    name: 'Mesmo número duas vezes',
    family: 'integrity',
    weight: 0.6,
    of: 'received',
    find: ({ facts, history, at }) => {
      if (facts.tpAmb === '2') return null
      const other = history.sameNumber.find(({ chave, issuedAt }) => {
        const then = instantOf(issuedAt)
        return chave !== facts.chave && (then < at || (then === at && chave < facts.chave))
      })
      if (other === undefined) return null
      const { serie, numero } = chaveParts(facts.chave)
      return {
        inputs: { serie, numero, value: cents(facts.amount), other: cents(other.amount) },
        compared: [other.chave],
        sentence: `O número ${numero} da série ${serie} deste emitente já está em outro documento, de ${dayText(other.issuedAt)}, de ${reais(cents(other.amount))}.`,
      }
    },
  },
  {
    id: 'S24',
    name: 'Integridade quebrada',
    family: 'integrity',
    weight: 1,
    of: 'any',
    critical: true,
    find: ({ facts }) => {
      const broken = brokenParts(facts)
      if (broken.length === 0) return null
      return { inputs: { broken: broken.join('; ') }, sentence: `O documento não é confiável: ${broken.join('; ')}.` }
    },
  },
  {
    id: 'S25',
    name: 'Documento de teste',
    family: 'integrity',
    weight: 1,
    of: 'any',
    critical: true,
    find: ({ facts: { tpAmb, issuer, recipient, natOp, company } }) => {
      if (company.tpAmb === '2') return null
      const named = [issuer.name, recipient?.name, natOp].find((text) => /SEM\s+VALOR\s+FISCAL/i.test(text ?? ''))
      if (tpAmb !== '2' && named === undefined) return null
      return {
        inputs: { tpAmb, named: named ?? '' },
        sentence: `É um documento de teste, sem valor fiscal${tpAmb === '2' ? ' (ambiente de homologação)' : `: traz "${named}"`}.`,
      }
    },
  },
]

const proofTexts: Record<string, string> = {
  altered: 'foi alterado depois de assinado',
  signature: 'a assinatura não confere',
  form: 'a assinatura não tem a forma exigida',
  unsigned: 'não está assinado',
  protocol: 'o protocolo é de outro conteúdo',
  chave: 'a chave de acesso não corresponde aos campos do documento',
}

function brokenParts(facts: AlertFacts): string[] {
  const broken: string[] = []
  const proof = proofTexts[facts.proof ?? '']
  if (proof !== undefined) broken.push(proof)
  if (facts.complete && facts.situation === 'no-protocol') broken.push('não tem protocolo de autorização')
  if (parseChave(facts.chave) === null) broken.push('o dígito da chave de acesso está errado')
  const fields = wrongFields(facts)
  if (fields.length > 0 && facts.proof !== 'chave')
    broken.push(`a chave de acesso tem outro valor de ${fields.join(', ')}`)
  if (facts.complete && facts.digest && facts.summaryDigest && facts.digest !== facts.summaryDigest)
    broken.push('o XML não é o do resumo que a SEFAZ enviou')
  return broken
}

// The chave against the fields that it repeats (MOC 7.0 and MOC CT-e 4.00: chave de acesso). A cNF of nine digits is of a layout in which the
// chave had no tpEmis; the chave of a nota avulsa has the CNPJ of the Fisco.
function wrongFields({ chave, stated, issuedAt, type }: AlertFacts): string[] {
  if (stated === undefined) return []
  const parts = chaveParts(chave)
  const avulsa = type === nfe.id && isAvulsa(chave)
  const old = stated.cNF?.length === 9
  const numeric = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  const pairs: [string, unknown, unknown][] = [
    ['UF', stated.cUF, parts.cUF],
    ['mês de emissão', issuedAt === '' ? undefined : issuedAt.slice(2, 4) + issuedAt.slice(5, 7), parts.aamm],
    ['emitente', avulsa ? undefined : stated.issuer?.padStart(14, '0'), parts.cnpj],
    ['modelo', stated.mod, parts.mod],
    ['série', numeric(stated.serie), parts.serie],
    ['número', numeric(stated.numero), parts.numero],
    ['tpEmis', old ? undefined : stated.tpEmis, parts.tpEmis],
    ['código numérico', old ? undefined : stated.cNF, parts.cNF],
  ]
  return pairs.filter(([, own, ofChave]) => own !== undefined && own !== ofChave).map(([name]) => name)
}
