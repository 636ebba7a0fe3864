import type { DistributionAnswer } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'

/** The authority's times, from configuration. */
export interface Rhythm {
  hourMs: number
  pagePauseMs: number
  marginMs: number
}

/** What follows from one answer, or from none. */
export interface Decision {
  nextPage: boolean
  state: 'waiting' | 'blocked' | 'failed' | 'stopped'
  /** For the person. */
  message: string
  /** When to ask again by ourselves; null: not before a person acts. */
  nextInMs: number | null
  /** Before this, not even a person's wish may cause a query. */
  allowedInMs: number
  failures: number
  succeeded?: boolean
  lastNsu?: bigint
  maxNsu?: bigint
  /** NSUs that another program consumed and that are not here. */
  gap?: { from: bigint; to: bigint }
  /** The authority did not accept the certificate that asked. */
  certificateRefused?: boolean
}

/** Nobody holds a valid certificate for the CNPJ. */
export const noCertificate: Decision = {
  nextPage: false,
  state: 'stopped',
  message:
    'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.',
  nextInMs: null,
  allowedInMs: 0,
  failures: 0,
}

/** The client algorithm of NT 2014.002 (cursor, pauses, consumo indevido) for one answer to `distNSU` with `lastNsu`. */
export function decide(
  answer: Pick<DistributionAnswer, 'cStat' | 'xMotivo' | 'ultNSU' | 'maxNSU' | 'documents'>,
  { lastNsu, failures }: { lastNsu: bigint; failures: number },
  rhythm: Rhythm,
): Decision {
  const ult = answer.ultNSU === null ? null : BigInt(answer.ultNSU)
  const max = answer.maxNSU === null ? undefined : BigInt(answer.maxNSU)
  switch (answer.cStat) {
    case 138: {
      const advanced = highest(lastNsu, ult ?? highestNsu(answer.documents, lastNsu))
      const more = max !== undefined && advanced < max && advanced > lastNsu
      const news = answer.documents.length === 1 ? '1 documento novo' : `${answer.documents.length} documentos novos`
      return {
        ...rest(rhythm, `Em dia. A última consulta trouxe ${news}.`),
        nextPage: more,
        lastNsu: advanced,
        maxNsu: max,
        succeeded: true,
        ...(more && soon(rhythm)),
      }
    }
    case 137:
      return {
        ...rest(rhythm, 'Em dia. Nenhum documento novo na última consulta.'),
        lastNsu: highest(lastNsu, ult ?? 0n),
        maxNsu: max,
        succeeded: true,
      }
    case 656:
      return blocked(lastNsu, ult, failures > 0, rhythm)
    case 108:
      return unavailable(answer.xMotivo, rhythm.hourMs / 6, rhythm)
    case 109:
      return unavailable(answer.xMotivo, rhythm.hourMs / 2, rhythm)
    case 999:
      return unavailable(answer.xMotivo, rhythm.hourMs / 4, rhythm)
    default:
      return {
        nextPage: false,
        state: 'stopped',
        message: `${explanations[answer.cStat] ?? 'A SEFAZ recusou a consulta.'} Os documentos já guardados estão seguros. (${answer.cStat}: ${answer.xMotivo})`,
        nextInMs: null,
        allowedInMs: rhythm.hourMs + rhythm.marginMs,
        failures: 0,
        certificateRefused: certificateCodes.has(answer.cStat),
      }
  }
}

// 280 to 286: the certificate itself; 472, 473, 593: it is not of the CNPJ that was asked about.
const certificateCodes = new Set([280, 281, 282, 283, 284, 285, 286, 472, 473, 593])

const explanations: Record<number, string> = {
  589: 'A posição da nossa consulta está à frente da que a SEFAZ conhece; a captura parou para nada ser pulado.',
  593: 'O certificado é de outra empresa: os oito primeiros caracteres do CNPJ não são os mesmos.',
  280: 'A SEFAZ não aceitou o certificado digital.',
  281: 'O certificado digital está fora da validade.',
  284: 'O certificado digital foi revogado.',
}

