import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Config } from '../config.ts'
import type { Store } from './store.ts'

type S3Place = NonNullable<NonNullable<Config['backup']>['s3']>

// Two are in memory at a time; a file has 10,000 at most, 320 GB.
const partBytes = 32 << 20
const partsAtOnce = 2
const attempts = 5

/** Copies as objects of a bucket. */
export function openBucket({ endpoint, region, bucket, prefix, keyId, secret }: S3Place): Store {
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId: keyId, secretAccessKey: secret },
    // Servers of others know it.
    forcePathStyle: endpoint !== undefined,
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: 10_000,
      socketTimeout: 120_000,
      requestTimeout: 600_000,
      throwOnRequestTimeout: true,
    },
  })
  const keyOf = (name: string) => prefix + name
  const at = (name: string) => ({ Bucket: bucket, Key: keyOf(name) })
  let condition: Promise<{ IfNoneMatch?: '*' }> | undefined

  // Some refuse the condition, to which nothing can be written then: they are asked once. There, two who write the same at the same moment are not told from each other.
  const askForCondition = async (): Promise<{ IfNoneMatch?: '*' }> => {
    const put = new PutObjectCommand({ ...at('conditions'), Body: 'vigia', IfNoneMatch: '*' })
    const status = await client.send(put).then(() => 200, statusOf)
    return status === 501 ? {} : { IfNoneMatch: '*' }
  }

  const look: Store['look'] = async (name) => {
    try {
      const { ContentLength, LastModified } = await client.send(new HeadObjectCommand(at(name)))
      return { bytes: ContentLength ?? 0, at: LastModified ?? new Date(0) }
    } catch (error) {
      if (statusOf(error) === 404) return null
      throw error
    }
  }

  const list: Store['list'] = async (folder) => {
    const start = keyOf(`${folder}/`)
    const names: string[] = []
    for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: start }))
      for (const { Key = '' } of page.Contents ?? []) names.push(Key.slice(start.length))
    return names
  }

  // A connection that breaks in the middle of a large file is taken up where it was.
  async function* readOn(name: string, first: AsyncIterable<Buffer>, etag: string | undefined): AsyncGenerator<Buffer> {
    let position = 0
    let chunks = first
    for (let failures = 0; ; ) {
      try {
        for await (const chunk of chunks) {
          position += chunk.length
          failures = 0
          yield chunk
        }
        return
      } catch (error) {
        if (++failures === attempts) throw error
        await sleep(200 * 2 ** failures)
        const range = new GetObjectCommand({ ...at(name), Range: `bytes=${position}-`, IfMatch: etag })
        chunks = (await client.send(range)).Body as Readable
      }
    }
  }

  return {
    list,
    look,
    async read(name) {
      try {
        const { Body, ETag } = await client.send(new GetObjectCommand(at(name)))
        return Readable.from(readOn(name, Body as Readable, ETag), { objectMode: false, highWaterMark: 1 << 20 })
      } catch (error) {
        if (statusOf(error) === 404) return null
        throw error
      }
    },
    async write(name, content) {
      if (await look(name)) return false
      condition ??= askForCondition().catch((error: unknown) => {
        condition = undefined
        throw error
      })
      const upload = new Upload({
        client,
        params: { ...at(name), Body: Readable.from(content, { objectMode: false }), ...(await condition) },
        partSize: partBytes,
        queueSize: partsAtOnce,
      })
      try {
        await upload.done()
        return true
      } catch (error) {
        // Its parts are given up when it did not come to its end.
        await upload.abort().catch(() => {})
        if (statusOf(error) === 412) return false
        throw error
      }
    },
    async remove(name) {
      for (const one of [name, ...(await list(name)).map((inside) => `${name}/${inside}`)])
        await client.send(new DeleteObjectCommand(at(one)))
    },
  }
}

function statusOf(error: unknown): number {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
  if (status === undefined) throw error
  return status
}
