import { spawn } from 'node:child_process'
import path from 'node:path'
import { configure, launch, root } from './launch.ts'
import { live } from './lifetime.ts'

const vitePort = 5173

// The whole product, with the web app served from its sources by Vite, which forwards the API calls.
await live(async (until) => {
  const config = configure()
  const program = path.join(root, 'node_modules/vite/bin/vite.js')
  const vite = spawn(process.execPath, [program, 'apps/web', '--port', String(vitePort), '--strictPort'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, VIGIA_API: `http://localhost:${config.port}` },
  })
  try {
    await launch(config, 'serve', until, { siteUrl: `http://localhost:${vitePort}` })
  } finally {
    vite.kill()
  }
})
