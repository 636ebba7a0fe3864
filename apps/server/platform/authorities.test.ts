import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { readAuthorities } from './authorities.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vigia-ca-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const configured = (file: string) => readConfig({ SEFAZ_AMBIENTE: 'homologacao', SEFAZ_CA_FILE: file }, folder)

test('a file that is not there, or holds no certificate, is told by its name', async () => {
  await expect(readAuthorities(configured('falta.pem'))).rejects.toThrow(/falta\.pem.*SEFAZ_CA_FILE/)
  await writeFile(join(folder, 'outro.pem'), 'nada')
  await expect(readAuthorities(configured('outro.pem'))).rejects.toThrow(/outro\.pem não contém certificados/)
})

test('without the variable nothing is added in producao', async () => {
  expect(await readAuthorities(readConfig({ SEFAZ_AMBIENTE: 'homologacao' }, folder))).toEqual([])
})
