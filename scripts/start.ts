import { configure, launch, type Mode } from './launch.ts'
import { live, StartError } from './lifetime.ts'

const modes: readonly Mode[] = ['serve', 'api', 'worker', 'migrate']

await live(async (until) => {
  const [wanted = 'serve', ...rest] = process.argv.slice(2)
  const mode = modes.find((mode) => mode === wanted)
  if (!mode || rest.length > 0)
    throw new StartError('Use: npm start, npm start -- api, npm start -- worker ou npm start -- migrate.')
  await launch(configure(), mode, until)
})
