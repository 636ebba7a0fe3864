import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { takeBaseBackup } from '@vigia/postgres/backup'
import { syncFolder } from '@vigia/postgres/durable'
import { PostgresError, sharePostgres, startPostgres } from '@vigia/postgres/postgres'
import { readSecret } from '@vigia/postgres/secret-file'
import { unpackTar } from '@vigia/postgres/tar'
import type { Config } from '../config.ts'
import { embeddedCluster, InstallationError } from '../platform/installation.ts'
import { expectRestore } from '../platform/restore.ts'
import { wrapByCommand, wrapWithKey } from '../signer/wrapping.ts'
import { type Contents, readContents } from './contents.ts'
import {
  type Base,
  baseFor,
  claimPlace,
  fetchWal,
  findHole,
  listBases,
  listWal,
  newestWal,
  prune,
  readClaim,
  readCluster,
  requireClaim,
  walName,
  writeBase,
} from './folder.ts'
import {
  chainOf,
  claimLine,
  historyName,
  type Identity,
  identify,
  idPathOf,
  type Line,
  lineAt,
  positionOf,
  preferLine,
  readLines,
  segmentOf,
} from './lines.ts'
import type { BackupPlace } from './place.ts'
import { shipWal } from './shipping.ts'

export type { Base } from './folder.ts'

type Step = (text: string) => void

function placeOf({ backup, databaseUrl }: Pick<Config, 'backup' | 'databaseUrl'>): BackupPlace {
  if (databaseUrl)
    throw new InstallationError(
      'O banco de dados é o de DATABASE_URL, e as cópias dele são feitas com as ferramentas do PostgreSQL (pgbackrest, pg_basebackup): docs/run/operations.md. Nada foi alterado.',
    )
  if (backup) return backup
  throw new InstallationError(
    'Faltam BACKUP_DIR, a pasta das cópias de segurança (em outro disco ou outra máquina), e BACKUP_KEY, a chave que as cifra (faça uma com: openssl rand -base64 32). Nada foi alterado.',
  )
}

/**
 * Makes the place of the settings one of copies of this database, before the first; or says that of the lines in it this database is the one that counts. A folder on the
 * disk of the database is refused unless `sameDisk`: it is what is there while a disk is not mounted.
 */
export async function beginCopies(
  config: Config,
  { sameDisk }: { sameDisk: boolean },
  step: Step = () => {},
): Promise<void> {
  const place = placeOf(config)
  const cluster = embeddedCluster(config)
  await requireCluster(cluster.directory)
  if (!sameDisk && (await readClaim(place)) === null && (await isOnDisk(place, cluster.directory)))
    throw new InstallationError(
      `A pasta ${place.directory} está no mesmo disco que o banco de dados: ou o disco das cópias não está montado, ou quem perde um perde as duas. Nada foi alterado: monte o outro disco, ou diga que deve ser assim com --mesmo-disco.`,
    )
  await using server = await sharePostgres({ ...cluster, log: step })
  const { systemIdentifier, line } = await identify(server.url, cluster.directory)
  await claimPlace(place, systemIdentifier)
  await preferLine(place, line)
}

// The folder itself may not be there yet.
async function isOnDisk({ directory }: BackupPlace, other: string): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null)
    if (found) return found.dev === (await stat(other)).dev
  }
}

/** Copies the whole cluster, running or not, to the folder of copies, with all of its log that waits; then removes what is too old. */
export async function backUp(config: Config, step: Step = () => {}): Promise<{ base: Base; removed: string[] }> {
  const place = placeOf(config)
  const cluster = embeddedCluster(config)
  await requireCluster(cluster.directory)
  await using server = await sharePostgres({ ...cluster, log: step })
  const identity = await identify(server.url, cluster.directory)
  await requireClaim(place, identity.systemIdentifier)
  await claimLine(place, identity.line)
  const { now: startedAt, ...contents } = await readContents(server.url)
  step('Copiando o banco de dados…')
  const { tar, ended } = await takeBaseBackup(server.url)
  const base = await writeBase(place, tar, async () => {
    const end = await ended
    const { now: endedAt } = await readContents(server.url)
    return { systemIdentifier: identity.systemIdentifier, startedAt, endedAt, ...end, contents }
  })
  if (cluster.archive) await shipWal(cluster.archive, place, identity)
  const { bases, damaged: ofBases } = await listBases(place)
  const { lines, damaged: ofLines } = await readLines(place)
  const damaged = [...ofBases, ...ofLines]
  // What does not open now may open again, and then it needs its log.
  if (damaged.length > 0) {
    step(`Cópias que não abrem: ${damaged.join(', ')}. Por isso nada antigo foi apagado: confira a pasta.`)
    return { base, removed: [] }
  }
  return { base, removed: await prune(place, bases, lines) }
}

// What is copied is there: an empty installation would be made otherwise.
async function requireCluster(directory: string): Promise<void> {
  if (await stat(directory).catch(() => null)) return
  throw new InstallationError(
    `Em ${directory} não há um banco de dados para copiar. Nada foi alterado: confira DATA_DIR.`,
  )
}

