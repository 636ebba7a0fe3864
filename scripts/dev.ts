import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import path from 'node:path'
import type { Server } from '@vigia/server/start'
import { configure, launch, root } from './launch.ts'
import { live } from './lifetime.ts'
import { freePort } from './ports.ts'
import { takeKeys } from './signer-process.ts'

// The whole product from its sources: Vite serves the web app and forwards its calls; the server starts again when its code changes, while
// PostgreSQL and the simulated authority stay up.

const usualVitePort = 5173
const program = path.join(import.meta.dirname, 'dev-server.ts')
const watched = ['apps/server', 'packages'].map((folder) => path.join(root, folder))
const say = (text: string) => console.log(`  ${text}`)

await live(async (until) => {
  const wanted = configure()
  process.env.PORT = String(await takePort(wanted.port))
  if (wanted.simulator) process.env.SIMULATOR_PORT = String(await takePort(wanted.simulator.port))
  const config = configure()
  // The server has its signer inside.
  const keys = takeKeys(process.env)
  const vitePort = await takePort(usualVitePort)
  const vite = spawn(
    process.execPath,
    [path.join(root, 'node_modules/vite/bin/vite.js'), 'apps/web', '--port', String(vitePort), '--strictPort'],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, VIGIA_API: `http://localhost:${config.port}` },
    },
  )
  try {
    await launch(config, 'serve', until, {
      siteUrl: `http://localhost:${vitePort}`,
      serve: () => serveChanging(`http://localhost:${config.port}`, keys, until),
    })
  } finally {
    vite.kill()
  }
})

async function takePort(port: number): Promise<number> {
  const free = await freePort(port)
  if (free !== port) say(`A porta ${port} está em uso; esta vez é a ${free}.`)
  return free
}

/** Keeps the server running in a process of its own, a new one after each change of its sources. Returns when it first answers. */
async function serveChanging(url: string, keys: NodeJS.ProcessEnv, until: Promise<void>): Promise<Server> {
  let child: ChildProcess | null = null
  const ready = Promise.withResolvers<void>()
  const startNext = () => {
    const began = performance.now()
    child = fork(program, { cwd: root, env: { ...process.env, ...keys } })
    child.once('message', () => {
      say(`Servidor no ar em ${((performance.now() - began) / 1000).toFixed(1)} s.`)
      ready.resolve()
    })
  }
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  let restarting: Promise<void> | null = null
  // An editor writes several files at once.
  const restart = async () => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    restarting = null
    await stop()
    startNext()
  }
  let last = Promise.resolve()
  const watchers = watched.map((folder) =>
    watch(folder, { recursive: true }, (_, file) => {
      if (restarting || !file || !isSource(file)) return
      restarting = last.then(restart)
      last = restarting
    }),
  )
  startNext()
  await Promise.race([ready.promise, until])
  return {
    url,
    died: new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      for (const watcher of watchers) watcher.close()
      await last
      await stop()
    },
  }
}

function isSource(file: string): boolean {
  return /\.(ts|sql)$/.test(file) && !/\.(test|testing|bench)\.ts$|(^|\/)(node_modules|support)\//.test(file)
}
