import { useEffect } from 'react'
import { whenIdle } from './query.ts'
import { useSession } from './session.ts'

// A page that is open for days learns of a new version within an hour.
const lookMs = 3_600_000

let newer = false

/** Whether the server has a newer version of the application than this page is. */
export function isOutdated(): boolean {
  return newer
}

/** Keeps the application in the browser for times without a connection, once somebody has signed in and the screen has what it shows. */
export function useOffline() {
  const signedIn = useSession().session !== null
  useEffect(() => {
    // Browsers have it on HTTPS and localhost only.
    if (!signedIn || !import.meta.env.PROD || !('serviceWorker' in navigator)) return
    let timer: ReturnType<typeof setInterval> | undefined
    const cancel = whenIdle(async () => {
      try {
        const registration = await navigator.serviceWorker.register('/service-worker.js')
        watch(registration)
        timer = setInterval(() => void registration.update().catch(() => undefined), lookMs)
      } catch (error) {
        console.info('Sem conexão a aplicação não abrirá neste navegador:', error)
      }
    })
    return () => {
      cancel()
      clearInterval(timer)
    }
  }, [signedIn])
}

// Each service worker that waits is told of which version this page is (service-worker.js).
function watch(registration: ServiceWorkerRegistration) {
  const { src } = document.querySelector<HTMLScriptElement>('script[type=module][src]')!
  const introduce = (worker: ServiceWorker | null) => worker?.postMessage(src.slice(location.origin.length))
  navigator.serviceWorker.onmessage = () => {
    newer = true
  }
  introduce(registration.waiting)
  registration.onupdatefound = () => {
    const worker = registration.installing
    worker?.addEventListener('statechange', () => worker.state === 'installed' && introduce(worker))
  }
}
