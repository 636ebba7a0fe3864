import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'

/** The secret kept in `path`; on first use `create` makes it. Two starting processes agree on one value, and a crash never leaves half of it. */
export async function readOrCreateSecret(
  path: string,
  create: () => string,
): Promise<{ secret: string; created: boolean }> {
  const existing = await readSecret(path)
  if (existing !== null) return { secret: existing, created: false }

  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const secret = create()
  try {
    await using file = await open(temporary, 'wx', 0o600)
    await file.writeFile(`${secret}\n`)
    await file.sync()
    // A link, unlike a rename, refuses to replace the file of another process that was faster.
    await link(temporary, path)
    return { secret, created: true }
  } catch (error) {
    const winner = await readSecret(path)
    if (winner === null) throw error
    return { secret: winner, created: false }
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
