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

test('the description is written and compressed once, and who has it already is told so', async () => {
  await using app = Fastify()
  const document = describeApi([health], 'Vigia Fiscal')
  await serveDocs(app, document)
  const accepted = { 'accept-encoding': 'br' }
  for (const url of ['/docs/json', '/docs/yaml', '/docs']) {
    const first = await app.inject({ url, headers: accepted })
    // A later change would be seen if the text were written again.
    document.info.title = `${document.info.title}!`
    const second = await app.inject({ url, headers: accepted })
    expect([second.headers['content-encoding'], second.headers.etag], url).toEqual(['br', first.headers.etag])
    expect(second.rawPayload.equals(first.rawPayload), url).toBe(true)
    const third = await app.inject({ url, headers: { ...accepted, 'if-none-match': String(first.headers.etag) } })
    expect([third.statusCode, third.body], url).toEqual([304, ''])
  }
})
