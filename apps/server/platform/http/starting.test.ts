import { expect, test } from 'vitest'
import { refuseWhileStarting } from './starting.ts'

const config = { port: 0, listenHost: 'localhost', publicUrl: 'http://localhost:3000' }

test('until the program has started, every request is refused with words', async () => {
  await using starting = await refuseWhileStarting(config)
  for (const [method, path] of [
    ['GET', '/health'],
    ['GET', '/dashboard'],
    ['POST', '/v1/api/Auth'],
    ['POST', '/notification-hub/negotiate'],
  ]) {
    const response = await fetch(`http://localhost:${starting.port}${path}`, { method })
    expect(response.status).toBe(503)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '5',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(await response.json()).toMatchObject({ success: false, statusCode: 503, message: expect.any(String) })
  }
})

test('its port is free for the program as soon as it has ended, whoever is connected', async () => {
  const starting = await refuseWhileStarting(config)
  await fetch(`http://localhost:${starting.port}/health`)
  await starting[Symbol.asyncDispose]()
  await using _ = await refuseWhileStarting({ ...config, port: starting.port })
})
