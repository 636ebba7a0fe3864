import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder of its own for a test file, until the last test has ended. */
export async function useFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vigia-test-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
