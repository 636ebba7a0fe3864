import { useEffect } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { LandingPage } from './landing/landing-page.tsx'
import { prefetchApplication } from './landing/prefetch.ts'
import { writeToUsId } from './landing/write-to-us.tsx'
import { contactHash } from './lib/contact.ts'
import { expiredHash, useSession } from './lib/session.ts'
import { site } from './lib/site.ts'
import { ContactHost, preloadContact } from './shell/contact-host.tsx'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('landing.html has no #root')
const { productName, contactEmail = null, demo = null, numeros, depoimentos } = site
if (productName && numeros && depoimentos) {
  const told = { productName, contactEmail, demo, numeros, depoimentos }
  hydrateRoot(root, <LandingPage site={told} preloadContact={preloadContact} />)
}

// In a root of its own: the page must stay when the form fails.
createRoot(document.body.appendChild(document.createElement('div')), {
  onUncaughtError: (error) => {
    console.error(error)
    const fallback = document.getElementById(writeToUsId)
    if (fallback instanceof HTMLDialogElement && !fallback.open) fallback.showModal()
  },
}).render(
  <>
    <ContactHost />
    <LoginAfterExpiry />
  </>,
)
if (location.hash === contactHash) preloadContact()
prefetchApplication(async () => {
  const [{ preloadScreen }] = await Promise.all([import('./screens.ts'), import('./router.tsx')])
  await Promise.all(['/login', '/register'].map(preloadScreen))
})

// A 401 leads to the login from here too (section 4).
function LoginAfterExpiry() {
  const { expired } = useSession()
  useEffect(() => {
    if (expired) location.assign(`/login${expiredHash}`)
  }, [expired])
  return null
}
