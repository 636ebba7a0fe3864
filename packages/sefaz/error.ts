/** What went wrong between us and the web service when there is no cStat to look at (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export type SefazErrorKind =
  | 'timeout'
  | 'refused'
  | 'tls-chain'
  | 'handshake'
  | 'forbidden'
  | 'http'
  | 'not-xml'
  | 'fault'

const explanations: Record<SefazErrorKind, string> = {
  timeout: 'A SEFAZ demorou demais para responder. Nada do que já foi recebido se perdeu.',
  refused:
    'Não conseguimos falar com a SEFAZ: a conexão não foi aceita ou foi interrompida. Nada do que já foi recebido se perdeu.',
  'tls-chain':
    'Não conseguimos confirmar a identidade do servidor da SEFAZ e, por segurança, nada foi enviado. Quem administra o sistema precisa incluir a cadeia de certificados da ICP-Brasil.',
  handshake:
    'A SEFAZ não aceitou a conexão segura com este certificado. Nada do que já foi recebido se perdeu. Confira se o certificado está válido e não foi revogado; se estiver em ordem, envie-o de novo com a cadeia completa.',
  forbidden:
    'A SEFAZ não permitiu o acesso com este certificado. Nada do que já foi recebido se perdeu. Confira se o certificado está válido.',
  http: 'O servidor da SEFAZ respondeu com um erro. Nada do que já foi recebido se perdeu.',
  'not-xml': 'A resposta da SEFAZ não veio no formato esperado. Nada do que já foi recebido se perdeu.',
  fault: 'O serviço da SEFAZ não conseguiu atender a mensagem. Nada do que já foi recebido se perdeu.',
}

// A retry does not help: a certificate, a chain or an address has to be changed first.
const definitive: ReadonlySet<SefazErrorKind> = new Set(['tls-chain', 'handshake'])

const bodyCharactersMax = 4096

/** A failed conversation with the web service; `message` is a Portuguese sentence for the person, `detail` and `cause` are for the log (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export class SefazError extends Error {
  override name = 'SefazError'
  readonly kind: SefazErrorKind
  /** True when the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean
  readonly status?: number
  /** What came back, cut to some KB. */
  readonly body?: string
  /** Technical reason: a network code, the reason of a SOAP Fault. */
  readonly detail?: string

  constructor(
    kind: SefazErrorKind,
    options: { cause?: unknown; retryable?: boolean; status?: number; body?: Uint8Array; detail?: string } = {},
  ) {
    super(explanations[kind], options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.retryable = options.retryable ?? !definitive.has(kind)
    if (options.status !== undefined) this.status = options.status
    if (options.detail !== undefined) this.detail = options.detail
    if (options.body !== undefined) this.body = Buffer.from(options.body.subarray(0, bodyCharactersMax)).toString()
  }
}

/** A message that did not leave, because the sender no longer wanted it to when the connection was there; nothing reached the authority (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export class UnsentError extends Error {
  override name = 'UnsentError'

  constructor() {
    super('the message was ready too late and was not sent')
  }
}

/** A docZip that holds more than any document of the layouts does, and more than is read; `message` is a Portuguese sentence for the person (NT 2014.002, docZip). */
export class DocumentTooLargeError extends Error {
  override name = 'DocumentTooLargeError'

  constructor(options?: { cause?: unknown }) {
    super('O arquivo tem mais de 20 MB depois de descompactado.', options)
  }
}
