import { dialog, heading, type Scene } from './scene.ts'

/** The pictures of the landing page and of the README, and where each belongs. */
export const siteScenes: Scene[] = [
  {
    name: 'site-alert',
    file: 'apps/web/public/pictures/alerta.jpg',
    who: 'demo',
    path: '/alertas?regra=S17',
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /^Comparar com/ })
        .first()
        .click()
    },
    shows: dialog('Comparar documentos'),
  },
  {
    name: 'site-reform',
    file: 'apps/web/public/pictures/reforma.jpg',
    who: 'demo',
    path: '/reforma',
    shows: heading('IBS e CBS'),
  },
  {
    name: 'site-companies',
    file: 'apps/web/public/pictures/empresas.jpg',
    who: 'demo',
    path: '/empresas',
    shows: heading('Empresas'),
  },
  {
    name: 'site-dashboard',
    file: 'docs/dashboard.jpg',
    who: 'demo',
    path: '/dashboard',
    shows: heading(/para conferir antes de pagar/),
  },
]
