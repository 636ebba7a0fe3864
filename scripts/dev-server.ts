import { start } from '@vigia/server/start'
import { configure } from './launch.ts'

// Both roles of the server for `npm run dev`, which stops and starts this program whenever a source changes.
await using stack = new AsyncDisposableStack()
const config = configure()
for (const role of ['api', 'worker'] as const) stack.use(await start(config, { roles: [role] }))
process.send?.('ready')
await new Promise<void>((resolve) => {
  process.once('SIGTERM', resolve)
  process.once('disconnect', resolve)
  // Ctrl+C reaches the whole group; dev.ts stops this program before the database.
  process.on('SIGINT', () => {})
})
await stack.disposeAsync()
process.exit()
