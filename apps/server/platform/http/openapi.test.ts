import type { RouteDefinition } from '@vigia/contract/route'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { routes } from '../../start.ts'
import { describeApi } from './openapi.ts'
import { fieldTexts, tagTexts } from './openapi-texts.ts'

const contract: RouteDefinition[] = routes.map(({ route }) => route)
const document = describeApi(contract, 'Vigia Fiscal')

interface Operation {
  tags: string[]
  security: object[]
  responses: Record<string, object>
}

const operations = contract.map((route) => ({
  route,
  operation: document.paths[route.path]?.[route.method.toLowerCase()] as Operation,
}))

test('every tag has words', () => {
  const tags = new Set(operations.flatMap(({ operation }) => operation.tags))
  expect([...tags].filter((tag) => !tagTexts[tag])).toEqual([])
})

test('every field of a request has words', () => {
  const names = contract
    .flatMap(({ params, query, body, form }) => [params, query, body, form])
    .flatMap((schema) => (schema ? fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })) : []))
  expect([...new Set(names)].filter((name) => !fieldTexts[name])).toEqual([])
})

test('a session is asked for where it is needed, and its absence is an answer there', () => {
  for (const { route, operation } of operations) {
    const key = route.scope ? [{ chave: [route.scope] }] : []
    expect(operation.security, route.path).toEqual(route.access === 'session' ? [{ sessao: [] }, ...key] : [])
    if (route.access === 'session') expect(Object.keys(operation.responses)).toContain('401')
  }
})

test('every number and every switch of a request is taken as a text too', () => {
  for (const { path, query, body, form } of contract)
    for (const schema of [query, body, form])
      if (schema) expect(strictOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })), path).toEqual([])
})

// The names of fields that take a number or a switch, and no text.
function strictOf(schema: unknown, name = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { type, anyOf } = schema as { type?: unknown; anyOf?: { type?: unknown }[] }
  if (anyOf?.some((one) => one.type === 'string')) return []
  if (type === 'number' || type === 'integer' || type === 'boolean') return [name]
  return Object.entries(schema).flatMap(([name, part]) => strictOf(part, name))
}

function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, part]) => [
    ...(name === 'properties' ? Object.keys(part as object) : []),
    ...fieldsOf(part),
  ])
}
