import { type ComponentType, lazy, Suspense, useState } from 'react'
import { BrowserRouter, matchPath, Outlet, Route, Routes } from 'react-router'
import { contactHash, useContact } from './lib/contact.ts'
import { useSession } from './lib/session.ts'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { Waiting } from './ui/waiting.tsx'

const loadApp = () => import('./shell/app.tsx')
const loadWorkspace = () => import('./shell/workspace.tsx')
const loadLanding = () => import('./landing/landing-page.tsx')
const loadContact = () => import('./contact/contact-dialog.tsx')
const loadDocuments = () => import('./documents/documents-page.tsx')

const App = screen(loadApp, 'App')
const Workspace = screen(loadWorkspace, 'Workspace')
const ContactDialog = screen(loadContact, 'ContactDialog')
const Landing = screen(loadLanding, 'LandingPage')

const publicScreens = [
  page('/login', () => import('./accounts/login-page.tsx'), 'LoginPage'),
  page('/register', () => import('./accounts/register-page.tsx'), 'RegisterPage'),
  page('/atualizar-senha/:token?', () => import('./accounts/new-password-page.tsx'), 'NewPasswordPage'),
]
const workspaceScreens = [
  page('/dashboard', () => import('./dashboard/dashboard-page.tsx'), 'DashboardPage'),
  page('/notas-fiscais', loadDocuments, 'NfePage'),
  page('/cte', loadDocuments, 'CtePage'),
  page('/empresas', () => import('./companies/companies-page.tsx'), 'CompaniesPage'),
  page('/empresas/nova', () => import('./companies/new-company-page.tsx'), 'NewCompanyPage'),
]
const landing = { path: '/', load: loadLanding }
const notFound = page('*', () => import('./shell/not-found-page.tsx'), 'NotFoundPage')

preload(location.pathname)
if (location.hash === contactHash) preload(contactHash)

export function Router() {
  return (
    <ErrorBoundary>
      <BrowserRouter>
        <Suspense fallback={null}>
          <Routes>
            <Route path={landing.path} element={<Landing preload={preload} />} />
            <Route element={<App />}>
              {publicScreens.map(({ path, Screen }) => (
                <Route key={path} path={path} element={<Screen />} />
              ))}
              <Route
                element={
                  <Suspense fallback={<Waiting text="Verificando autenticação..." />}>
                    <Workspace preload={preload}>
                      <Outlet />
                    </Workspace>
                  </Suspense>
                }
              >
                {workspaceScreens.map(({ path, Screen }) => (
                  <Route key={path} path={path} element={<Screen key={path} />} />
                ))}
              </Route>
              <Route path={notFound.path} element={<notFound.Screen />} />
            </Route>
          </Routes>
        </Suspense>
        <Contact />
      </BrowserRouter>
    </ErrorBoundary>
  )
}

// Over every page; its code comes when it is first needed, and it stays for what was typed in it, as long as it is the same person.
function Contact() {
  const { open } = useContact()
  const { session } = useSession()
  const [needed, setNeeded] = useState(open)
  if (open && !needed) setNeeded(true)
  return <Suspense fallback={<Opening />}>{needed && <ContactDialog key={session?.wsId ?? 'visitor'} />}</Suspense>
}

function Opening() {
  return (
    <Waiting
      text="Abrindo o formulário..."
      className="fade-in fill-mode-both fixed inset-x-4 bottom-4 z-50 mx-auto max-w-64 animate-in rounded bg-surface py-3 shadow-float delay-300"
    />
  )
}

type Load<Name extends string> = () => Promise<Record<Name, ComponentType>>

function page<Name extends string>(path: string, load: Load<Name>, name: Name) {
  return { path, load, Screen: screen(load, name) }
}

function screen<Name extends string, Props>(load: () => Promise<Record<Name, ComponentType<Props>>>, name: Name) {
  return lazy(() => load().then((module) => ({ default: module[name] })))
}

// A screen, its layout and its providers are asked for together instead of one after the other.
function preload(path: string) {
  if (path === contactHash) return void loadContact().catch(() => undefined)
  const matches = (candidate: { path: string }) => matchPath(candidate.path, path)
  const inside = workspaceScreens.find(matches)
  const target = inside ?? [landing, ...publicScreens].find(matches) ?? notFound
  const needs = [target !== landing && loadApp, inside && loadWorkspace, target.load].filter((load) => !!load)
  for (const load of needs) load().catch(() => undefined)
}
