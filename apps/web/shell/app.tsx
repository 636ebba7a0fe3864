import { QueryClientProvider } from '@tanstack/react-query'
import { Outlet } from 'react-router'
import { config } from 'zod'
import { queryClient } from '../lib/query.ts'
import { Toaster } from '../ui/toaster.tsx'

// The content security policy forbids eval, which zod would otherwise try first and report.
config({ jitless: true })

/** What every screen but the landing page needs. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Outlet />
      <Toaster />
    </QueryClientProvider>
  )
}
