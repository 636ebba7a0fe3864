import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { start } from '@vigia/simulator/start'
import { askForAll, weeksAgo } from './authority.ts'

const companies = [
  { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' },
  { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' },
  { cnpj: '11222333000181', nome: 'EMPRESA BETA LTDA', uf: 'RJ' },
]

/** Fills `folder` with the documents and events that a simulator generates for three companies, one XML file each. */
export async function generateArchive(folder: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-generator-'))
  try {
    await using simulator = await start({ port: 0, directory, seed: 7, since: weeksAgo(), companies })
    for (const company of companies) {
      for (const { service, nsu, content } of await askForAll(simulator, company)) {
        await writeFile(join(folder, `${company.cnpj}-${service}-${nsu}.xml`), unzipDocument(content))
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
