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
// Keeps the content of index.html up to a second until the screen loads, because React would show
// its fallback for at least 300 ms. A transition renders in small parts: slow phones respond.
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
