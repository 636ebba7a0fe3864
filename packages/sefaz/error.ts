/**
 * Kinds of failure of a call to a web service that returned no cStat (MOC CT-e 4.00 §3.2, padrões
 * de comunicação).
 */
export type SefazErrorKind =
  | 'unreached'
  | 'tls-chain'
  | 'encryption'
  | 'certificate'
  | 'forbidden'
  | 'timeout'
  | 'refused'
  | 'http'
  | 'not-xml'
  | 'fault'

interface Explanation {
  /** A clause without its period. */
  happened: string
  /** Advice for the operator of the system. */
  todo: string
}

const nothingToDo =
  'nada: a captura tenta de novo sozinha. Se durar mais de um dia, confira se há uma versão nova do programa.'
const networkTodo =
  'confira a conexão com a internet, o DNS e se um firewall deixa sair conexões desta máquina para a porta 443.'
const interceptionTodo =
  'veja com npm run sefaz -- hosts quem responde nesse endereço; se um proxy ou antivírus inspeciona as conexões desta máquina, tire dele os endereços da SEFAZ.'
const clockTodo = 'acerte o relógio desta máquina; se ele estiver certo, a falha é do servidor e só a SEFAZ a corrige.'

// The first entry of a kind whose pattern is in the detail; the last one has none.
const explanations: Record<SefazErrorKind, readonly (Explanation & { detail?: RegExp })[]> = {
  unreached: [
    {
      detail: /ENOTFOUND|EAI_AGAIN/,
      happened: 'o endereço do servidor da SEFAZ não foi encontrado, e nada foi enviado',
      todo: networkTodo,
    },
    {
      happened: 'o servidor da SEFAZ não atende às conexões deste sistema, e nada foi enviado',
      todo: networkTodo,
    },
  ],
  'tls-chain': [
    {
      detail: /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
      happened:
        'o servidor da SEFAZ não mostrou o certificado da autoridade que emitiu o dele e, por segurança, nada foi enviado',
      todo: 'npm run sefaz -- autoridades busca o certificado que falta; depois inicie o programa de novo. A falha é do servidor da SEFAZ.',
    },
    {
      detail: /NOT_YET_VALID/,
      happened:
        'o certificado do servidor da SEFAZ ainda não vale, ou o relógio deste sistema está atrasado, e por segurança nada foi enviado',
      todo: clockTodo,
    },
    {
      detail: /EXPIRED/,
      happened:
        'o certificado do servidor da SEFAZ venceu, ou o relógio deste sistema está adiantado, e por segurança nada foi enviado',
      todo: clockTodo,
    },
    {
      detail: /ALTNAME|HOSTNAME/,
      happened: 'o servidor que respondeu não provou ser o da SEFAZ e, por segurança, nada foi enviado',
      todo: interceptionTodo,
    },
    {
      happened: 'não conseguimos confirmar a identidade do servidor da SEFAZ e, por segurança, nada foi enviado',
      todo: `npm run sefaz -- autoridades busca as autoridades da ICP-Brasil que faltam, e SEFAZ_CA_FILE acrescenta outras; depois inicie o programa de novo. Se não bastar, ${interceptionTodo}`,
    },
  ],
  encryption: [
    {
      detail: /wrong version number|packet length|http request|record layer/i,
      happened:
        'o servidor da SEFAZ, ou um proxy no caminho, respondeu sem criptografia, e por segurança nada foi enviado',
      todo: interceptionTodo,
    },
    {
      happened:
        'o servidor da SEFAZ não oferece uma criptografia que se possa aceitar, e por segurança nada foi enviado',
      todo: `nenhum certificado precisa ser trocado: a falha é do servidor, e só quem cuida dele a corrige. Se um proxy ou antivírus inspeciona as conexões desta máquina, tire dele os endereços da SEFAZ.`,
    },
  ],
  certificate: [
    {
      happened: 'a SEFAZ recusou este certificado digital ao abrir a conexão',
      todo: 'confira se o certificado está válido e não foi revogado; se estiver em ordem, exporte-o de novo com a cadeia completa e envie-o.',
    },
  ],
  forbidden: [
    {
      happened: 'o servidor da SEFAZ não viu ou não aceitou o certificado digital (erro 403)',
      todo: 'confira a validade, a revogação e se o arquivo traz a cadeia completa; se estiver em ordem, espere meia hora: o servidor pode ainda não conhecer a autoridade que emitiu o certificado.',
    },
  ],
  timeout: [
    {
      happened: 'a SEFAZ demorou demais para responder',
      todo: 'nada, se acontecer uma vez: o serviço está sobrecarregado. Se acontecer sempre, confira a rede desta máquina.',
    },
  ],
  refused: [
    {
      happened: 'a conexão com a SEFAZ foi interrompida',
      todo: 'tente de novo em alguns minutos; se acontecer sempre, confira se um firewall ou proxy interfere.',
    },
  ],
  http: [{ happened: 'o servidor da SEFAZ respondeu com um erro', todo: nothingToDo }],
  'not-xml': [
    {
      happened: 'a resposta da SEFAZ não veio no formato esperado',
      todo: 'nada, se durar pouco: costuma ser uma página de manutenção. Se durar, confira se a rede desta máquina passa por um proxy.',
    },
  ],
  fault: [{ happened: 'o serviço da SEFAZ não conseguiu atender a mensagem', todo: nothingToDo }],
}

