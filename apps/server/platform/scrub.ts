/** `value` of a log line without what no log may hold: see the patterns. CNPJ, chave and NSU stay readable. */
export function scrub(value: unknown): unknown {
  if (typeof value === 'string') return scrubText(value)
  if (typeof value === 'number') return /^\d{11}$/.test(String(value)) ? '[CPF]' : value
  if (Array.isArray(value)) return value.map(scrub)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [scrubText(name), secretNames.test(name) ? '[oculto]' : scrub(part)]),
  )
}

const secretNames = /senha|password|passphrase|token|authorization|cookie|secret|certificado|pfx/i

// Longer than any sentence or stack of ours: a body or a document that went astray.
const charactersMax = 8_000

const patterns: [RegExp, string][] = [
  [/-----BEGIN [^-]{1,40}-----[\s\S]*?(?:-----END [^-]{1,40}-----|$)/g, '[PEM]'],
  // Names and passwords in an address of a database or a mail server.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,300}@/gi, '$1[oculto]@'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 [oculto]'],
  // The link of an e-mail, and the call that asks about it.
  [/\/(atualizar-senha|RecuperarSenha)\/(?!atualizar-senha|[:{])[^\s/?#"']+/gi, '/$1/[oculto]'],
  // 32 random bytes: tokens of sessions and links. A chave has 44 characters, a digest 64.
  [/(?<![\w-])(?=[\w-]{0,42}[a-z])(?=[\w-]{0,42}[A-Z])[\w-]{43}(?![\w-])/g, '[token]'],
  // A key for programs.
  [/vigia_[0-9a-f]{64}/g, '[chave de API]'],
  // The domain stays: what goes wrong with mail goes wrong by domain.
  [/(?<![^\s@/<>"'(),;:[\]])[^\s@/<>"'(),;:[\]]+@(?=[^\s@/<>"'(),;:[\]]+\.)/g, '***@'],
  // Eleven digits that stand alone, bare or masked.
  [/(?<![\dA-Za-z])\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}(?![\dA-Za-z])/g, '[CPF]'],
]

function scrubText(text: string): string {
  const short = text.length > charactersMax ? `${text.slice(0, charactersMax)}… [${text.length}]` : text
  return patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), short)
}

// Fields of library errors that hold no values: PostgreSQL's `detail`, `where` and parameters, a
// mailer's addresses and responses and HTTP bodies are left out.
const facts = [
  'code',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
  'kind',
  'status',
  'statusCode',
  'responseCode',
]

const causesMax = 5

/** An error for the log: its kind, place and cause, without values that people sent. */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : { type: typeof error }
  const known = error as Error & Record<string, unknown>
  const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  return {
    type: error.name,
    message: messageOf(known),
    ...Object.fromEntries(facts.filter((name) => isPlain(known[name])).map((name) => [name, known[name]])),
    stack: error.stack?.split('\n').filter((line) => /^\s+at /.test(line)),
    ...(error.cause && depth < causesMax ? { cause: describeError(error.cause, depth + 1) } : {}),
    ...(error instanceof AggregateError && depth < causesMax
      ? { errors: error.errors.slice(0, causesMax).map((part) => describeError(part, depth + 1)) }
      : {}),
  }
}

function messageOf(error: Error & Record<string, unknown>): string {
  // V8 quotes the text that it could not read.
  if (error.name === 'SyntaxError') return 'not readable'
  // PostgreSQL quotes the value that it could not use.
  if (typeof error.severity === 'string' && /^22/.test(String(error.code)))
    return error.message.replace(/"[\s\S]*"/g, '"…"')
  return error.message
}
