import { generateKeyPairSync } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { createSigner } from './in-process.ts'
import type { Signer } from './signer.ts'
import { wrapWithKey } from './wrapping.ts'

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

/** A program that wraps keys as that of an operator does: with an RSA key, which `folder` holds and nothing of ours ever sees. */
export async function keyProgram(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const program = join(folder, 'wrap-keys')
  const padding = '-pkeyopt rsa_padding_mode:oaep'
  await writeFile(
    program,
    `#!/bin/sh
case "$1" in
  wrap) exec openssl pkeyutl -encrypt ${padding} -inkey '${folder}/key.pem' ;;
  unwrap) exec openssl pkeyutl -decrypt ${padding} -inkey '${folder}/key.pem' ;;
esac
exit 1
`,
    { mode: 0o700 },
  )
  return program
}
