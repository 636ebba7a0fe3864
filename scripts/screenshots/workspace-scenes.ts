import type { Page } from 'playwright-core'
import { byText, dialog, heading, press, refuse, type Scene } from './scene.ts'

const daysOf = (page: Page) => page.getByRole('region', { name: 'Documentos por Dia' })

// Its charts come when they are looked at.
async function lookAtDays(page: Page) {
  await daysOf(page).scrollIntoViewIfNeeded()
  await daysOf(page).getByRole('application').waitFor()
  await page.evaluate(() => scrollTo(0, 0))
}

export const workspaceScenes: Scene[] = [
  {
    name: 'dashboard',
    who: 'demo',
    path: '/dashboard',
    prepare: lookAtDays,
    shows: (page) => page.getByRole('region', { name: 'Atividade Recente' }).getByRole('listitem').first(),
  },
  {
    name: 'bell',
    who: 'demo',
    path: '/dashboard',
    prepare: press(/^Avisos/),
    shows: dialog('Avisos'),
  },
  {
    name: 'dashboard-welcome',
    who: 'empty',
    path: '/dashboard',
    shows: dialog('Bem-vindo ao Vigia Fiscal'),
  },
  {
    name: 'dashboard-empty',
    who: 'empty',
    path: '/dashboard',
    prepare: press('Fazer Depois'),
    shows: byText('Cadastre a primeira empresa'),
  },
  {
    name: 'dashboard-office',
    who: 'office',
    path: '/dashboard',
    shows: (page) => page.getByRole('region', { name: 'Documentos por Empresa' }).getByRole('row').nth(5),
  },
  {
    name: 'dashboard-error',
    who: 'demo',
    path: '/dashboard',
    before: refuse('**/v1/api/Dashboard', 'O banco de dados está em manutenção.'),
    shows: byText('Erro ao carregar dados do dashboard'),
  },
  { name: 'help', who: 'demo', path: '/help', shows: heading('Ajuda') },
  {
    name: 'help-search',
    who: 'demo',
    path: '/help?busca=656',
    shows: (page) => page.getByRole('region', { name: 'Resultados da busca' }).getByRole('heading').first(),
  },
  {
    name: 'freight',
    who: 'demo',
    path: '/fretes',
    shows: (page) => page.getByRole('main').getByText('Cobrado em dobro').filter({ visible: true }),
  },
  { name: 'account', who: 'demo', path: '/conta', shows: heading('Minha conta') },
  {
    name: 'alerts',
    who: 'demo',
    path: '/alertas',
    shows: (page) => page.getByRole('main').getByRole('listitem').first(),
  },
  { name: 'alert-rules', who: 'demo', path: '/alertas/regras', shows: heading('Regras dos alertas') },
  {
    name: 'reports',
    who: 'demo',
    path: '/relatorios',
    shows: (page) => page.getByRole('main').getByRole('link').filter({ visible: true }),
  },
  {
    name: 'reform',
    who: 'demo',
    path: '/reforma',
    shows: (page) => page.getByRole('region', { name: 'Destacado por fornecedor' }).getByRole('row').nth(1),
  },
  {
    name: 'deadlines',
    who: 'demo',
    path: '/prazos',
    shows: (page) => page.getByRole('main').getByRole('listitem').first(),
  },
  { name: 'installments', who: 'demo', path: '/vencimentos', shows: heading('Vencimentos a pagar') },
  { name: 'answer-rules', who: 'demo', path: '/respostas', shows: heading('Respostas por regra') },
  { name: 'asked', who: 'demo', path: '/aprovacoes', shows: heading('Aprovações pendentes') },
  { name: 'team', who: 'demo', path: '/equipe', shows: heading('Equipe') },
  { name: 'integrations', who: 'demo', path: '/integracoes', shows: heading('Integrações') },
  {
    name: 'audit',
    who: 'demo',
    path: '/auditoria',
    shows: (page) => page.getByText(/^Entrou\./).filter({ visible: true }),
  },
  {
    name: 'user-menu',
    who: 'demo',
    path: '/help',
    prepare: press('Usuário'),
    shows: (page) => page.getByRole('menu'),
  },
  {
    name: 'navigation-open',
    who: 'demo',
    path: '/help',
    below: 768,
    prepare: press('Alternar navegação'),
    shows: dialog('Navegação'),
  },
]
