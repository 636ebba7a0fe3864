import { type ComponentType, lazy, Suspense } from 'react'
import { BrowserRouter, matchPath, Outlet, Route, Routes } from 'react-router'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { Waiting } from './ui/waiting.tsx'

const loadApp = () => import('./shell/app.tsx')
const loadWorkspace = () => import('./shell/workspace.tsx')
const loadDocuments = () => import('./documents/documents-page.tsx')

const App = screen(loadApp, 'App')
const Workspace = screen(loadWorkspace, 'Workspace')

const publicScreens = [
  page('/login', () => import('./accounts/login-page.tsx'), 'LoginPage'),
  page('/register', () => import('./accounts/register-page.tsx'), 'RegisterPage'),
]
const workspaceScreens = [
  page('/dashboard', () => import('./dashboard/dashboard-page.tsx'), 'DashboardPage'),
  page('/notas-fiscais', loadDocuments, 'NfePage'),
  page('/cte', loadDocuments, 'CtePage'),
  page('/empresas', () => import('./companies/companies-page.tsx'), 'CompaniesPage'),
  page('/empresas/nova', () => import('./companies/new-company-page.tsx'), 'NewCompanyPage'),
]
const landing = page('/', () => import('./landing/landing-page.tsx'), 'LandingPage')
const notFound = page('*', () => import('./shell/not-found-page.tsx'), 'NotFoundPage')

preload(location.pathname)

export function Router() {
  return (
    <ErrorBoundary>
      <BrowserRouter>
        <Suspense fallback={null}>
          <Routes>
            <Route path={landing.path} element={<landing.Screen />} />
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
      </BrowserRouter>
    </ErrorBoundary>
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
  const matches = (candidate: { path: string }) => matchPath(candidate.path, path)
  const inside = workspaceScreens.find(matches)
  const target = inside ?? [landing, ...publicScreens].find(matches) ?? notFound
  const needs = [target !== landing && loadApp, inside && loadWorkspace, target.load].filter((load) => !!load)
  for (const load of needs) load().catch(() => undefined)
}
