import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '../../config.ts'
import { createSigner } from '../../operations/signer/in-process.ts'
import { wrapWithKey } from '../../operations/signer/wrapping.ts'
import type { Signer } from './signer.ts'

/** A signer over the database of a test, in its process; it connects when it is asked for the first time, and its connections end by themselves. */
export function testSigner(
  url: string,
  {
    config = readConfig({}, '/'),
    masterKey = Buffer.alloc(32, 7),
  }: { config?: Pick<Config, 'sefaz'>; masterKey?: Buffer } = {},
): Signer & AsyncDisposable {
  return createSigner({ url, config, wrapper: wrapWithKey(masterKey) })
}

/** A file with an authority, as `caFiles` of a configuration names it. */
export async function authorityFile(pem: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'vigia-authority-')), 'ca.pem')
  await writeFile(path, pem)
  return path
}
