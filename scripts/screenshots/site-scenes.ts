import { dialog, heading, type Scene } from './scene.ts'

/** The pictures of the landing page and of the README, and where each belongs. */
export const siteScenes: Scene[] = [
  {
    name: 'site-alert',
    file: 'apps/web/public/pictures/alerta.webp',
    who: 'demo',
    path: '/dashboard',
    prepare: async (page) => {
      const lookAlike = page.getByRole('listitem').filter({ hasText: '% igual ao do seu fornecedor' })
      await lookAlike.first().getByRole('link', { name: 'Comparar' }).click()
    },
    shows: dialog('Comparar documentos'),
  },
  {
    name: 'site-reform',
    file: 'apps/web/public/pictures/reforma.webp',
    who: 'demo',
    path: '/reforma',
    shows: heading('IBS e CBS'),
  },
  {
    name: 'site-companies',
    file: 'apps/web/public/pictures/empresas.webp',
    who: 'demo',
    path: '/empresas',
    shows: heading('Empresas'),
  },
  {
    name: 'site-dashboard',
    file: 'docs/dashboard.webp',
    who: 'demo',
    path: '/dashboard',
    prepare: async (page) => {
      await page.getByText('O certificado digital venceu.').first().waitFor({ timeout: 60_000 })
      await page.reload()
    },
    shows: heading(/para conferir antes de pagar/),
  },
]
