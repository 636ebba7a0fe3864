import { readFile } from 'node:fs/promises'
import type { Context } from './context.ts'

/** The authorities (PEM) that are trusted besides the usual ones: those of ICP-Brasil, or of the simulator. */
export async function readAuthorities({ sefaz }: Context['config']): Promise<string[]> {
  return Promise.all(sefaz.caFiles.map((file) => readFile(file, 'utf8')))
}
