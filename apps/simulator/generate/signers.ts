import { createPrivateKey, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CertificationAuthority, type IssuedCertificate, newPrivateKey } from '../certificates.ts'

/** Signing certificates of generated issuers, on a few key pairs, because creating one is slow. */
export interface Signers {
  signerOf(taxpayer: { cnpj: string; nome: string; place: { uf: string } }): Promise<IssuedCertificate>
}

const keyCount = 3

export async function openSigners(
  directory: string,
  certification: CertificationAuthority,
  now: number,
): Promise<Signers> {
  const folder = join(directory, 'signers')
  mkdirSync(folder, { recursive: true })
  const keys: KeyObject[] = readdirSync(folder)
    .sort()
    .map((file) => createPrivateKey(readFileSync(join(folder, file))))
  while (keys.length < keyCount) {
    const key = await newPrivateKey()
    const file = join(folder, `${keys.length}.key`)
    if (!existsSync(file)) writeFileSync(file, key.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    keys.push(key)
  }
  const issued = new Map<string, Promise<IssuedCertificate>>()
  return {
    signerOf: ({ cnpj, nome, place }) => {
      const known = issued.get(cnpj)
      if (known !== undefined) return known
      const made = certification.issue({ cnpj, nome, uf: place.uf }, now, keys[issued.size % keys.length])
      issued.set(cnpj, made)
      return made
    },
  }
}
