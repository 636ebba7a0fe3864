import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { InstallationError } from '../installation.ts'
import { dictionaryFile, newestDictionary } from './bytes.ts'

/**
 * Puts the dictionaries of this program into the database, and refuses one that has others than the program: with those, documents could not be opened.
 * `client` acts as the owner.
 */
export async function keepDictionaries(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ id: number; content: Buffer }>('select id, content from dictionary')
  const kept = new Map(rows.map(({ id, content }) => [id, content]))
  for (let id = 1; id <= newestDictionary; id++) {
    const file = await readFile(dictionaryFile(id)).catch((cause: unknown) => {
      throw otherDictionary(id, cause)
    })
    const known = kept.get(id)
    if (known && !known.equals(file)) throw otherDictionary(id)
    if (!known) await client.query('insert into dictionary (id, content) values ($1, $2)', [id, file])
    kept.delete(id)
  }
  for (const id of kept.keys()) throw otherDictionary(id)
}

const otherDictionary = (id: number, cause?: unknown) =>
  new InstallationError(
    `O dicionário ${id}, com que documentos deste banco foram compactados, falta neste programa ou é outro. Nada foi alterado: instale de novo a versão publicada, ou use a que gravou este banco.`,
    { cause },
  )
