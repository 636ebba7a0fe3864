import type { Page } from 'playwright-core'
import { byText, heading, refuse, type Scene, type SceneFacts } from './scene.ts'

const companies = '**/obter-empresas*'

async function choose(page: Page, { certificate }: SceneFacts) {
  const file = { name: 'padaria estrela do norte 2026.pfx', mimeType: 'application/x-pkcs12', buffer: certificate }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByLabel('Senha do certificado').waitFor()
}

const editing = (which: 'healthy' | 'blocked' | 'expired') => (facts: SceneFacts) => `/empresas/editar/${facts[which]}`

export const companyScenes: Scene[] = [
  { name: 'companies', who: 'office', path: '/empresas', shows: byText('61 empresas') },
  { name: 'companies-empty', who: 'empty', path: '/empresas', shows: byText('Nenhuma empresa encontrada') },
  {
    name: 'companies-trouble',
    who: 'office',
    path: '/empresas?so=problema',
    shows: (page) => page.getByRole('button', { name: 'Com problema', pressed: true }),
  },
  {
    name: 'companies-error',
    who: 'office',
    path: '/empresas',
    before: refuse(companies, 'O banco de dados está em manutenção.'),
    shows: byText('Erro ao carregar empresas'),
  },
  { name: 'new-company', who: 'empty', path: '/empresas/nova', shows: heading('Nova Empresa') },
  {
    name: 'new-company-password',
    who: 'empty',
    path: '/empresas/nova',
    async prepare(page, facts) {
      await choose(page, facts)
      await page.getByLabel('Senha do certificado').fill('senha do arquivo')
    },
    shows: (page) => page.getByRole('button', { name: 'Salvar Empresa' }),
  },
  { name: 'edit-company', who: 'demo', path: editing('healthy'), shows: heading('Informações Básicas') },
  { name: 'edit-company-blocked', who: 'office', path: editing('blocked'), shows: heading('Informações Básicas') },
  {
    name: 'edit-company-expired',
    who: 'office',
    path: editing('expired'),
    shows: byText('Certificado Digital Vencido!'),
  },
  {
    name: 'edit-company-completeness',
    who: 'demo',
    path: editing('healthy'),
    prepare: (page) => page.getByRole('heading', { name: 'Completude' }).click(),
    shows: (page) => page.getByRole('table', { name: 'NF-e' }),
  },
]
