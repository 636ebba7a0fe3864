import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Config } from '../../config.ts'
import { InstallationError } from '../../platform/installation.ts'
import type { Contents } from './contents.ts'
import { seal, unseal } from './sealed.ts'

export type BackupPlace = NonNullable<Config['backup']>

/** Record kept beside a copy. */
interface CopyRecord {
  endedAt: Date
  /** Counts of the database when the copy began. */
  contents: Contents
}

export interface Copy extends CopyRecord {
  name: string
  bytes: number
}

// Files of the folder: `installation` names the installation that the copies are of, and opens with
// their key alone. A copy is NAME.cluster, then NAME.record; NAME.tried marks a trial restore.
const claimName = 'installation'
const copyName = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}$/
const copiesKept = 30
const dayMs = 86_400_000

/** Makes the folder one of copies of this installation; then as `requireClaim`. */
export async function claimPlace(place: BackupPlace, installation: string): Promise<void> {
  await mkdir(place.directory, { recursive: true, mode: 0o700 })
  if (!(await isClaimed(place)))
    await seal(Readable.from([Buffer.from(installation)]), join(place.directory, claimName), place.key, claimName)
  await requireClaim(place, installation)
}

export async function isClaimed({ directory }: BackupPlace): Promise<boolean> {
  return (await stat(join(directory, claimName)).catch(absent)) !== null
}

/** Makes sure that the folder is of this installation, and its key the one of the settings: nothing is written to an empty folder where a disk is mounted. */
export async function requireClaim(place: BackupPlace, installation: string): Promise<void> {
  if (!(await isClaimed(place)))
    throw new InstallationError(
      `Em ${place.directory} não estão as cópias desta instalação: ou o disco delas não está montado, ou elas ainda não começaram (na primeira vez: npm run admin -- backup iniciar). Nada foi gravado lá.`,
    )
  const claimed = await unseal(join(place.directory, claimName), place.key, claimName, buffer).catch((cause) => {
    // An unreadable disk proves nothing about the key.
    if (!(cause instanceof InstallationError)) throw cause
    throw new InstallationError(
      `BACKUP_KEY não é a chave das cópias que estão em ${place.directory}. Nada foi alterado: use a chave com que foram feitas, ou outra pasta em BACKUP_DIR.`,
      { cause },
    )
  })
  if (claimed.toString() !== installation)
    throw new InstallationError(
      `A pasta ${place.directory} guarda as cópias de outra instalação. Nada foi alterado: use em BACKUP_DIR uma pasta para cada uma.`,
    )
}

/** Keeps a copy: `tar` first, then what `record` says when it has ended, without which it is none. */
export async function writeCopy(place: BackupPlace, tar: Readable, record: () => Promise<CopyRecord>): Promise<Copy> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const name = `${time}-${randomBytes(4).toString('hex')}`
  const [cluster, beside] = [`${name}.cluster`, `${name}.record`]
  try {
    await seal(tar, join(place.directory, cluster), place.key, cluster)
    const written = await record()
    await seal(Readable.from([Buffer.from(JSON.stringify(written))]), join(place.directory, beside), place.key, beside)
    return { name, bytes: (await stat(join(place.directory, cluster))).size, ...written }
  } catch (error) {
    await removeCopy(place, name).catch(() => {})
    throw error
  }
}

interface Begun {
  name: string
  at: Date
}

/** When the copies began, as their names say, the oldest first, and which of them were restored for a trial. */
export async function listCopyTimes({ directory }: BackupPlace): Promise<{ copies: Begun[]; tried: Begun[] }> {
  const names = (await readdir(directory).catch(absent)) ?? []
  const ending = (end: string) =>
    names
      .filter((name) => name.endsWith(end))
      .map((name) => name.slice(0, -end.length))
      .filter((name) => copyName.test(name))
      .sort()
      .map((name) => ({ name, at: startOf(name) }))
  return { copies: ending('.record'), tried: ending('.tried') }
}

const startOf = (name: string) => new Date(name.replace(copyName, '$1-$2-$3T$4:$5:$6Z'))

/** Copies, the oldest first; `damaged` has the names of those that do not open. */
export async function listCopiesIn(place: BackupPlace): Promise<{ copies: Copy[]; damaged: string[] }> {
  const found: { copies: Copy[]; damaged: string[] } = { copies: [], damaged: [] }
  for (const { name } of (await listCopyTimes(place)).copies) {
    try {
      const [cluster, beside] = [`${name}.cluster`, `${name}.record`]
      const record: CopyRecord = JSON.parse(
        (await unseal(join(place.directory, beside), place.key, beside, buffer)).toString(),
      )
      const { size } = await stat(join(place.directory, cluster))
      const contents = { ...record.contents, markedAt: new Date(record.contents.markedAt) }
      found.copies.push({ name, bytes: size, endedAt: new Date(record.endedAt), contents })
    } catch {
      found.damaged.push(name)
    }
  }
  return found
}

/** Hands the archive of a copy to `read`. */
export async function readCluster(
  { directory, key }: BackupPlace,
  { name }: Copy,
  read: (tar: AsyncIterable<Buffer>) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const file = `${name}.cluster`
  await unseal(join(directory, file), key, file, read, signal)
}

/** Writes down that a copy was restored for a trial. */
export async function noteTried({ directory }: BackupPlace, { name }: Copy): Promise<void> {
  await writeFile(join(directory, `${name}.tried`), '', { mode: 0o600 })
}

/** Removes sound copies except the thirty newest, and remains of interrupted ones. */
export async function prune(place: BackupPlace): Promise<string[]> {
  const { copies } = await listCopiesIn(place)
  const removed = copies.slice(0, -copiesKept).map(({ name }) => name)
  for (const name of removed) await removeCopy(place, name)
  const names = await readdir(place.directory)
  for (const name of names) {
    const [own] = name.split('.')
    const isCut = copyName.test(own!) && !names.includes(`${own}.record`)
    if (isCut && Date.now() - startOf(own!).getTime() > 2 * dayMs)
      await rm(join(place.directory, name), { force: true })
  }
  return removed
}

// Without its record there is no copy, whatever happens next.
async function removeCopy({ directory }: BackupPlace, name: string): Promise<void> {
  for (const end of ['record', 'tried', 'cluster']) await rm(join(directory, `${name}.${end}`), { force: true })
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
