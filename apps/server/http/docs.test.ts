import { health } from '@vigia/contract/accounts'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { serveDocs } from './docs.ts'
import { describeApi } from './openapi.ts'

test('the page of the description says in which language it is', async () => {
  await using app = Fastify()
  const document = describeApi([health], 'Vigia Fiscal')
  await serveDocs(app, document)
  const page = await app.inject('/docs')
  expect(page.statusCode).toBe(200)
  expect(page.body.match(/<html[^>]*>/g)).toEqual(['<html lang="pt-BR">'])
  expect(Number(page.headers['content-length'])).toBe(Buffer.byteLength(page.body))
  expect((await app.inject('/docs/json')).json()).toMatchObject({ info: document.info })
  expect((await app.inject('/docs/static/swagger-ui.css')).statusCode).toBe(200)
})
