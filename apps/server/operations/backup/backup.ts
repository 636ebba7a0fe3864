import { mkdir, mkdtemp, rename, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { takeBaseBackup } from '@vigia/embedded-postgres/backup'
import { syncFolder } from '@vigia/embedded-postgres/durable'
import { sharePostgres, startPostgres } from '@vigia/embedded-postgres/postgres'
import { unpackTar } from '@vigia/embedded-postgres/tar'
import type { Config } from '../../config.ts'
import { liftVersions } from '../../documents/changes.ts'
import { hold } from '../../events/hold.ts'
import { openDatabase } from '../../platform/database.ts'
import { embeddedCluster, InstallationError } from '../../platform/installation.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { type Contents, readContents } from './contents.ts'
import {
  type BackupPlace,
  type Copy,
  claimPlace,
  isClaimed,
  listCopiesIn,
  noteTried,
  prune,
  readCluster,
  requireClaim,
  writeCopy,
} from './copies.ts'

type Step = (text: string) => void

function placeOf({ backup, databaseUrl }: Pick<Config, 'backup' | 'databaseUrl'>): BackupPlace {
  if (databaseUrl)
    throw new InstallationError(
      'O banco de dados é o de DATABASE_URL, e as cópias dele são feitas com as ferramentas do PostgreSQL (pgBackRest, WAL-G): docs/run/operations.md. Nada foi alterado.',
    )
  if (backup) return backup
  throw new InstallationError(
    'Faltam BACKUP_DIR, a pasta das cópias de segurança (em outro disco ou outra máquina), e BACKUP_KEY, a chave que as cifra (faça uma com: openssl rand -base64 32). Nada foi alterado.',
  )
}

/**
 * Prepares the folder of the settings for copies of this installation, before the first. Refuses a
 * folder on the disk of the database unless `sameDisk`: an unmounted disk would look like that.
 */
export async function beginCopies(
  config: Config,
  { sameDisk }: { sameDisk: boolean },
  step: Step = () => {},
): Promise<void> {
  const place = placeOf(config)
  const cluster = embeddedCluster(config)
  await requireCluster(cluster.directory)
  if (!sameDisk && !(await isClaimed(place)) && (await isOnDisk(place, cluster.directory)))
    throw new InstallationError(
      `A pasta ${place.directory} está no mesmo disco que o banco de dados: ou o disco das cópias não está montado, ou quem perde um perde as duas. Nada foi alterado: monte o outro disco, ou diga que deve ser assim com --mesmo-disco.`,
    )
  await using server = await sharePostgres({ ...cluster, log: step })
  await claimPlace(place, (await readContents(server.url)).installation)
}

// The folder itself may not be there yet.
async function isOnDisk({ directory }: BackupPlace, other: string): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null)
    if (found) return found.dev === (await stat(other)).dev
  }
}

/** Copies the whole cluster, running or not, to the folder of copies; then removes those that are too many. */
export async function backUp(
  config: Config,
  step: Step = () => {},
  signal?: AbortSignal,
): Promise<{ copy: Copy; removed: string[] }> {
  const place = placeOf(config)
  const cluster = embeddedCluster(config)
  await requireCluster(cluster.directory)
  await using server = await sharePostgres({ ...cluster, log: step })
  const contents = await readContents(server.url)
  await requireClaim(place, contents.installation)
  step('Copiando o banco de dados…')
  const { tar, ended } = await takeBaseBackup(server.url)
  using _ = onAbort(signal, () => tar.destroy(new Error('the copy was cut off because the program ends')))
  const copy = await writeCopy(place, tar, async () => {
    await ended
    return { endedAt: new Date(), contents }
  })
  return { copy, removed: await prune(place) }
}

function onAbort(signal: AbortSignal | undefined, act: () => void): Disposable {
  if (signal?.aborted) act()
  signal?.addEventListener('abort', act, { once: true })
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', act) }
}

// An empty installation would be made otherwise.
async function requireCluster(directory: string): Promise<void> {
  if (await stat(directory).catch(() => null)) return
  throw new InstallationError(
    `Em ${directory} não há um banco de dados para copiar. Nada foi alterado: confira DATA_DIR.`,
  )
}

/** Copies in the folder, and damaged ones. */
export async function listCopies(config: Config): Promise<{ copies: Copy[]; damaged: string[]; place: string }> {
  const place = placeOf(config)
  return { ...(await listCopiesIn(place)), place: place.directory }
}

export interface Restored {
  copy: Copy
  contents: Contents
}

/** Restores a copy (absent: the newest) into a folder of its own, reads all of it, and removes it. */
export async function tryRestore(
  config: Config,
  name?: string,
  step: Step = () => {},
  signal?: AbortSignal,
): Promise<Restored> {
  const place = placeOf(config)
  await using temporary = await makeFolder(config)
  const restored = await recover(config, join(temporary.path, 'postgres'), name, step, signal)
  await noteTried(place, restored.copy)
  return restored
}

