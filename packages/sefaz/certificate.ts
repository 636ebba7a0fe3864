import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'
import { Worker } from 'node:worker_threads'
import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import type { Pair, PfxInput, PfxResult } from './certificate-worker.ts'
import { type CertificateHolder, readHolder } from './holder.ts'

/** A company's A1 certificate, opened: what identifies it and what TLS and the signature need (DOC-ICP-04). */
export interface Certificate {
  cnpj: string
  /** The company's name, without the number that follows it in the common name. */
  name: string
  uf?: string
  issuer: string
  serialNumber: string
  validFrom: Date
  validTo: Date
  /** PEM, PKCS#8. */
  key: string
  /** PEM. */
  certificate: string
  /** PEM, from the issuer upwards. */
  chain: string[]
}

/** Why a certificate file cannot be used; also the code that a message quotes (DOC-ICP-04; RFC 7292). */
export type CertificateProblem =
  | 'wrong-password'
  | 'unreadable'
  | 'no-key'
  | 'expired'
  | 'not-yet-valid'
  | 'e-cpf'
  | 'no-cnpj'
  | 'several-companies'
  | 'too-large'
  | 'unsupported'
  | 'huge-key'
  | 'too-slow'
  | 'too-many-rounds'

const sentences: Record<CertificateProblem, string> = {
  'wrong-password':
    'A senha informada não abre este certificado. Nada foi guardado nem alterado. Digite de novo a senha escolhida quando o certificado foi emitido ou exportado, com atenção a maiúsculas, números e acentos.',
  unreadable:
    'Não conseguimos ler o arquivo do certificado; isto não quer dizer que a senha esteja errada. Nada foi guardado nem alterado. Exporte o certificado de novo em formato .pfx ou .p12, com a chave privada, e envie o novo arquivo.',
  'no-key':
    'O arquivo não traz o certificado junto com a sua chave privada, e sem ela não é possível consultar a SEFAZ. Nada foi guardado nem alterado. Exporte o certificado de novo em formato .pfx ou .p12, marcando a opção de exportar a chave privada.',
  expired:
    'Este certificado venceu em {at}. Nada foi guardado nem alterado. Envie o certificado renovado; se ainda não houver, a renovação é feita com a autoridade certificadora.',
  'not-yet-valid':
    'Este certificado só começa a valer em {at}. Nada foi guardado nem alterado. Envie-o de novo a partir dessa data ou use o certificado que está em vigor hoje.',
  'e-cpf':
    'Este é o certificado de uma pessoa (e-CPF), e a SEFAZ só entrega os documentos da empresa ao certificado da empresa. Nada foi guardado nem alterado. Envie o e-CNPJ A1 da empresa, em arquivo .pfx ou .p12.',
  'no-cnpj':
    'O arquivo foi aberto, mas não encontramos um CNPJ dentro do certificado. Nada foi guardado nem alterado. Envie o e-CNPJ A1 da empresa, emitido por uma autoridade da ICP-Brasil.',
  'several-companies':
    'Este arquivo traz certificados de mais de uma empresa: {of}. Nada foi guardado nem alterado. Em “Nova Empresa”, envie só este arquivo e escreva em “CNPJ da empresa” o da que quer cadastrar.',
  'too-large':
    'O arquivo tem mais de 32 KB, e um certificado ocupa bem menos do que isso. Nada foi guardado nem alterado. Confira se escolheu o arquivo .pfx ou .p12 do certificado.',
  unsupported:
    'As conexões seguras de hoje não aceitam mais a chave deste certificado (ela é curta ou antiga demais). Nada foi guardado nem alterado. Envie um e-CNPJ A1 emitido nos últimos anos.',
  'huge-key':
    'A chave deste certificado é maior do que a de qualquer e-CNPJ (no máximo 4.096 bits). Nada foi guardado nem alterado. Envie o e-CNPJ A1 da empresa, emitido por uma autoridade da ICP-Brasil.',
  'too-slow':
    'O certificado não abriu em cinco segundos e paramos de tentar; isto não quer dizer que o arquivo ou a senha estejam errados. Nada foi guardado nem alterado. Tente de novo daqui a um minuto; se acontecer outra vez, exporte o certificado de novo em formato .pfx ou .p12 e envie o novo arquivo.',
  'too-many-rounds':
    'A senha deste arquivo foi protegida com mais repetições do que um certificado usa (no máximo 700.000). Nada foi guardado nem alterado. Exporte o certificado de novo em formato .pfx ou .p12 e envie o novo arquivo.',
}

const dateFormat = new Intl.DateTimeFormat('pt-BR', {
  dateStyle: 'short',
  timeStyle: 'short',
  timeZone: 'America/Sao_Paulo',
})

/**
 * A certificate file that cannot be used; `message` says in Portuguese what happened, what is safe
 * and what to do (DOC-ICP-04; RFC 7292).
 */
export class CertificateError extends Error {
  override name = 'CertificateError'
  readonly problem: CertificateProblem
  /** How many passwords were tried, when none was right. */
  readonly tried: number | undefined

  constructor(problem: CertificateProblem, { at, of, tried }: { at?: Date; of?: string; tried?: number } = {}) {
    const when = at ? dateFormat.format(at).replace(', ', ' às ') : ''
    super(sentences[problem].replace('{at}', when).replace('{of}', () => of ?? ''))
    this.problem = problem
    this.tried = tried
  }
}

const pfxBytesMax = 32 * 1024
const openMsMax = 5_000
// A password costs some milliseconds, unless the file was made to take longer.
const triesMsMax = 10_000
// The time to load the code of a thread does not count as work on the file.
const startMsMax = 60_000
// DOC-ICP-01.01: 2,048 or 4,096. A larger one makes every connection and signature cost seconds.
const keyBitsMax = 4_096

