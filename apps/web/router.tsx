import { Suspense } from 'react'
import { BrowserRouter, Outlet, Route, Routes, useLocation } from 'react-router'
import { ContactHost, preloadContact } from './contact-host.tsx'
import { contactHash } from './lib/contact.ts'
import { notFound, preload, publicScreens, workspace, workspaceScreens } from './screens.ts'
import { App } from './shell/app.tsx'
import { drawn } from './ui/drawn.tsx'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { Logo } from './ui/logo.tsx'
import { Waiting } from './ui/waiting.tsx'

const Workspace = drawn(workspace)
const screens = {
  ofVisitors: publicScreens.map((one) => ({ path: one.path, Screen: drawn(one) })),
  ofWorkspaces: workspaceScreens.map((one) => ({ path: one.path, Screen: drawn(one) })),
  elsewhere: { path: notFound.path, Screen: drawn(notFound) },
}

if (location.hash === contactHash) preloadContact()

/** Every address but those of the finished pages, which the server answers itself: a link to them loads a page. */
export function Router() {
  return (
    <ErrorBoundary>
      <BrowserRouter>
        <Suspense fallback={<Arriving />}>
          <Routes>
            <Route element={<App />}>
              {screens.ofVisitors.map(({ path, Screen }) => (
                <Route key={path} path={path} element={<Screen />} />
              ))}
              <Route
                element={
                  <Suspense fallback={<Waiting text="Verificando autenticação..." />}>
                    <Workspace preload={preloadTarget}>
                      <Outlet />
                    </Workspace>
                  </Suspense>
                }
              >
                {screens.ofWorkspaces.map(({ path, Screen }) => (
                  <Route key={path} path={path} element={<Screen key={path} />} />
                ))}
              </Route>
              <Route path={screens.elsewhere.path} element={<screens.elsewhere.Screen />} />
            </Route>
          </Routes>
        </Suspense>
        <Contact />
      </BrowserRouter>
    </ErrorBoundary>
  )
}

// As index.html shows it, which stands there before.
function Arriving() {
  return (
    <div className="grid min-h-dvh place-items-center">
      <Logo className="size-14" />
    </div>
  )
}

// The router writes addresses without telling anybody but its own: whoever moved on has left the form.
function Contact() {
  useLocation()
  return <ContactHost />
}

function preloadTarget(target: string) {
  if (target === contactHash) preloadContact()
  else void preload(target)
}
