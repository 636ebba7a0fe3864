import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { carriedAuthorities, pinnedAuthorities } from '@vigia/sefaz/chain'
import { expect, test } from 'vitest'
import { useFolder } from '../../../tests/support/folder.ts'
import { readConfig } from '../config.ts'
import { readAuthorities } from './authorities.ts'

const real = { SEFAZ_AMBIENTE: 'homologacao', CADASTRO: 'aberto', PLANOS: 'ligados' }
const folder = await useFolder()
const outside = readConfig({ ...real, DATA_DIR: folder }, folder)

const configured = (file: string) => readConfig({ ...real, SEFAZ_CA_FILE: file }, folder)

test('a file that is not there, or holds no certificate, is told by its name', async () => {
  await expect(readAuthorities(configured('falta.pem'))).rejects.toThrow(/falta\.pem.*SEFAZ_CA_FILE/)
  await writeFile(join(folder, 'outro.pem'), 'nada')
  await expect(readAuthorities(configured('outro.pem'))).rejects.toThrow(/outro\.pem não contém certificados/)
})

test('a file that was half copied is told and none of it is used', async () => {
  const [whole, other] = carriedAuthorities
  await writeFile(join(folder, 'metade.pem'), `${whole}${other!.slice(0, 900)}`)
  await expect(readAuthorities(configured('metade.pem'))).rejects.toThrow(/metade\.pem está incompleto ou danificado/)
})

test('the carried authorities are pinned, and SEFAZ_CA_FILE adds to them', async () => {
  const digests = carriedAuthorities.map((pem) => new X509Certificate(pem).fingerprint256)
  expect(pinnedAuthorities.map(({ sha256 }) => sha256)).toEqual(expect.arrayContaining(digests))
  expect(await readAuthorities(outside)).toEqual(carriedAuthorities)
  await writeFile(join(folder, 'own.pem'), rootCertificates[0]!)
  expect(await readAuthorities(configured('own.pem'))).toEqual([...carriedAuthorities, rootCertificates[0]])
})
