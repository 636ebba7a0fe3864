import { configure, launch, type Mode, showPlan } from './launch.ts'
import { live, StartError } from './lifetime.ts'

const modes: readonly Mode[] = ['serve', 'api', 'worker', 'migrate']

await live(async (until) => {
  const [wanted = 'serve', ...rest] = process.argv.slice(2)
  const mode = modes.find((mode) => mode === wanted)
  const isPlan = mode === 'migrate' && rest.length === 1 && rest[0] === '--plan'
  if (!mode || (rest.length > 0 && !isPlan))
    throw new StartError('Use: npm start, npm start -- api, npm start -- worker ou npm start -- migrate [--plan].')
  if (isPlan) await showPlan(configure())
  else await launch(configure(), mode, until)
})