/** What the folder of copies has: which moments can be reached. */
export async function listCopies(
  config: Config,
): Promise<{ bases: Base[]; damaged: string[]; lines: Line[]; until: Date | null; place: string }> {
  const place = placeOf(config)
  const { bases, damaged } = await listBases(place)
  const { lines, damaged: ofLines } = await readLines(place)
  return { bases, damaged: [...damaged, ...ofLines], lines, until: await newestWal(place), place: place.directory }
}

/** What to restore: the moment (absent: the last there is), and the line (absent: the one that counted then). */
export interface Target {
  until?: Date
  line?: number
}

export interface Restored {
  base: Base
  /** The line that was followed. */
  line: number
  contents: Contents
}

/** Restores into a folder of its own what would be restored, reads all of it, and removes it. */
export async function tryRestore(config: Config, target: Target, step: Step = () => {}): Promise<Restored> {
  const place = placeOf(config)
  await using temporary = await makeFolder(config)
  const { identity: _, ...restored } = await recover(place, join(temporary.path, 'postgres'), target, step)
  return restored
}

/** Whether the key that the settings name is the one that opens what was restored. */
export type MasterKeyCheck = 'right' | 'missing' | 'other' | 'elsewhere' | 'not-needed'

/**
 * Restores the database to what it was at `until`, or to the last that the copies have. Nothing that is there is written over: a database in its
 * place is refused. The next start recognises it as restored.
 */
export async function restore(
  config: Config,
  target: Target,
  step: Step = () => {},
): Promise<Restored & { masterKey: MasterKeyCheck }> {
  const place = placeOf(config)
  const cluster = embeddedCluster(config)
  await refuseToReplace(cluster.directory)
  // What the lost database had put aside goes to the copies first: it may be the last that was stored.
  const claimed = await readClaim(place)
  if (claimed && cluster.archive)
    await shipWal(cluster.archive, place, { systemIdentifier: claimed }).catch((error: unknown) =>
      step(
        `O que o banco de dados anterior tinha separado não foi aproveitado: ${error instanceof Error ? error.message : String(error)}`,
      ),
    )
  await using temporary = await makeFolder(config)
  const made = join(temporary.path, 'postgres')
  // What it puts aside at its beginning counts only when it is in its place.
  const archive = join(temporary.path, 'archive')
  const { identity, ...restored } = await recover(place, made, target, step, archive)
  await expectRestore(config, restored.contents)
  await refuseToReplace(cluster.directory)
  // It fails when there is something: a folder takes the place of an empty one only.
  await rename(made, cluster.directory)
  await rename(`${made}.password`, `${cluster.directory}.password`)
  if (cluster.archive) {
    await mkdir(cluster.archive, { recursive: true, mode: 0o700 })
    // The rest of a part in which the line before was left is in the copies already, or was not wanted.
    for (const name of (await readdir(archive)).filter((name) => walName.test(name)))
      await rename(join(archive, name), join(cluster.archive, name))
  }
  await syncFolder(dirname(cluster.directory))
  await claimRestored(place, identity, step)
  return { ...restored, masterKey: await checkMasterKey(config, restored.contents.masterKeyId) }
}

// From now on it is this line that counts. What cannot be written down now is by the worker, before it takes anything there.
async function claimRestored(place: BackupPlace, { line }: Identity, step: Step): Promise<void> {
  await claimLine(place, line).catch((error: unknown) => {
    if (error instanceof InstallationError) throw error
    step(
      `Nas cópias não pôde ser anotado que este banco voltou delas (${(error as NodeJS.ErrnoException).code ?? error}): isso é feito quando o programa puder gravar lá.`,
    )
  })
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
  place: BackupPlace,
  directory: string,
  { until, line: wanted }: Target,
  step: Step,
  archive?: string,
): Promise<Restored & { identity: Identity }> {
  const { lines, damaged } = await readLines(place)
  if (damaged.length > 0)
    step(`Não abre o que diz desde quando conta uma linha (${damaged.join(', ')}): confira que é a certa (--linha).`)
  const line = wanted === undefined ? lineAt(lines, until) : lines.find(({ timeline }) => timeline === wanted)
  if (!line) throw new InstallationError(`Em ${place.directory} não há uma linha ${wanted}. Nada foi alterado.`)
  const base = await chooseBase(place, line, until)
  step(`Abrindo a cópia ${base.name}…`)
  await mkdir(directory, { mode: 0o700 })
  await readCluster(place, base, (tar) => unpackTar(tar, directory))
  await rm(idPathOf(directory), { force: true })
  step('Refazendo o que foi gravado depois dela…')
  const feed = (name: string, path: string) =>
    feedLine(place, lines, line, name, path).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof InstallationError || error.code === 'ENOENT') throw error
      throw new InstallationError(
        `O trecho ${name} do registro não pôde ser lido das cópias em ${place.directory} (${error.code ?? error.message}). Nada foi alterado: confira a pasta e tente de novo, ou peça com --ate um momento anterior.`,
        { cause: error },
      )
    })
  // A worker may go on adding to it meanwhile.
  const kept = await listWal(place)
  try {
    const recovery = { feed, until, timeline: line.timeline }
    await using server = await startPostgres({ directory, archive, recovery, log: step })
    step('Contando o que foi restaurado…')
    const contents = await readContents(server.url)
    const wanted = base.contents
    if (contents.installation !== wanted.installation || contents.mark < wanted.mark)
      throw new InstallationError(
        `A cópia ${base.name} não traz o que o banco de dados tinha quando foi feita. Nada foi alterado: use uma anterior (--ate) e faça uma nova.`,
      )
    if (!until) await refuseHole(directory, kept, line, contents.markedAt)
    return { base, line: line.timeline, contents, identity: await identify(server.url, directory) }
  } catch (error) {
    if (!(error instanceof PostgresError && error.message.includes('recovery target was reached'))) throw error
    throw new InstallationError(
      `As cópias não chegam até o momento pedido. Nada foi alterado: peça um anterior, ou deixe --ate fora para restaurar o último que elas têm.`,
      { cause: error },
    )
  }
}

