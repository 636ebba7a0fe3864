import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import { Outlet } from 'react-router'
import { firstWords } from '../lib/notify.ts'
import { useOffline } from '../lib/offline.ts'
import { queryClient } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'

// On a slow line the screen comes first.
const screenFirstMs = 2_000

/** Frame of every screen except the landing page. */
export function App() {
  useForgetfulness()
  useOffline()
  return (
    <QueryClientProvider client={queryClient}>
      <Outlet />
      <Toasts />
    </QueryClientProvider>
  )
}

// Loads the toasts with the first one, or after two seconds to report a lost connection.
function Toasts() {
  const [Toaster, show] = useState<ComponentType>()
  useEffect(() => {
    void Promise.race([firstWords, pause(screenFirstMs)])
      .then(fetchToaster)
      .then((arrived) => show(() => arrived))
  }, [])
  return Toaster && <Toaster />
}

// Toasts wait until the code could be loaded.
async function fetchToaster(): Promise<ComponentType> {
  try {
    const { Toaster } = await import('../ui/overlay/toaster.tsx')
    return Toaster
  } catch (error) {
    console.info('Os avisos ainda não chegaram:', error)
    await pause(screenFirstMs)
    return fetchToaster()
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

// Clears queries when the session changes, also from another window: sessions share no data.
function useForgetfulness() {
  const token = useSession().session?.token
  const known = useRef(token)
  useEffect(() => {
    if (known.current === token) return
    known.current = token
    void queryClient.resetQueries()
  }, [token])
}
