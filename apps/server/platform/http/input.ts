import type { RouteDefinition, RouteInput } from '@vigia/contract/route'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { doorLimits } from './door-limits.ts'

/** Characters of one text field of a form. */
export const fieldCharactersMax = 8 * 1024
const nameCharactersMax = 100

// No body of ours is deeper than three; a text of 256 kB can be deeper than any program that looks into it likes.
const depthMax = 20

/** The value of a JSON body; undefined when there is none: a call without a body may still say that it would be JSON. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // V8's message quotes the body, so it is not kept as the cause.
    throw new AppError('invalid-input', 'O corpo da requisição não é um JSON válido.')
  }
  requirePlain(value, depthMax)
  return value
}

function requirePlain(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth === 0) throw new AppError('invalid-input', 'O corpo da requisição tem níveis demais.')
  if (Object.hasOwn(value, '__proto__')) throw new AppError('invalid-input', 'O corpo tem um campo que não é aceito.')
  for (const part of Object.values(value)) requirePlain(part, depth - 1)
}

/** Validates the input of a call against the contract; throws with one sentence per problem. */
export async function readInput(route: RouteDefinition, request: FastifyRequest): Promise<RouteInput<RouteDefinition>> {
  const { query, errors } = readQuery(route.query, request.query as Record<string, unknown>)
  const check = (schema: z.ZodType | undefined, value: unknown) => {
    const result = schema?.safeParse(value, { error: describe })
    if (result && !result.success) errors.push(...result.error.issues.map((issue) => issue.message))
    return result?.data
  }
  if (route.body && request.isMultipart())
    throw new AppError('invalid-input', 'Envie os dados como JSON (application/json).')
  const input = {
    params: check(route.params, request.params),
    query: check(route.query, query),
    body: check(route.body, request.body ?? {}),
    form: route.form ? check(route.form, await readForm(request)) : undefined,
  }
  // PostgreSQL cannot store it in a text, and no form of ours needs it.
  if (hasNul(input)) errors.push('A requisição traz um caractere que não é aceito.')
  if (errors.length > 0)
    throw new AppError('invalid-input', asText([...new Set(errors)]), { errors: [...new Set(errors)] })
  return input as RouteInput<RouteDefinition>
}

// Empty parameters count as omitted. Repeated ones are ambiguous. Unknown ones may be misspelt
// filters: ignoring them would return other documents than requested.
function readQuery(
  schema: z.ZodType | undefined,
  given: Record<string, unknown>,
): { query: Record<string, unknown>; errors: string[] } {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const unknown = Object.keys(given).filter((name) => !names.includes(name))
  const entries = Object.entries(given).filter(([name, value]) => names.includes(name) && value !== '')
  const repeated = entries.filter(([, value]) => Array.isArray(value)).map(([name]) => name)
  return {
    query: Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])),
    errors: [
      ...(unknown.length > 0 ? [unknownText(unknown, names)] : []),
      ...repeated.map((name) => `O parâmetro ${name} foi enviado mais de uma vez.`),
    ],
  }
}

function unknownText(unknown: string[], names: string[]): string {
  const which = unknown.slice(0, 3).map((name) => name.slice(0, 50))
  const accepted = names.length > 0 ? `aceita os parâmetros ${names.join(', ')}` : 'não aceita parâmetros no endereço'
  return `Parâmetro desconhecido: ${which.join(', ')}. Esta chamada ${accepted}.`
}

// The contract's own messages win over this one, which stands for what only the library can say (a missing field, a wrong type).
const describe: z.core.$ZodErrorMap = ({ path = [] }) =>
  path.length > 0 ? `O campo ${path.join('.')} não é válido.` : 'A requisição não é válida.'

// One message stands alone; several become sentences.
function asText(errors: string[]): string {
  if (errors.length === 1) return errors[0]!
  return errors.map((error) => (/[.!?]$/.test(error) ? error : `${error}.`)).join(' ')
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNul)
}

// Files stay in memory: a certificate is never written to a disk as it came.
async function readForm(request: FastifyRequest): Promise<Record<string, string | File>> {
  if (!request.isMultipart())
    throw new AppError('invalid-input', 'Envie os dados como formulário (multipart/form-data).')
  const form: Record<string, string | File> = Object.create(null)
  let bytes = 0
  request.raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  try {
    for await (const part of request.parts()) {
      const name = part.fieldname
      // Each part has a size of its own; all of a form that does not say how large it is arrive together.
      if (bytes > doorLimits.body) throw new AppError('too-large', 'O arquivo enviado é grande demais.')
      if (name.length > nameCharactersMax) throw new AppError('too-large', 'Um campo do formulário é grande demais.')
      if (name in form) throw new AppError('invalid-input', `O campo ${name.slice(0, 50)} foi enviado mais de uma vez.`)
      if (part.type === 'file') form[name] = new File([new Uint8Array(await part.toBuffer())], part.filename)
      else if (part.valueTruncated) throw new AppError('too-large', 'Um campo do formulário é grande demais.')
      else form[name] = String(part.value)
    }
  } catch (cause) {
    // Errors of the library with a status get their text where all refusals do.
    if (cause instanceof AppError || (cause as { statusCode?: number }).statusCode) throw cause
    throw new AppError('invalid-input', 'Não conseguimos ler o formulário enviado.', { cause })
  }
  return form
}
