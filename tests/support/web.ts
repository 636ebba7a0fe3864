import { fileURLToPath } from 'node:url'
import { buildWeb } from '../../scripts/web-build.ts'

/** Called by Vitest once for each run: the journeys look at the web application as it is shipped. */
export async function setup(): Promise<void> {
  await buildWeb(fileURLToPath(new URL('../..', import.meta.url)), () => {})
}
