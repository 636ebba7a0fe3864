import { Suspense } from 'react'
import { BrowserRouter, Navigate, Outlet, Route, Routes, useLocation } from 'react-router'
import { contactHash } from './lib/contact.ts'
import { useSession } from './lib/session.ts'
import { notFound, preloadScreen, visitorScreens, Workspace, workspaceScreens } from './screens.ts'
import { App } from './shell/app.tsx'
import { ContactHost, preloadContact } from './shell/contact-host.tsx'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { Logo } from './ui/logo.tsx'
import { Waiting } from './ui/waiting.tsx'

if (location.hash === contactHash) preloadContact()

/** Routes of all addresses except finished pages, which the server serves. */
export function Router() {
  const { session } = useSession()
  return (
    <ErrorBoundary>
      <BrowserRouter>
        <Suspense fallback={<Arriving />}>
          <Routes>
            <Route element={<App />}>
              <Route element={<Outside />}>
                {visitorScreens.map(({ path, Screen }) => (
                  <Route key={path} path={path} element={<Screen />} />
                ))}
              </Route>
              <Route element={<Inside />}>
                {workspaceScreens.map(({ path, Screen }) => (
                  <Route key={path} path={path} element={<Screen key={path} />} />
                ))}
              </Route>
              <Route element={session ? <Inside /> : <Alone />}>
                <Route path={notFound.path} element={<notFound.Screen />} />
              </Route>
            </Route>
          </Routes>
        </Suspense>
        <ContactOverRoutes />
      </BrowserRouter>
    </ErrorBoundary>
  )
}

// A 401 leads to the login from here too (section 4); only an invitation is worth coming back to.
function Outside() {
  const { expired } = useSession()
  const { pathname } = useLocation()
  if (!expired || pathname === '/login') return <Outlet />
  const from = pathname.startsWith('/convite/') ? pathname : undefined
  return <Navigate to="/login" replace state={{ expired, from }} />
}

function Inside() {
  const { pathname } = useLocation()
  return (
    <Suspense fallback={<Waiting text="Verificando autenticação..." />}>
      <Workspace preload={preloadTarget}>
        <ErrorBoundary key={pathname} inFrame>
          <Outlet />
        </ErrorBoundary>
      </Workspace>
    </Suspense>
  )
}

function Alone() {
  return (
    <main>
      <Outlet />
    </main>
  )
}

// Looks like the content of index.html, which is shown before.
function Arriving() {
  return (
    <div className="grid min-h-dvh place-items-center">
      <Logo className="size-14" />
    </div>
  )
}

// Rendered on every navigation, because the router fires no event for `useContact`.
function ContactOverRoutes() {
  useLocation()
  return <ContactHost />
}

function preloadTarget(target: string) {
  if (target === contactHash) preloadContact()
  else void preloadScreen(target)
}
