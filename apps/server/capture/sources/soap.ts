import { type DistributionRequest, type DistributionResponse, queryDistribution } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import type { Question, Source, Told } from '../source.ts'
import { lostTo } from './lost.ts'

/** Distribution by NSU over SOAP (NT 2014.002 for NF-e, NT 2015.002 for CT-e). */
export function soapSource(service: DistributionRequest['service'], webService: string): Source {
  return {
    webService,
    url: ({ distribution }) => distribution[service],
    async ask(connection, { url, tpAmb, uf, cnpj }, question) {
      const startedAt = performance.now()
      try {
        const query = queryOf(question)
        return readResponse(
          await queryDistribution(connection, { service, url, tpAmb, cUFAutor: uf, cnpj, query }),
          question,
        )
      } catch (error) {
        if (!(error instanceof SefazError)) throw error
        return lostTo(error, performance.now() - startedAt)
      }
    },
  }
}

function queryOf(question: Question): DistributionRequest['query'] {
  if ('note' in question) return { chNFe: question.note }
  return 'at' in question ? { NSU: String(question.at) } : { ultNSU: String(question.after) }
}

/** Reads a response: the only place that knows the codes (cStat) of the distribution. */
export function readResponse(response: DistributionResponse, question: Question): Told {
  const { cStat, xMotivo, dhResp, bytes, durationMs } = response
  const said = {
    code: cStat,
    words: xMotivo,
    respondedAt: readTime(dhResp),
    proves: provingCodes.includes(cStat),
    documents: response.documents.map(({ nsu, schema, content }) => ({ nsu: numberOf(nsu), schema, content })),
    bytes,
    durationMs,
  }
  const [cursor, max] = [numberOf(response.ultNSU), numberOf(response.maxNSU)]
  const absent = (forever: boolean) => ({ ...said, kind: 'absent' as const, forever, why: explain(cStat) })
  if ('at' in question && cStat === 137) return absent(true)
  if ('at' in question && cStat === 589) return absent(false)
  if ('note' in question && (cStat === 137 || cStat === 217)) return absent(false)
  if ('note' in question && finalRefusals.includes(cStat)) return absent(true)
  switch (cStat) {
    case 138:
      return { ...said, kind: 'page', cursor, max }
    case 137:
      return { ...said, kind: 'end', cursor, max }
    case 656:
      // The ultNSU of a response about one position is not the cursor.
      return { ...said, kind: 'pause', whom: 'line', cursor: 'after' in question ? cursor : null }
    // 108 is for a short while, 109 for an unknown one; 999 says nothing about other companies.
    case 108:
      return { ...said, kind: 'pause', whom: 'service', hours: 1 / 6, forAll: true }
    case 109:
      return { ...said, kind: 'pause', whom: 'service', hours: 1 / 2, forAll: true }
    case 999:
      return { ...said, kind: 'pause', whom: 'service', hours: 1 / 4, forAll: false }
    default: {
      const what = certificateCodes.includes(cStat) ? 'certificate' : cStat === unknownCnpj ? 'line' : 'us'
      return { ...said, kind: 'refused', what, passing: passingCodes.includes(cStat), why: explain(cStat) }
    }
  }
}

// The authority answers these after it compared the certificate with the CNPJ (NT 2014.002, rule 593).
const provingCodes = [137, 138, 589, 656]
// After three months, not of this CNPJ, of the issuer, cancelled, denied: a query by chave is not repeated (NT 2014.002).
const finalRefusals = [632, 640, 641, 653, 654]
// 280 to 286: the certificate itself; 472, 473, 593: it is not of the CNPJ in the query.
const certificateCodes = [280, 281, 282, 283, 284, 285, 286, 472, 473, 593]
// The same certificate may be accepted later, for example after a clock was set right.
const passingCodes = [281, 286]
const unknownCnpj = 489

const explanations: Record<number, string> = {
  215: 'A SEFAZ não entendeu a nossa consulta; quem administra o sistema precisa atualizá-lo.',
  252: 'O endereço consultado é de outro ambiente (produção ou homologação) da SEFAZ.',
  280: 'A SEFAZ não aceitou o certificado digital.',
  281: 'O certificado digital está fora da validade.',
  282: 'A SEFAZ não encontrou um CNPJ no certificado digital.',
  283: 'A SEFAZ não reconhece a autoridade que emitiu o certificado digital.',
  284: 'O certificado digital foi revogado.',
  285: 'O certificado digital não é da ICP-Brasil.',
  286: 'A SEFAZ não conseguiu conferir se o certificado digital foi revogado.',
  472: 'O certificado digital é de outra pessoa.',
  473: 'A SEFAZ não encontrou um CNPJ no certificado digital.',
  489: 'A SEFAZ não reconhece este CNPJ.',
  589: 'A posição da nossa consulta está à frente da que a SEFAZ conhece; a captura parou para nada ser pulado.',
  593: 'O certificado é de outra empresa: os oito primeiros caracteres do CNPJ não são os mesmos.',
}

const explain = (cStat: number) => explanations[cStat] ?? 'A SEFAZ recusou a consulta.'

const numberOf = (nsu: string | null) => (nsu === null ? null : BigInt(nsu))

// The CT-e service writes the time of Brasília without its offset.
function readTime(dhResp = ''): Date | null {
  const [, time, offset] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/.exec(dhResp.trim()) ?? []
  const at = time === undefined ? Number.NaN : Date.parse(`${time}${offset ?? '-03:00'}`)
  return Number.isNaN(at) ? null : new Date(at)
}
