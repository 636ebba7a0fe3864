import { listPath } from '@vigia/contract/codes'
import { families } from '@vigia/dfe/families/all'
import { matchPath } from 'react-router'
import { lazyWithPreload } from './lib/lazy.ts'

const documents = () => import('./documents/documents-page.tsx')

/** The layout of every screen that needs a session. */
export const Workspace = lazyWithPreload(() => import('./shell/workspace.tsx').then((module) => module.Workspace))

export const visitorScreens = [
  screen('/login', () => import('./account/login-page.tsx').then((module) => module.LoginPage)),
  screen('/register', () => import('./account/register-page.tsx').then((module) => module.RegisterPage)),
  screen('/atualizar-senha/:token?', () =>
    import('./account/new-password-page.tsx').then((module) => module.NewPasswordPage),
  ),
  screen('/confirmar-email/:token?', () =>
    import('./account/confirm-email-page.tsx').then((module) => module.ConfirmEmailPage),
  ),
  screen('/avisos/:token?', () => import('./account/stop-letters-page.tsx').then((module) => module.StopLettersPage)),
  screen('/convite/:token?', () => import('./account/invitation-page.tsx').then((module) => module.InvitationPage)),
]

export const workspaceScreens = [
  screen('/dashboard', () => import('./dashboard/dashboard-page.tsx').then((module) => module.DashboardPage)),
  ...families.map(({ id, code }) => screen(listPath(code), () => documents().then(({ lists }) => lists[id]!))),
  screen('/empresas', () => import('./companies/companies-page.tsx').then((module) => module.CompaniesPage)),
  screen('/empresas/nova', () => import('./companies/new-company-page.tsx').then((module) => module.NewCompanyPage)),
  screen('/empresas/editar/:id', () =>
    import('./companies/edit-company-page.tsx').then((module) => module.EditCompanyPage),
  ),
  screen('/alertas', () => import('./alerts/alerts-page.tsx').then((module) => module.AlertsPage)),
  screen('/alertas/regras', () => import('./alerts/rules-page.tsx').then((module) => module.RulesPage)),
  screen('/relatorios', () => import('./reports/reports-page.tsx').then((module) => module.ReportsPage)),
  screen('/relatorios/precos/:id', () => import('./reports/prices-page.tsx').then((module) => module.PricesPage)),
  screen('/fretes', () => import('./freight/freight-page.tsx').then((module) => module.FreightPage)),
  screen('/reforma', () => import('./reform/reform-page.tsx').then((module) => module.ReformPage)),
  screen('/prazos', () => import('./agenda/agenda-page.tsx').then((module) => module.AgendaPage)),
  screen('/vencimentos', () => import('./agenda/installments-page.tsx').then((module) => module.InstallmentsPage)),
  screen('/fornecedores/:raiz', () => import('./suppliers/supplier-page.tsx').then((module) => module.SupplierPage)),
  screen('/respostas', () => import('./answer-rules/rules-page.tsx').then((module) => module.AnswerRulesPage)),
  screen('/aprovacoes', () => import('./answer-rules/asked-page.tsx').then((module) => module.AskedPage)),
  screen('/help', () => import('./help/help-page.tsx').then((module) => module.HelpPage)),
  screen('/conta', () => import('./account/account-page.tsx').then((module) => module.AccountPage)),
  screen('/integracoes', () =>
    import('./integrations/integrations-page.tsx').then((module) => module.IntegrationsPage),
  ),
  screen('/equipe', () => import('./team/team-page.tsx').then((module) => module.TeamPage)),
  screen('/sistema', () => import('./account/system-page.tsx').then((module) => module.SystemPage)),
  screen('/auditoria', () => import('./account/audit-page.tsx').then((module) => module.AuditPage)),
]

export const notFound = screen('*', () => import('./shell/not-found-page.tsx').then((module) => module.NotFoundPage))

/** Fetches the code of the screen at an address, and of its layout. */
export async function preloadScreen(address: string): Promise<void> {
  const isHere = ({ path }: { path: string }) => matchPath(path, address) !== null
  const inside = workspaceScreens.find(isHere)
  const { Screen } = inside ?? visitorScreens.find(isHere) ?? notFound
  await Promise.all([Screen.preload(), inside && Workspace.preload()])
}

function screen(path: string, fetchCode: Parameters<typeof lazyWithPreload<object>>[0]) {
  return { path, Screen: lazyWithPreload(fetchCode) }
}
