import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from './router.tsx'
import { preloadScreen } from './screens.ts'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
const application = (
  <StrictMode>
    <Router />
  </StrictMode>
)
// What index.html shows stays until the screen is here, for a second at most: rendered without it, React would show its fallback for 300 ms
// at least. A transition is rendered in small parts, so that a slow phone reacts to a finger meanwhile.
const patienceMs = 1_000
const isInstalled = matchMedia('(display-mode: standalone)').matches
await Promise.race([
  Promise.all([preloadScreen(location.pathname), isInstalled && keepLastLists()]),
  new Promise((resolve) => setTimeout(resolve, patienceMs)),
])
startTransition(() => createRoot(root).render(application))

async function keepLastLists() {
  const lists = await import('./lib/last-lists.ts').catch(() => null)
  lists?.keepLastLists()
}
