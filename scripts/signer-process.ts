import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { ReachSigner } from '@vigia/server/open'
import { InstallationError } from '@vigia/server/platform/installation'
import { connectSigner } from '@vigia/server/platform/signer/client'
import type { Config } from '@vigia/server/start'
import { keepChild, lastLines } from './children.ts'

const namesOfKeys = ['MASTER_KEY', 'NEW_MASTER_KEY']
// Backup settings, which belong together; the signer does not need them.
const namesOfCopies = ['BACKUP_DIR', 'BACKUP_KEY']

/** Removes the keys from `env` and returns them, so that processes started later do not inherit them. */
export function takeKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const taken: NodeJS.ProcessEnv = {}
  for (const name of [...namesOfKeys, ...namesOfCopies]) {
    if (env[name] !== undefined) taken[name] = env[name]
    delete env[name]
  }
  return taken
}

interface SignerProcess {
  reach: ReachSigner
  /** Path on which it listens. */
  socket: string
  [Symbol.asyncDispose](): Promise<void>
}

const patienceMs = 5_000

/**
 * Starts the signer as a process of its own, which waits for the address of the database, and starts it again whenever it ends. `keys`: what
 * `takeKeys` took out of the environment.
 */
export async function startSigner(
  root: string,
  { sefaz, dataDir }: Config,
  keys: NodeJS.ProcessEnv,
): Promise<SignerProcess> {
  // A folder of our own with a short name: the path of a socket has a hundred bytes, and not every disk takes one.
  const folder = await mkdtemp(path.join(tmpdir(), 'vigia-signer-'))
  const socket = path.join(folder, 'socket')
  const own = Object.fromEntries(Object.entries(keys).filter(([name]) => !namesOfCopies.includes(name)))
  const environment = { ...process.env, ...own, DATA_DIR: dataDir, SIGNER_SOCKET: socket }

  const url = Promise.withResolvers<string>()
  const kept = keepChild(
    'O assinador',
    () =>
      spawn(process.execPath, ['apps/server/main.ts', '--child'], {
        cwd: root,
        env: environment,
        // In its own process group, so that Ctrl+C does not stop it before those that ask it.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      }),
    (child) => begin(child, url.promise),
  )
  return {
    async reach(databaseUrl) {
      url.resolve(databaseUrl)
      await kept.begun
      return connectSigner(socket, sefaz)
    },
    socket,
    async [Symbol.asyncDispose]() {
      await kept.stop((child) => child.stdin?.end(), patienceMs)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// It prints "ready" when it can be asked.
async function begin(child: ChildProcessWithoutNullStreams, url: Promise<string>): Promise<void> {
  child.stdin.on('error', () => {})
  child.stderr.pipe(process.stderr)
  const complaints = lastLines(child.stderr)
  const ready = once(createInterface(child.stdout), 'line')
  const closed = once(child, 'close').then(() => null)
  void url.then((text) => child.stdin.write(`${text}\n`))
  if (await Promise.race([ready, closed])) return
  throw new InstallationError(complaints.join('\n') || 'O assinador não iniciou. Os dados não foram alterados.')
}