/**
 * Restores the database from a copy (absent: the newest), and holds events and mails that may have
 * left after it. Never overwrites: an existing database is refused.
 */
export async function restore(config: Config, name?: string, step: Step = () => {}): Promise<Restored> {
  const cluster = embeddedCluster(config)
  await refuseToReplace(cluster.directory)
  await using temporary = await makeFolder(config)
  const made = join(temporary.path, 'postgres')
  const restored = await recover(config, made, name, step)
  {
    await using server = await startPostgres({ directory: made, log: step })
    await prepareRestored(server.url, restored.copy.endedAt)
  }
  await refuseToReplace(cluster.directory)
  // It fails when there is something: a folder takes the place of an empty one only.
  await rename(made, cluster.directory)
  await rename(`${made}.password`, `${cluster.directory}.password`)
  await syncFolder(dirname(cluster.directory))
  return restored
}

/** Holds what may have left since the copy, before the database at `url` takes the place of a newer one. */
export async function prepareRestored(url: string, copiedAt: Date): Promise<void> {
  await migrate(url)
  const db = openDatabase(url)
  try {
    await hold(
      { db },
      `O sistema voltou de uma cópia de segurança de ${formatBrasiliaMoment(copiedAt)} (horário de Brasília), e busca na SEFAZ o que falta. O que foi mudado aqui depois dela (cadastros, certificados, opções, senhas, anotações) precisa ser feito de novo.`,
    )
    await liftVersions({ db })
  } finally {
    await db.destroy()
  }
}

async function refuseToReplace(directory: string): Promise<void> {
  if (!(await stat(directory).catch(() => null))) return
  throw new InstallationError(
    `Em ${directory} já há um banco de dados, e uma restauração não substitui nenhum. Nada foi alterado. Pare o programa e mude o nome dessa pasta (por exemplo, para ${basename(directory)}-antes): ela pode ainda ter o que a cópia não tem.`,
  )
}

// Removed by the next start if this process is killed.
async function makeFolder({ dataDir }: Config): Promise<AsyncDisposable & { path: string }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = await mkdtemp(join(dataDir, `postgres.new-${process.pid}-`))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

async function recover(
  config: Config,
  directory: string,
  name: string | undefined,
  step: Step,
  signal?: AbortSignal,
): Promise<Restored> {
  const place = placeOf(config)
  const copy = await chooseCopy(place, name)
  await requireRoom(config, copy)
  step(`Abrindo a cópia ${copy.name}…`)
  await mkdir(directory, { mode: 0o700 })
  await readCluster(place, copy, (tar) => unpackTar(tar, directory), signal)
  await using server = await startPostgres({ directory, log: step })
  using _ = onAbort(signal, () => void server[Symbol.asyncDispose]())
  step('Contando o que foi restaurado…')
  const contents = await readContents(server.url)
  const wanted = copy.contents
  if (contents.installation !== wanted.installation || contents.markedAt < wanted.markedAt)
    throw new InstallationError(
      `A cópia ${copy.name} não traz o que o banco de dados tinha quando foi feita. Nada foi alterado: use uma anterior e faça uma nova.`,
    )
  return { copy, contents }
}

// A disk without room ends the capture too.
const freeBytesMin = 1 << 30

/** Refuses what would fill the disk of the data. */
export async function requireRoom({ dataDir }: Pick<Config, 'dataDir'>, { contents }: Copy): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  const needed = contents.bytes + freeBytesMin
  if (bavail * bsize >= needed) return
  const gigabytes = Math.ceil(needed / 1e9)
  throw new InstallationError(
    `A restauração precisa de ${gigabytes} GB livres no disco de ${dataDir}, e não há. Nada foi alterado: libere espaço e tente de novo.`,
  )
}

async function chooseCopy(place: BackupPlace, name: string | undefined): Promise<Copy> {
  const { copies, damaged } = await listCopiesIn(place)
  const copy = name === undefined ? copies.at(-1) : copies.find((one) => one.name === name)
  // The newest copy is requested even if it is damaged: an older one needs an explicit choice.
  const newest = damaged.at(-1)
  if (copy && (name !== undefined || !newest || newest < copy.name)) return copy
  const why =
    name !== undefined
      ? damaged.includes(name)
        ? `a cópia ${name} não abre com a chave de BACKUP_KEY, ou foi danificada`
        : `não há uma cópia ${name}`
      : copy
        ? `a mais nova, ${newest}, não abre com a chave de BACKUP_KEY, ou foi danificada; para uma anterior, diga o nome dela (a última que abre é ${copy.name})`
        : damaged.length > 0
          ? `nenhuma das ${damaged.length} que há ali abre com a chave de BACKUP_KEY`
          : 'não há nenhuma'
  throw new InstallationError(`Nenhuma cópia em ${place.directory} serve: ${why}. Nada foi alterado.`)
}
