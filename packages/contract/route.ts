import type { z } from 'zod'

/** Callers of a route: everybody, or only the holder of a session token. */
export type Access = 'public' | 'session'

/** Scopes of an API key; each allows the calls that name it. */
export const scopes = ['documentos:ler', 'documentos:responder', 'empresas:ler', 'empresas:gerir', 'exportar'] as const
export type Scope = (typeof scopes)[number]

/** Roles in a workspace, strongest first; `auditor`: `leitura` of some companies, for a time. */
export const memberRoles = ['administrador', 'fiscal', 'leitura', 'auditor'] as const
export type MemberRole = (typeof memberRoles)[number]

/** Whether a person with `role` may make calls that require `atLeast`. */
export function mayAs(role: MemberRole, atLeast: RouteDefinition['atLeast'] = 'administrador'): boolean {
  return atLeast === 'pessoa' || atLeast === 'leitura' || role === 'administrador' || role === atLeast
}

/** Whether a shared login may not make the call, because it changes something for the others who use the login. */
export function refusesShared({ method, shared }: Pick<RouteDefinition, 'method' | 'shared'>): boolean {
  return method !== 'GET' && !shared
}

/** A call of section 7 of the specification, described once for server and browser. */
export interface RouteDefinition {
  method: 'GET' | 'POST' | 'PUT'
  /** Path with `{name}` for parameters, as printed in the specification. */
  path: string
  access: Access
  /** Least role for the call; `pessoa`: about the caller's account. Default: `administrador`. */
  atLeast?: 'pessoa' | 'leitura' | 'fiscal' | 'administrador'
  /**
   * Whether the person must have confirmed their identity in the last ten minutes: `always`, or for
   * inputs for which the function returns true.
   */
  proof?: 'always' | ((input: never) => boolean)
  /** Allowed for shared logins although it is no GET: it changes nothing for other people. */
  shared?: true
  /** Scope that an API key needs for the call; without one, keys cannot make it. */
  scope?: Scope
  /** One Portuguese sentence for the reader of the API. */
  summary: string
  params?: z.ZodType
  query?: z.ZodType
  /** JSON body. */
  body?: z.ZodType
  /** Multipart form; files are `File` objects on both sides. */
  form?: z.ZodType
  /** Shape of `data` in the envelope; absent: null, or the call answers bytes. */
  data?: z.ZodType
  /** The answer is not an envelope but bytes of this media type. */
  produces?:
    | 'application/pdf'
    | 'application/xml'
    | 'application/octet-stream'
    | 'application/zip'
    | 'application/x-pkcs12'
    | 'image/png'
    | 'text/csv'
    | 'text/calendar'
    | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  /** Refusals (HTTP status) for callers to handle, besides those that the definition implies. */
  refusals?: readonly RefusalStatus[]
}

/** A definition as it is written: a call without `access` takes a session. */
type WrittenRoute = Omit<RouteDefinition, 'access'> & { access?: Access }

/**
 * 401 for public calls, 402 plan, 403 missing code or conditional proof, 404 not found, 409
 * conflict, 410 expired, 429 too often.
 */
export type RefusalStatus = 401 | 402 | 403 | 404 | 409 | 410 | 429

/** Keeps the literal types of `definition`. */
export function route<const R extends WrittenRoute>(
  definition: R & { proof?: 'always' | ((input: RouteInput<R>) => boolean) },
): R & { access: R extends { access: 'public' } ? 'public' : 'session' } {
  return { access: 'session', ...definition } as ReturnType<typeof route<R>>
}

type SchemaOutput<S> = S extends z.ZodType ? z.output<S> : undefined
type SchemaInput<S> = S extends z.ZodType ? z.input<S> : undefined

/** Input of a handler, after validation. */
export interface RouteInput<R extends WrittenRoute> {
  params: SchemaOutput<R['params']>
  query: SchemaOutput<R['query']>
  body: SchemaOutput<R['body']>
  form: SchemaOutput<R['form']>
}

/** Input of a caller, before validation. */
export interface RouteRequest<R extends RouteDefinition> {
  params: SchemaInput<R['params']>
  query: SchemaInput<R['query']>
  body: SchemaInput<R['body']>
  form: SchemaInput<R['form']>
}

/** `data` of the envelope of a successful answer. */
export type RouteData<R extends RouteDefinition> = R['data'] extends z.ZodType ? z.output<R['data']> : null

/** Every JSON answer (section 3): `statusCode` is present on failures only. */
export interface Envelope<T> {
  success: boolean
  message: string
  data: T | null
  errors: string[]
  statusCode?: number
}
