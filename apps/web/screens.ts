import { listCompanies } from '@vigia/contract/companies'
import { getDashboard, getPlan } from '@vigia/contract/workspace'
import type { ReactNode } from 'react'
import { type Piece, piece } from './lib/piece.ts'

/** What stands at an address. */
export interface Screen extends Piece {
  path: string
}

const loadDocuments = () => import('./documents/documents-page.tsx')

/** The frame of every screen that needs a session. */
export const workspace = piece<{ preload: (path: string) => void; children: ReactNode }>(() =>
  import('./shell/workspace.tsx').then(({ Workspace }) => Workspace),
)

export const publicScreens: readonly Screen[] = [
  screen('/login', () => import('./accounts/login-page.tsx').then(({ LoginPage }) => LoginPage)),
  screen('/register', () => import('./accounts/register-page.tsx').then(({ RegisterPage }) => RegisterPage)),
  screen('/atualizar-senha/:token?', () =>
    import('./accounts/new-password-page.tsx').then(({ NewPasswordPage }) => NewPasswordPage),
  ),
]

export const workspaceScreens: readonly Screen[] = [
  screen('/dashboard', () => import('./dashboard/dashboard-page.tsx').then(({ DashboardPage }) => DashboardPage)),
  screen('/notas-fiscais', () => loadDocuments().then(({ NfePage }) => NfePage)),
  screen('/cte', () => loadDocuments().then(({ CtePage }) => CtePage)),
  screen('/empresas', () => import('./companies/companies-page.tsx').then(({ CompaniesPage }) => CompaniesPage)),
  screen('/empresas/nova', () =>
    import('./companies/new-company-page.tsx').then(({ NewCompanyPage }) => NewCompanyPage),
  ),
  screen('/empresas/editar/:id', () =>
    import('./companies/edit-company-page.tsx').then(({ EditCompanyPage }) => EditCompanyPage),
  ),
  screen('/help', () => import('./help/help-page.tsx').then(({ HelpPage }) => HelpPage)),
  screen('/conta', () => import('./account/account-page.tsx').then(({ AccountPage }) => AccountPage)),
  screen('/auditoria', () => import('./account/audit-page.tsx').then(({ AuditPage }) => AuditPage)),
]

export const notFound: Screen = screen('*', () =>
  import('./shell/not-found-page.tsx').then(({ NotFoundPage }) => NotFoundPage),
)

/** Fetches the code of the screen at an address, and of its frame; whoever shows them says what did not arrive. */
export async function preload(address: string): Promise<void> {
  const isHere = ({ path }: Screen) => asPattern(path).test(address)
  const inside = workspaceScreens.find(isHere)
  const { load } = inside ?? publicScreens.find(isHere) ?? notFound
  await Promise.allSettled([load(), ...(inside ? [workspace.load()] : [])])
}

/** The addresses of what the screen at an address reads first, as far as they are always the same. */
export function firstQuestions(address: string): string[] {
  const isHere = ({ path }: Screen) => asPattern(path).test(address)
  if (!workspaceScreens.some(isHere)) return []
  return [...(asPattern('/dashboard').test(address) ? [getDashboard.path] : []), listCompanies.path, getPlan.path]
}

function screen(path: string, fetchCode: Piece['load']): Screen {
  return Object.assign(piece(fetchCode), { path })
}

function asPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\/:\w+\?/, '(/[^/]+)?').replace(/:\w+/, '[^/]+')}/?$`)
}