/**
 * Opens a .pfx or .p12 file, old or new encryption, with the first right password (tried for at
 * most ten seconds), and checks that a company can use it now. `cnpj`: the company, if known;
 * `signal` ends the thread. Throws CertificateError (RFC 7292; DOC-ICP-04).
 */
export async function readCertificate(
  pfx: Uint8Array,
  password: string | readonly string[],
  options: { now?: Date; cnpj?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<Certificate> {
  if (pfx.length > pfxBytesMax) throw new CertificateError('too-large')
  const passwords = [password].flat().map((text) => new TextEncoder().encode(text))
  if (passwords.length === 0) throw new CertificateError('wrong-password', { tried: 0 })
  const result = await openPfx({ pfx: new Uint8Array(pfx), passwords, triesMsMax }, options.signal)
  if ('problem' in result) throw new CertificateError(result.problem, 'tried' in result ? result : {})

  const now = options.now ?? new Date()
  const { opened, leaf, holder: found } = choosePair(result.pairs, now, options.cnpj)
  if ((leaf.publicKey.asymmetricKeyDetails?.modulusLength ?? 0) > keyBitsMax) throw new CertificateError('huge-key')
  const { cnpj, person, ...holder } = found
  if (cnpj === null) throw new CertificateError(person ? 'e-cpf' : 'no-cnpj')
  const validFrom = leaf.validFromDate
  const validTo = leaf.validToDate
  if (now > validTo) throw new CertificateError('expired', { at: validTo })
  if (now < validFrom) throw new CertificateError('not-yet-valid', { at: validFrom })
  if (!connects(opened)) throw new CertificateError('unsupported')
  return { cnpj, ...holder, serialNumber: leaf.serialNumber, validFrom, validTo, ...opened }
}

const namedMax = 5

interface Candidate {
  opened: Pair
  leaf: X509Certificate
  holder: CertificateHolder
}

// Picks one pair of a file that also holds the owner's e-CPF or a superseded certificate: a company
// before a person, then the CNPJ base of `wanted`, then valid ones, then the latest expiry.
function choosePair(pairs: readonly Pair[], now: Date, wanted: string | undefined): Candidate {
  let left: Candidate[] = pairs.map((opened) => {
    const leaf = new X509Certificate(opened.certificate)
    return { opened, leaf, holder: readHolder(leaf) }
  })
  const prefer = (isBetter: (candidate: Candidate) => boolean) => {
    if (left.some(isBetter)) left = left.filter(isBetter)
  }
  prefer(({ holder }) => holder.cnpj !== null)
  if (wanted !== undefined) prefer(({ holder }) => holder.cnpj !== null && cnpjBase(holder.cnpj) === cnpjBase(wanted))
  prefer(({ leaf }) => leaf.validFromDate <= now && now <= leaf.validToDate)
  const names = new Map(left.map(({ holder }) => [holder.cnpj, holder.name]))
  if (wanted === undefined && names.size > 1)
    throw new CertificateError('several-companies', {
      of: [...names]
        .slice(0, namedMax)
        .map(([cnpj, name]) => `${name} (${formatCnpj(cnpj ?? '')})`)
        .join(', '),
    })
  return left.reduce((best, one) => (one.leaf.validToDate > best.leaf.validToDate ? one : best))
}

// OpenSSL refuses keys and signatures that are too weak for its security level; better now than at every query.
function connects({ key, certificate, chain }: Pick<Certificate, 'key' | 'certificate' | 'chain'>): boolean {
  try {
    tls.createSecureContext({ key, cert: [certificate, ...chain].join('\n') })
    return true
  } catch {
    return false
  }
}

// Waits for the next file, because starting a thread costs more than opening a file; does not keep the program alive.
let idle: Worker | undefined

function openPfx(input: PfxInput, signal?: AbortSignal): Promise<PfxResult | { problem: 'too-slow' }> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const msMax = input.passwords.length > 1 ? triesMsMax + openMsMax : openMsMax
    let timer = setTimeout(() => end(() => resolve({ problem: 'too-slow' })), idle ? msMax : startMsMax)
    const worker = idle ?? startThread()
    idle = undefined
    worker.ref()
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
    const end = (then: () => void) => {
      settle()
      void worker.terminate()
      then()
    }
    const onAbort = () => end(() => reject(signal?.reason))
    const onError = (error: Error) =>
      end(() => {
        if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ problem: 'unreadable' })
        else reject(error)
      })
    const onExit = () => onError(new Error('the thread of a certificate file ended'))
    const onMessage = (result: PfxResult | 'ready') => {
      clearTimeout(timer)
      if (result === 'ready') timer = setTimeout(() => end(() => resolve({ problem: 'too-slow' })), msMax)
      else {
        settle()
        void idle?.terminate()
        idle = worker
        worker.unref()
        resolve(result)
      }
    }
    signal?.addEventListener('abort', onAbort)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    // Moved, not copied: the thread erases the passwords.
    worker.postMessage(input, [input.pfx.buffer, ...input.passwords.map(({ buffer }) => buffer)])
  })
}

function startThread(): Worker {
  const worker = new Worker(new URL('./certificate-worker.ts', import.meta.url), {
    // At the limit Node adds 16 MB; more young objects than that would end the whole program.
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  })
  const forget = () => {
    if (idle === worker) idle = undefined
  }
  // An error without a listener would end the program.
  return worker.on('error', forget).on('exit', forget)
}
