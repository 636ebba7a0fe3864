import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Outlet } from 'react-router'
import { config } from 'zod/v4/core'
import { queryClient } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'
import { Toaster } from '../ui/toaster.tsx'

// The content security policy forbids eval, which zod would otherwise try first and report.
config({ jitless: true })

/** What every screen but the landing page needs. */
export function App() {
  useForgetfulness()
  return (
    <QueryClientProvider client={queryClient}>
      <Outlet />
      <Toaster />
    </QueryClientProvider>
  )
}

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
