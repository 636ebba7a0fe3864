import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { type Config, connectSigner, InstallationError, type ReachSigner } from '@vigia/server/start'

const namesOfKeys = ['MASTER_KEY', 'NEW_MASTER_KEY', 'MASTER_KEY_COMMAND', 'NEW_MASTER_KEY_COMMAND']
// Of copies: the signer has nothing to do with them, and the two go together.
const namesOfCopies = [
  ...['BACKUP_DIR', 'BACKUP_KEY', 'BACKUP_S3_ENDPOINT', 'BACKUP_S3_REGION'],
  ...['BACKUP_S3_KEY_ID', 'BACKUP_S3_SECRET'],
]

/** Takes the keys out of `env`, and returns them: what is started from then on inherits nothing of them. */
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
  [Symbol.asyncDispose](): Promise<void>
}

const restMsMin = 500
const restMsMax = 10_000

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

  const run = () =>
    spawn(process.execPath, ['apps/server/main.ts', '--child'], {
      cwd: root,
      env: environment,
      // In its own process group, so that Ctrl+C does not stop it before those that ask it.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  let stopping = false
  let child = run()
  let known: { url: string; ready: Promise<void> } | undefined

  const keepUp = async (url: string) => {
    for (let restMs = restMsMin; ; restMs = Math.min(restMs * 2, restMsMax)) {
      const since = performance.now()
      const [code, signal] = child.exitCode === null && child.signalCode === null ? await once(child, 'close') : []
      if (stopping) return
      console.error(`O assinador parou (${signal ?? code ?? 'sem motivo'}) e é iniciado de novo.`)
      if (performance.now() - since > 60_000) restMs = restMsMin
      await setTimeout(restMs)
      if (stopping) return
      child = run()
      await begin(child, url).catch((error: Error) => console.error(error.message))
    }
  }
  const reach: ReachSigner = async (url) => {
    known ??= { url, ready: begin(child, url).then(() => void keepUp(url)) }
    await known.ready
    return connectSigner(socket, sefaz)
  }
  return {
    reach,
    async [Symbol.asyncDispose]() {
      stopping = true
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, 'close')
        child.stdin.end()
        const killing = new AbortController()
        void setTimeout(5_000, undefined, { signal: killing.signal }).then(
          () => child.kill('SIGKILL'),
          () => {},
        )
        await closed
        killing.abort()
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// It prints "ready" when it can be asked.
async function begin(child: ChildProcess, url: string): Promise<void> {
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('the signer was started without pipes')
  stdin.on('error', () => {})
  const complaints: string[] = []
  createInterface(stderr).on('line', (line) => {
    complaints.push(line)
    if (complaints.length > 20) complaints.shift()
    process.stderr.write(`${line}\n`)
  })
  stdin.write(`${url}\n`)
  const ready = new Promise<true>((resolve) => {
    createInterface(stdout).on('line', (line) => {
      if (line === 'ready') resolve(true)
    })
  })
  const ended = once(child, 'close').then(() => false as const)
  if (await Promise.race([ready, ended])) return
  throw new InstallationError(complaints.join('\n') || 'O assinador não iniciou. Os dados não foram alterados.')
}