/** Explains a failure to people; null for an unknown kind. */
export function explainFailure(kind: string, detail = ''): Explanation | null {
  if (!Object.hasOwn(explanations, kind)) return null
  return explanations[kind as SefazErrorKind].find((one) => one.detail?.test(detail) ?? true) ?? null
}

// The holder of a certificate can mend these.
const advice: Partial<Record<SefazErrorKind, string>> = {
  certificate:
    ' Confira se o certificado está válido e não foi revogado; se estiver em ordem, envie-o de novo com a cadeia completa.',
  forbidden:
    ' Confira se o certificado está válido e não foi revogado e se o arquivo traz a cadeia completa; se estiver em ordem, não é preciso trocá-lo.',
}

/** Whether the service failed, which affects all companies; others concern one certificate. */
export function isOfTheHost({ kind }: Pick<SefazError, 'kind'>): boolean {
  return kind !== 'forbidden' && kind !== 'certificate'
}

/** Whether the same call may succeed later although nobody mends a certificate, a chain or a server. */
export function isOfTheNetwork({ kind }: Pick<SefazError, 'kind'>): boolean {
  return kind === 'unreached' || kind === 'timeout' || kind === 'refused'
}

// Nothing of a message leaves before the connection is secured.
const neverSent: ReadonlySet<SefazErrorKind> = new Set(['unreached', 'tls-chain', 'encryption'])

const bodyCharactersMax = 4096

/** A failed conversation with the web service; `message` is a Portuguese sentence for the person, `detail` and `cause` are for the log (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export class SefazError extends Error {
  override name = 'SefazError'
  readonly kind: SefazErrorKind
  /** False when it failed before the first byte of the message left. */
  readonly sent: boolean
  readonly status?: number
  /** The response body, cut to some KB. */
  readonly body?: string
  /** Technical reason: a network code, OpenSSL's reason, the reason of a SOAP Fault. */
  readonly detail?: string

  constructor(
    kind: SefazErrorKind,
    options: {
      cause?: unknown
      sent?: boolean
      status?: number
      body?: Uint8Array
      detail?: string
    } = {},
  ) {
    const { happened } = explainFailure(kind, options.detail)!
    super(
      `${happened[0]!.toUpperCase()}${happened.slice(1)}. Nada do que já foi recebido se perdeu.${advice[kind] ?? ''}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.kind = kind
    this.sent = options.sent ?? !neverSent.has(kind)
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
