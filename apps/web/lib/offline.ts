import { useEffect } from 'react'
import { whenIdle } from './query.ts'
import { useSession } from './session.ts'

/** Stores the application for offline use after login, once the screen has loaded. */
export function useOffline() {
  const signedIn = useSession().session !== null
  useEffect(() => {
    // Browsers have it on HTTPS and localhost only.
    if (!signedIn || !import.meta.env.PROD || !('serviceWorker' in navigator)) return
    return whenIdle(async () => {
      try {
        await navigator.serviceWorker.register('/service-worker.js')
      } catch (error) {
        console.info('Sem conexão a aplicação não abrirá neste navegador:', error)
      }
    })
  }, [signedIn])
}
