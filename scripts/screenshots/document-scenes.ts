import type { Page } from 'playwright-core'
import { byText, hold, press, refuse, type Scene, type SceneFacts } from './scene.ts'

const documents = '**/v1/api/DocumentosFiscais?*'
const list = '/notas-fiscais?periodo=todos'
const boxOf = (page: Page) => page.getByLabel(/^Selecionar (NF-e|CT-e)/)
const panelOf = (page: Page) => page.getByRole('dialog')
const listed = (page: Page) => boxOf(page).first()

async function select(page: Page, count: number) {
  for (let nth = 0; nth < count; nth++) await boxOf(page).nth(nth).check()
}

async function openMenu(page: Page) {
  await press('Manifestar')(page)
  await page.getByRole('menu').waitFor()
}

const answer = (label: string) => async (page: Page) => {
  await select(page, 2)
  await openMenu(page)
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

const atTab = (name: string) => (page: Page) => panelOf(page).getByRole('tab', { name }).click()
const ofComplete = ({ complete }: SceneFacts) => `${list}&documento=${complete}`

export const documentScenes: Scene[] = [
  { name: 'notes', who: 'demo', path: list, shows: listed },
  {
    name: 'notes-loading',
    who: 'demo',
    path: list,
    before: hold(documents),
    waits: true,
    shows: byText('Buscando...'),
  },
  { name: 'notes-empty', who: 'empty', path: list, shows: byText('Nenhuma nota fiscal por enquanto') },
  {
    name: 'notes-error',
    who: 'demo',
    path: list,
    before: refuse(documents, 'O banco de dados está em manutenção.'),
    shows: byText(/^Erro ao carregar dados/),
  },
  {
    name: 'notes-filtered',
    who: 'demo',
    path: `${list}&status=3&participacao=1`,
    shows: (page) => page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }),
  },
  {
    name: 'notes-suggestions',
    who: 'demo',
    path: list,
    prepare: async (page) => {
      await page.getByLabel('Pesquisar').pressSequentially('pa')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('ArrowDown')
    },
    shows: (page) => page.getByRole('option', { selected: true }),
  },
  {
    name: 'notes-period',
    who: 'demo',
    path: list,
    prepare: (page) => page.getByLabel('Data de emissão').click(),
    shows: (page) => page.getByRole('grid'),
  },
  {
    name: 'notes-answer-dialog',
    who: 'demo',
    path: `${list}&status=1&participacao=1`,
    prepare: answer('Ciência'),
    shows: byText(/^Vai para/),
  },
  {
    name: 'notes-export',
    who: 'demo',
    path: list,
    async prepare(page) {
      await select(page, 2)
      await press('Exportar')(page)
    },
    shows: (page) => page.getByRole('dialog', { name: 'Exportar' }),
  },
  {
    name: 'notes-pdf',
    who: 'demo',
    path: list,
    prepare: (page) =>
      page
        .getByRole('button', { name: /^Visualizar NF-e/, disabled: false })
        .first()
        .click(),
    shows: (page) => page.getByRole('dialog').locator('canvas').first(),
  },
  { name: 'panel', who: 'demo', path: ofComplete, shows: byText('Identificação') },
  {
    name: 'panel-items',
    who: 'demo',
    path: ofComplete,
    prepare: atTab('Itens'),
    shows: (page) => page.getByRole('list', { name: 'Itens do documento' }),
  },
  {
    name: 'panel-events',
    who: 'demo',
    path: ofComplete,
    prepare: atTab('Eventos'),
    shows: (page) => page.getByRole('list', { name: 'Histórico do documento' }),
  },
  {
    name: 'panel-summary',
    who: 'demo',
    path: ({ summary }) => `${list}&documento=${summary}`,
    shows: byText('Só o resumo está aqui'),
  },
  { name: 'freights', who: 'demo', path: '/cte?periodo=todos', shows: listed },
  {
    name: 'freights-panel',
    who: 'demo',
    path: ({ freight }) => `/cte?periodo=todos&documento=${freight}`,
    shows: byText('Identificação'),
  },
  {
    name: 'freights-correction',
    who: 'demo',
    path: '/cte?periodo=todos',
    async prepare(page) {
      await answer('Carta Correção')(page)
      await press('Corrigir um campo')(page)
    },
    shows: (page) => page.getByLabel('Novo valor'),
  },
]
