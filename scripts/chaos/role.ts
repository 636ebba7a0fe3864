import { type Config, readConfig, start } from '@vigia/server/start'

/** What a process of the product is told on its command line, as JSON. */
export interface RoleOrder {
  role: 'api' | 'worker'
  environment: Record<string, string>
  directory: string
  /** Instead of those of the ambiente. */
  times: Pick<Config['sefaz'], 'hourMs' | 'pagePauseMs' | 'marginMs' | 'answerMs'>
}

// One role of the product as a process of its own, which can be killed. It ends with its parent; without an order it ends once it is loaded.
const [, , order] = process.argv
if (import.meta.main && order) {
  const { role, environment, directory, times } = JSON.parse(order) as RoleOrder
  process.on('disconnect', () => process.exit())
  if (!process.connected) process.exit()
  const config = readConfig(environment, directory)
  const server = await start({ ...config, sefaz: { ...config.sefaz, ...times } }, { roles: [role] })
  process.send?.({ url: server.url })
  process.on('SIGTERM', () => void server[Symbol.asyncDispose]().then(() => process.exit()))
}