// One cycle an hour. The schedule is spread over the margin, so that companies registered together do not ask together.
function rest(rhythm: Rhythm, message: string): Decision {
  return {
    nextPage: false,
    state: 'waiting',
    message,
    nextInMs: rhythm.hourMs + rhythm.marginMs * (1 + Math.random()),
    allowedInMs: rhythm.hourMs + rhythm.marginMs / 5,
    failures: 0,
  }
}

const soon = (rhythm: Rhythm) => ({ nextInMs: rhythm.pagePauseMs, allowedInMs: rhythm.pagePauseMs })

// The hour counts from this answer. The authority's cursor is adopted, or every later query would be out of sequence too.
function blocked(lastNsu: bigint, ult: bigint | null, answerWasLost: boolean, rhythm: Rhythm): Decision {
  const gap = ult !== null && ult > lastNsu ? { from: lastNsu + 1n, to: ult } : undefined
  const cause = answerWasLost
    ? 'ela contou uma consulta nossa cuja resposta se perdeu no caminho'
    : 'outro sistema consultou com este certificado'
  const missing = gap
    ? ` Faltam os documentos das posições ${gap.from} a ${gap.to}, que serão buscados um a um, até vinte por hora.`
    : ' Nenhum documento foi pulado.'
  return {
    ...rest(
      rhythm,
      `A SEFAZ bloqueou as consultas deste CNPJ por uma hora: ${cause}.${missing} A captura volta sozinha.`,
    ),
    state: 'blocked',
    allowedInMs: rhythm.hourMs + rhythm.marginMs,
    ...(gap && { lastNsu: gap.to, gap }),
  }
}

function unavailable(xMotivo: string, waitMs: number, rhythm: Rhythm): Decision {
  return {
    nextPage: false,
    state: 'failed',
    message: `O serviço da SEFAZ está fora do ar. Tentamos de novo sozinhos. (${xMotivo})`,
    nextInMs: waitMs + rhythm.marginMs * Math.random(),
    allowedInMs: waitMs,
    failures: 0,
  }
}

// Minutes of a real hour. Where nothing reached the authority, soon and then less often; where an answer may have been lost and
// counted, never more than three tries an hour; where trying again cannot help before a person acts, once an hour.
const waits = { unreached: [1, 5, 15, 30, 60], lost: [10, 25, 60], hopeless: [60] }

const unreached = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/

function waitsAfter(error: SefazError): number[] {
  if (!error.retryable) return waits.hopeless
  return unreached.test(error.detail ?? '') ? waits.unreached : waits.lost
}

/** What follows when there was no answer: the cursor stays, and the waits grow. */
export function failed(error: SefazError, failures: number, rhythm: Rhythm): Decision {
  const minutes = waitsAfter(error)
  const waitMs = (rhythm.hourMs * minutes[Math.min(failures, minutes.length - 1)]!) / 60
  return {
    nextPage: false,
    state: 'failed',
    message: `${error.message} A captura tenta de novo sozinha.`,
    nextInMs: waitMs * (1 + Math.random() / 5),
    allowedInMs: waitMs,
    failures: failures + 1,
    certificateRefused: error.kind === 'forbidden' || error.kind === 'handshake',
  }
}

const highest = (a: bigint, b: bigint) => (a > b ? a : b)

function highestNsu(documents: { nsu: string | null }[], fallback: bigint): bigint {
  return documents.reduce(
    (top, document) => (document.nsu === null ? top : highest(top, BigInt(document.nsu))),
    fallback,
  )
}

/** What follows when the fault is ours: the cursor stays, and the person is told. */
export function brokenOff(failures: number, rhythm: Rhythm): Decision {
  return {
    ...failed(new SefazError('not-xml'), failures, rhythm),
    message:
      'Algo falhou do nosso lado durante a consulta. Os documentos já guardados estão seguros e a captura tenta de novo sozinha.',
    certificateRefused: false,
  }
}
