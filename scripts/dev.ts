import { fork, spawn } from 'node:child_process'
import { watch } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Server } from '@vigia/server/start'
import { ended } from './children.ts'
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
  const ready = Promise.withResolvers<void>()
  const run = () => {
    const began = performance.now()
    const child = fork(program, { cwd: root, env: { ...process.env, ...keys } })
    return child.once('message', () => {
      say(`Servidor no ar em ${((performance.now() - began) / 1000).toFixed(1)} s.`)
      ready.resolve()
    })
  }
  let child = run()
  const stop = async () => {
    child.kill('SIGTERM')
    await ended(child)
  }
  let isWaiting = false
  let last = Promise.resolve()
  const restart = async () => {
    // An editor writes several files at once.
    await setTimeout(100)
    isWaiting = false
    await stop()
    child = run()
  }
  const watchers = watched.map((folder) =>
    watch(folder, { recursive: true }, (_, file) => {
      if (isWaiting || !file || !isSource(file)) return
      isWaiting = true
      last = last.then(restart)
    }),
  )
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
