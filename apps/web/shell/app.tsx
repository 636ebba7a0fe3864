import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import { Outlet } from 'react-router'
import { firstWords } from '../lib/notify.ts'
import { queryClient } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'

// A slow line has the screen to bring first.
const screenFirstMs = 2_000

/** What every screen but the landing page needs. */
export function App() {
  useForgetfulness()
  return (
    <QueryClientProvider client={queryClient}>
      <Outlet />
      <Toasts />
    </QueryClientProvider>
  )
}

// Their code comes when there is something to say, and in any case before the line is lost that it would be said of.
function Toasts() {
  const [Toaster, show] = useState<ComponentType>()
  useEffect(() => {
    void Promise.race([firstWords, pause(screenFirstMs)])
      .then(fetchToaster)
      .then((arrived) => show(() => arrived))
  }, [])
  return Toaster && <Toaster />
}

// What was said is told when the line is back.
async function fetchToaster(): Promise<ComponentType> {
  try {
    const { Toaster } = await import('../ui/toaster.tsx')
    return Toaster
  } catch (error) {
    console.info('Os avisos ainda não chegaram:', error)
    await pause(screenFirstMs)
    return fetchToaster()
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

// What one session has read is never shown to the next, also when another window changed it.
function useForgetfulness() {
  const token = useSession().session?.token
  const known = useRef(token)
  useEffect(() => {
    if (known.current === token) return
    known.current = token
    void queryClient.resetQueries()
  }, [token])
}
