import type { RouteDefinition } from '@vigia/contract/route'
import { z } from 'zod'
import { fieldCodes, fieldTexts, introduction, rateTexts, statusTexts, tagTexts } from './openapi-texts.ts'

type Json = Record<string, unknown>

/** A description of the HTTP calls in the terms of OpenAPI 3.1. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Json>
  components: Record<string, Json>
}

/** OpenAPI description of `routes`, from the schemas that validate their calls. */
export function describeApi(routes: readonly RouteDefinition[], productName: string): OpenApiDocument {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = describeRoute(route)
    paths[route.path] = operations
  }
  const used = new Set(routes.map(tagOf))
  return {
    openapi: '3.1.0',
    info: { title: `API do ${productName}`, version: '1.0', description: introduction },
    servers: [{ url: '/' }],
    tags: [...used].map((name) => ({ name, ...(tagTexts[name] ? { description: tagTexts[name] } : {}) })),
    paths,
    components: {
      securitySchemes: {
        sessao: { type: 'http', scheme: 'bearer', description: 'O token que o login devolve.' },
        chave: {
          type: 'http',
          scheme: 'bearer',
          description: 'Uma chave de API (`vigia_…`). As chamadas que a aceitam dizem a permissão de que ela precisa.',
        },
      },
      schemas: { Falha: failure },
      headers: {
        'x-request-id': { description: 'O código desta requisição.', schema: { type: 'string', format: 'uuid' } },
        ...Object.fromEntries(
          Object.entries(rateTexts).map(([name, description]) => [
            name,
            { description: `${description} Só em chamadas com uma chave de API.`, schema: { type: 'integer' } },
          ]),
        ),
      },
      responses: Object.fromEntries(
        Object.keys(statusTexts)
          .filter((status) => status !== '200')
          .map((status) => [`Falha${status}`, describeFailure(Number(status))]),
      ),
    },
  }
}

const failure = {
  type: 'object',
  required: ['success', 'message', 'data', 'errors', 'statusCode'],
  properties: {
    success: { const: false },
    message: { type: 'string', description: 'O que aconteceu, o que está seguro e o que fazer.' },
    data: { type: 'null' },
    errors: { type: 'array', minItems: 1, items: { type: 'string' } },
    statusCode: { type: 'integer' },
  },
  additionalProperties: false,
}

function describeFailure(status: number): Json {
  const retryAfter = { description: 'Segundos a esperar.', schema: { type: 'integer', minimum: 1 } }
  const waits = status === 429 || status === 503
  return {
    description: statusTexts[status],
    headers: { ...identified, ...(waits ? { 'retry-after': retryAfter } : {}) },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Falha' } } },
  }
}

const ref = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })
const limited = Object.assign({}, ...Object.keys(rateTexts).map(ref)) as Json
const identified = { 'x-request-id': { $ref: '#/components/headers/x-request-id' } }

function describeRoute(route: RouteDefinition): Json {
  const body = route.body ?? route.form
  return {
    operationId: operationId(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(route.atLeast && route.atLeast !== 'pessoa' && { description: `Papel mínimo: ${route.atLeast}.` }),
    security: [
      ...(route.access === 'session' ? [{ sessao: [] }] : []),
      ...(route.scope ? [{ chave: [route.scope] }] : []),
    ],
    ...parametersOf(route),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: {
              [route.form ? 'multipart/form-data' : 'application/json']: { schema: toSchema(body, 'input') },
            },
          },
        }
      : {}),
    responses: {
      200: describeSuccess(route),
      ...Object.fromEntries(
        statusesOf(route).map((status) => [status, { $ref: `#/components/responses/Falha${status}` }]),
      ),
    },
  }
}

function parametersOf({ params, query }: RouteDefinition): { parameters?: Json[] } {
  const all = [...describeParameters(params, 'path'), ...describeParameters(query, 'query')]
  return all.length > 0 ? { parameters: all } : {}
}

function describeParameters(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = toSchema(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }))
}

function describeSuccess(route: RouteDefinition): Json {
  const schema = {
    type: 'object',
    required: ['success', 'message', 'data', 'errors'],
    properties: {
      success: { const: true },
      message: { type: 'string' },
      data: route.data ? toSchema(route.data, 'output') : { type: 'null' },
      errors: { type: 'array', maxItems: 0, items: { type: 'string' } },
    },
    additionalProperties: false,
  }
  return {
    description: statusTexts[200],
    headers: { ...identified, ...(route.scope ? limited : {}) },
    content: route.produces
      ? { [route.produces]: { schema: { type: 'string', format: 'binary' } } }
      : { 'application/json': { schema } },
  }
}

// Statuses that follow from the shape of a call, and those that its definition adds.
function statusesOf(route: RouteDefinition): number[] {
  const statuses = new Set<number>([...(route.refusals ?? []), 429, 500, 503])
  if (route.method !== 'GET' || route.params || route.query) statuses.add(400)
  if (route.access === 'session') statuses.add(401).add(403)
  if (route.method !== 'GET') statuses.add(413)
  return [...statuses].sort()
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  // Types that JSON Schema cannot express become `any`.
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return tidy(json) as Json
}

function tidy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(tidy)
  if (typeof schema !== 'object' || schema === null) return schema
  const { contentEncoding, ...rest } = schema as Json
  // Every whole number of JavaScript is within these; they say nothing.
  if (rest.minimum === Number.MIN_SAFE_INTEGER) delete rest.minimum
  if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum
  // Parts of a form carry bytes as they are.
  if (contentEncoding === 'binary') rest.contentMediaType = 'application/octet-stream'
  return Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [
      name,
      name === 'properties' ? describeProperties(part as Record<string, unknown>) : tidy(part),
    ]),
  )
}

function describeProperties(properties: Record<string, unknown>): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const [description, codes] = [fieldTexts[name], fieldCodes(name)]
      const schema = codes ? { type: typeof codes[0], enum: codes } : (tidy(property) as Json)
      return [name, { ...(description ? { description } : {}), ...schema }]
    }),
  )
}

function operationId({ method, path }: RouteDefinition): string {
  const words = path
    .replace(/^\/v1\/api/, '')
    .replace(/\{\w+\}/g, '')
    .split(/[^A-Za-z]+/)
    .filter(Boolean)
  return [method.toLowerCase(), ...words.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('')
}

function tagOf({ path }: RouteDefinition): string {
  return path.replace(/^\/v1\/api/, '').split('/')[1]!
}
