import { type Config, grantPlan, operate } from '@vigia/server/start'
import { createDatabase } from './database.ts'
import { type Installation, type InstallationOptions, startInstallation } from './installation.ts'
import { withTestKeys } from './keys.ts'

export type Product = Installation
export type ProductOptions = InstallationOptions

/** The whole product, real in every part, on free ports with a database and a data directory of its own. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createDatabase())
  const product = stack.use(await startInstallation(database.url, { prepareSimulator: withTestKeys, ...options }))
  const owned = stack.move()
  return { ...product, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Gives the workspace of an account the plan without limits, as who runs the installation would. */
export async function grantUnlimited({ config }: { config: Config }, email: string): Promise<void> {
  await operate(config, (ctx) => grantPlan(ctx, email, { type: 3, until: null }))
}
