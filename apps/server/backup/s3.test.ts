import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type BucketServer, startBucketServer } from '../../../tests/support/servers/s3.ts'
import { openBucket } from './s3.ts'
import type { Store } from './store.ts'

const login = { bucket: 'copies', region: 'sa-east-1', keyId: 'ID', secret: 'a secret' }
let server: BucketServer
let store: Store

beforeAll(async () => {
  server = await startBucketServer({ ...login, pageLength: 3 })
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => {
  server.objects.clear()
  server.requests.length = 0
  server.fault = () => null
  server.knowsConditions = true
  store = openBucket({ ...login, endpoint: server.endpoint, prefix: 'vigia/' })
})

const pieces = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)))
const read = async (name: string) => {
  const source = await store.read(name)
  return source && (await buffer(source)).toString()
}

test('what is written is there once, under the prefix, and is listed over as many pages as there are', async () => {
  expect(await store.write('wal/a b', pieces('one', 'two'))).toBe(true)
  expect(await store.write('wal/a b', pieces('three'))).toBe(false)
  expect(await read('wal/a b')).toBe('onetwo')
  expect(await read('wal/none')).toBeNull()
  expect(await store.look('wal/none')).toBeNull()
  expect(await store.look('wal/a b')).toEqual({ bytes: 6, at: expect.any(Date) })
  for (const name of ['1', '2', '3', '4', '5', '6']) await store.write(`wal/${name}`, pieces(name))
  expect(await store.list('wal')).toEqual(['1', '2', '3', '4', '5', '6', 'a b'])
  expect(await store.list('wa')).toEqual([])
  await store.remove('wal')
  expect([...server.objects.keys()]).toEqual(['vigia/conditions'])
})

test('of two who write the same at once one is told that it is not the first', async () => {
  await store.write('first', pieces('x'))
  const outcomes = await Promise.all([store.write('same', pieces('a')), store.write('same', pieces('b'))])
  expect(outcomes.sort()).toEqual([false, true])
})

test('a large file goes in parts, of which one may fail, and comes back over connections that break', async () => {
  const part = Buffer.alloc(1 << 20)
  for (let at = 0; at < part.length; at += 4) part.writeUInt32LE((at * 2_654_435_761) >>> 0, at)
  const source = async function* () {
    for (let n = 0; n < 33; n++) yield part
  }
  let failures = 0
  server.fault = ({ method, query }) =>
    method === 'PUT' && query.has('partNumber') && failures++ === 0 ? { status: 500 } : null
  expect(await store.write('bases/large', source())).toBe(true)
  expect(server.objects.get('vigia/bases/large')!.content.length).toBe(33 << 20)
  expect(server.openUploads()).toBe(0)
  let cuts = 0
  server.fault = ({ method }) => (method === 'GET' && cuts++ < 3 ? { cutAfter: 5_000_000 } : null)
  const back = await buffer((await store.read('bases/large'))!)
  expect(back.equals(server.objects.get('vigia/bases/large')!.content)).toBe(true)
  expect(cuts).toBe(4)
  expect(await store.write('bases/large', source())).toBe(false)
})

test('what fails in the middle leaves nothing', async () => {
  const failing = async function* () {
    for (let n = 0; n < 33; n++) yield Buffer.alloc(1 << 20)
    throw new Error('no more')
  }
  await expect(store.write('half', failing())).rejects.toThrow('no more')
  expect(await store.list('')).not.toContain('half')
  expect(server.objects.has('vigia/half')).toBe(false)
  expect(server.openUploads()).toBe(0)
})

test('a server without conditions is written to, and one that refuses the key is told apart from an empty one', async () => {
  server.knowsConditions = false
  expect(await store.write('a', pieces('x'))).toBe(true)
  expect(await store.write('a', pieces('y'))).toBe(false)
  const other = openBucket({ ...login, secret: 'another', endpoint: server.endpoint, prefix: 'vigia/' })
  await expect(other.look('a')).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
  await expect(other.read('a')).rejects.toThrow('signature')
  const nowhere = openBucket({ ...login, bucket: 'nowhere', endpoint: server.endpoint, prefix: '' })
  await expect(nowhere.list('wal')).rejects.toThrow('NoSuchBucket')
})
