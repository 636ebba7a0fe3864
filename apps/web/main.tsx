import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from './router.tsx'
import { preload } from './screens.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
const application = (
  <StrictMode>
    <Router />
  </StrictMode>
)
// What index.html shows stands until the screen is here: drawn without it, React would show its own picture for a third of a second at
// least. Who waits longer is told what for. A transition is drawn bit by bit, so that a slow phone hears a finger meanwhile.
const patienceMs = 1_000
await Promise.race([preload(location.pathname), new Promise((resolve) => setTimeout(resolve, patienceMs))])
startTransition(() => createRoot(root).render(application))
