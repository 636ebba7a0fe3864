import type { Page } from 'playwright-core'
import { byText, heading, press, refuse, type Scene, type SceneFacts } from './scene.ts'

const companies = '**/obter-empresas*'

async function choose(page: Page, { certificate }: SceneFacts) {
  const file = { name: 'padaria estrela do norte 2026.pfx', mimeType: 'application/x-pkcs12', buffer: certificate }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByLabel('Senha do certificado').waitFor()
}

const editing = (which: 'healthy' | 'blocked' | 'expired') => (facts: SceneFacts) => `/empresas/editar/${facts[which]}`

export const companyScenes: Scene[] = [
  { name: 'companies', who: 'office', path: '/empresas', shows: byText('61 empresas') },
  { name: 'companies-few', who: 'demo', path: '/empresas', shows: byText('3 empresas') },
  { name: 'companies-empty', who: 'empty', path: '/empresas', shows: byText('Nenhuma empresa encontrada') },
  {
    name: 'companies-ended',
    who: 'ended',
    path: '/empresas',
    shows: (page) => page.getByRole('region', { name: 'Seu plano' }),
  },
  {
    name: 'companies-nothing-found',
    who: 'office',
    path: '/empresas?busca=nada+com+este+nome',
    shows: byText('Nenhuma empresa encontrada'),
  },
  {
    name: 'companies-trouble',
    who: 'office',
    path: '/empresas?so=problema',
    shows: (page) => page.getByRole('button', { name: 'Com problema', pressed: true }),
  },
  {
    name: 'companies-selected',
    who: 'office',
    path: '/empresas?busca=CLIENTE+000',
    prepare: (page) => page.getByRole('checkbox', { name: 'Selecionar 8 empresas' }).check(),
    shows: byText('8 selecionadas de 8 empresas'),
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
    name: 'new-company-file',
    who: 'empty',
    path: '/empresas/nova',
    prepare: choose,
    shows: (page) => page.getByLabel('Senha do certificado'),
  },
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
  {
    name: 'new-company-test-certificate',
    who: 'empty',
    path: '/empresas/nova',
    prepare: press('Usar agora'),
    shows: (page) => page.getByRole('button', { name: 'Salvar Empresa' }),
  },
  {
    name: 'new-company-several',
    who: 'empty',
    path: '/empresas/nova',
    async prepare(page, { certificate }) {
      const names = ['padaria.pfx', 'um nome de arquivo bem comprido que alguém recebeu por mensagem (1) final.pfx']
      const files = names.map((name) => ({ name, mimeType: 'application/x-pkcs12', buffer: certificate }))
      await page.locator('input[type=file]').setInputFiles(files)
    },
    shows: heading('2 certificados'),
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
    name: 'edit-company-errors',
    who: 'demo',
    path: editing('healthy'),
    async prepare(page) {
      await page.getByLabel('Razão Social').fill(' ')
      await page.getByLabel('Email').fill('fiscal@padaria')
      await press('Salvar Alterações')(page)
    },
    shows: byText('Email inválido'),
  },
  {
    name: 'edit-company-remove-certificate',
    who: 'demo',
    path: editing('healthy'),
    prepare: press('Remover certificado'),
    shows: (page) => page.getByRole('alertdialog'),
  },
  {
    name: 'edit-company-completeness',
    who: 'demo',
    path: editing('healthy'),
    prepare: (page) => page.getByRole('heading', { name: 'Completude' }).click(),
    shows: (page) => page.getByRole('table', { name: 'NF-e' }),
  },
  {
    name: 'edit-company-unknown',
    who: 'demo',
    path: '/empresas/editar/00000000-0000-4000-8000-000000000000',
    shows: byText('Empresa não encontrada'),
  },
]
