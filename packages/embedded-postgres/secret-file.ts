import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'

/** The secret kept in `path`; on first use `create` makes it. Two starting processes agree on one value, and a crash never leaves half of it. */
export async function readOrCreateSecret(path: string, create: () => string): Promise<string> {
  const existing = await readSecret(path)
  if (existing !== null) return existing

  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const secret = create()
  try {
    await using file = await open(temporary, 'wx', 0o600)
    await file.writeFile(`${secret}\n`)
    await file.sync()
    // A link, unlike a rename, refuses to replace the file of another process that was faster.
    await link(temporary, path)
    return secret
  } catch (error) {
    const winner = await readSecret(path)
    if (winner === null) throw error
    return winner
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The secret kept in `path`, or null when there is no such file. */
export async function readSecret(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