// What the server may see of the log: the histories of all lines, so that a new one takes no number twice, and of a timeline that was left nothing behind that position,
// also where a part of the next one is missing.
async function feedLine(
  place: BackupPlace,
  lines: readonly Line[],
  line: Line,
  name: string,
  path: string,
): Promise<boolean> {
  const known = lines.find(({ timeline, history }) => history !== null && historyName(timeline) === name)
  if (known) {
    await writeFile(path, known.history!, { mode: 0o600 })
    return true
  }
  const timeline = Number.parseInt(name.slice(0, 8), 16)
  const until = chainOf(line).find((one) => one.timeline === timeline)?.until
  const isLast = until && name.slice(8) === segmentOf(until)
  if (until && /^[0-9A-F]{24}$/.test(name) && name.slice(8) > segmentOf(until)) return false
  if (!(await fetchWal(place, name, path))) return false
  if (!isLast) return true
  await using file = await open(path, 'r+')
  const from = Number(positionOf(until) & 0xff_ffffn)
  await file.write(Buffer.alloc((await file.stat()).size - from), 0, null, from)
  return true
}

// A part that is missing ends a recovery like the end of the log.
async function refuseHole(directory: string, kept: readonly string[], line: Line, reached: Date): Promise<void> {
  const log = join(directory, 'pg_wal')
  const history = (await readdir(log))
    .filter((name) => /^[0-9A-F]{8}\.history$/.test(name))
    .sort()
    .at(-1)
  // Its last line: the timeline that was left, and where.
  const text = history && (await readFile(join(log, history), 'utf8')).trim().split('\n').at(-1)
  const [, lsn] = /^\d+\t([0-9A-F]+\/[0-9A-F]+)/.exec(text ?? '') ?? []
  if (!lsn) throw new Error('the recovered server does not say where its log ended')
  const hole = findHole(kept, line, lsn)
  if (!hole) return
  const why = hole.missing ? `falta o trecho ${hole.missing}` : `o registro não continua depois da posição ${lsn}`
  const moment = formatBrasiliaMoment(reached)
  throw new InstallationError(
    `Nas cópias ${why}; há até ${hole.last}. Sem ele só se chega até cerca de ${moment}. Nada foi alterado: procure esse trecho (em postgres.wal da pasta de dados de antes, ou em outra cópia da pasta das cópias), ou aceite o que há pedindo com --ate um momento até esse.`,
  )
}

async function chooseBase(place: BackupPlace, line: Line, until: Date | undefined): Promise<Base> {
  const { bases, damaged } = await listBases(place)
  const base = baseFor(bases, line, until)
  if (base) return base
  const why =
    damaged.length > 0 && bases.length === 0
      ? `nenhuma das ${damaged.length} que há ali abre com a chave de BACKUP_KEY`
      : bases.length > 0
        ? until
          ? 'todas são de depois do momento pedido, ou de uma linha que não leva a ele'
          : `nenhuma leva à linha ${line.timeline}`
        : 'não há nenhuma'
  throw new InstallationError(`Nenhuma cópia em ${place.directory} serve: ${why}. Nada foi alterado.`)
}

async function checkMasterKey(config: Config, wanted: string | null): Promise<MasterKeyCheck> {
  if (wanted === null) return 'not-needed'
  if (config.signerSocket && !config.masterKey && !config.masterKeyCommand) return 'elsewhere'
  const id = config.masterKeyCommand ? wrapByCommand(config.masterKeyCommand).id : await idOfKey(config)
  return id === null ? 'missing' : id === wanted ? 'right' : 'other'
}

async function idOfKey({ masterKey, dataDir }: Config): Promise<string | null> {
  const text = masterKey ? null : await readSecret(join(dataDir, 'master.key'))
  const key = masterKey ?? (text ? Buffer.from(text, 'base64') : null)
  return key?.length === 32 ? wrapWithKey(key).id : null
}
