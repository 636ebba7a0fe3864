import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { drawn, periodOf, rowsOf, settledAccount } from './captured.ts'
import { lead, pathOf } from './page.ts'
import {
  type Account,
  bakery,
  chooseCertificates,
  everywhere,
  expectAccessible,
  expectAccessibleInBothThemes,
  expectNoSidewaysScroll,
  login,
  phone,
  query,
  refuse,
  shown,
  useSite,
} from './site.ts'

// Here alone axe-core looks at the screens, then at what opens over them and what they say when something is wrong. A theme changes colours
// alone, so both matter only where a state brings colours of its own. Each state is looked at once, the one on a desk in the light, the next
// in the dark; `RUNS=full` looks at each in all of them.

const site = useSite()

interface View {
  name: string
  /** Absent: stays where the previous view led. */
  path?: string
  /** Actions on the screen before the check. */
  act(page: Page): Promise<unknown>
  /** It has colours that no screen has. */
  coloured?: boolean
  /** Takes away what would stay when another screen comes. */
  leave?(page: Page): Promise<unknown>
}

const publicScreens = [
  '/',
  '/login',
  '/register',
  '/atualizar-senha/nada',
  '/confirmar-email/nada',
  '/convite/nada',
  '/avisos/nada',
  '/nada',
  '/termos',
  '/privacidade',
  '/cookies',
]
const workspaceScreens = [
  '/dashboard',
  '/notas-fiscais?periodo=todos',
  '/empresas',
  '/cte?periodo=todos',
  '/empresas/nova',
  '/help',
  '/conta',
  '/integracoes',
  '/equipe',
  '/prazos',
  '/relatorios',
  '/fretes',
  '/reforma',
  '/vencimentos',
  '/alertas',
  '/alertas/regras',
  '/respostas',
  '/aprovacoes',
  '/sistema',
  '/auditoria',
]

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
const opened = (page: Page) => shown(page.getByRole('dialog'))

const pressEscape = (page: Page) => page.keyboard.press('Escape')

const overPublicScreens: (View & { path: string })[] = [
  {
    name: 'the demonstration',
    path: '/',
    act: async (page) => {
      await press(page, 'Ver Demonstração')
      await opened(page)
    },
  },
  {
    name: 'an empty message',
    path: '/#contato',
    act: async (page) => {
      await press(page, 'Enviar mensagem')
      await shown(page.getByText('Mensagem é obrigatória'))
    },
  },
  {
    name: 'a refused login',
    path: '/login',
    act: async (page) => {
      await login(page, { email: 'ninguem@empresa.example', senha: 'errada-123' })
      await shown(page.getByText('Credenciais inválidas.'))
    },
  },
  {
    name: 'an empty sign-up',
    path: '/register',
    act: async (page) => {
      await press(page, 'Cadastrar')
      await shown(page.getByText('Nome é obrigatório'))
    },
  },
]

// With few rows, because axe-core looks at each of them again.
const cancelled = '/notas-fiscais?periodo=todos&status=3'
const summaries = '/notas-fiscais?periodo=todos&status=1'
const tick = (page: Page) => rowsOf(page).first().getByRole('checkbox').click()
const openPanel = async (page: Page, row = 0) => {
  await page
    .getByRole('link')
    .filter({ hasText: /LTDA|S\.A\./ })
    .nth(row)
    .click()
  await shown(page.getByRole('dialog').getByText('Identificação'))
}
const printedFormDrawn = async (page: Page) => {
  await drawn(page.getByRole('dialog').locator('canvas').first())
  // The structure of each page names words that are set one after the other.
  const count = (parts: string) => page.getByRole('dialog').locator(parts).count()
  await expect.poll(async () => (await count('.endOfContent')) - (await count('canvas'))).toBe(0)
}
const answer = async (page: Page, label: string) => {
  await tick(page)
  await press(page, 'Manifestar')
  await page.getByRole('menuitem', { name: label, exact: true }).click()
  await shown(page.getByRole('dialog').getByText(/^(Vai para|Nenhum)/))
}

const overLists: View[] = [
  {
    name: 'a selection of the page',
    coloured: true,
    path: cancelled,
    act: async (page) => {
      await page.getByLabel('Selecionar todos os documentos da página').click()
      await shown(page.getByText(/^\d+ selecionadas$/))
    },
  },
  {
    name: 'the menu of the answers',
    act: async (page) => {
      await press(page, 'Manifestar')
      await shown(page.getByRole('menuitem'))
    },
    leave: pressEscape,
  },
  {
    name: 'the columns',
    act: async (page) => {
      await press(page, 'Escolher colunas')
      await shown(page.getByRole('menuitemcheckbox'))
    },
    leave: pressEscape,
  },
  {
    name: 'the views of a list',
    act: async (page) => {
      await press(page, 'Visões')
      await shown(page.getByText('Nenhuma visão guardada ainda.'))
    },
    leave: pressEscape,
  },
  {
    name: 'the period',
    coloured: true,
    act: async (page) => {
      await page.getByLabel('Data de emissão').click()
      await shown(page.getByRole('dialog', { name: 'Período' }).getByRole('grid'))
    },
    leave: pressEscape,
  },
  {
    name: 'the export',
    act: async (page) => {
      await press(page, 'Exportar')
      await opened(page)
    },
    leave: pressEscape,
  },
  {
    name: 'a correction without its fields',
    path: '/cte?periodo=todos',
    act: async (page) => {
      await answer(page, 'Carta Correção')
      await press(page, 'Corrigir um campo')
      await page.getByLabel('Grupo').press('Tab')
      await shown(page.getByText('Use o nome que está no XML: até 20 letras e números.'))
    },
  },
]

const overDocuments: View[] = [
  {
    name: 'a printed form',
    path: '/notas-fiscais?periodo=todos&status=2',
    act: async (page) => {
      await page
        .getByRole('button', { name: /^Visualizar NF-e/, disabled: false })
        .first()
        .click()
      await printedFormDrawn(page)
    },
    leave: async (page) => {
      await pressEscape(page)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
  },
  {
    name: 'the panel',
    coloured: true,
    act: async (page) => {
      await openPanel(page)
      await printedFormDrawn(page)
    },
  },
  {
    name: 'the remarks',
    act: async (page) => {
      await page.getByRole('tab', { name: 'Anotações' }).click()
      await shown(page.getByLabel('Nova observação'))
    },
  },
  {
    name: 'the history',
    coloured: true,
    act: async (page) => {
      await page.getByRole('tab', { name: 'Eventos' }).click()
      await shown(page.getByRole('list', { name: 'Histórico do documento' }))
    },
  },
  { name: 'the panel of a summary', path: summaries, act: openPanel },
  {
    name: 'the page of a supplier',
    path: '/notas-fiscais?periodo=todos',
    act: async (page) => {
      await page
        .getByRole('link', { name: /^Tudo do fornecedor/ })
        .first()
        .click()
      await shown(page.getByRole('heading', { name: 'Nomes e estabelecimentos' }))
    },
  },
  {
    name: 'low rows',
    path: cancelled,
    act: async (page) => {
      await page.evaluate(() => localStorage.setItem('vigia.density', 'compact'))
      await page.reload()
      await press(page, /^Filtros/)
      await shown(page.getByLabel('Participação'))
    },
  },
]

const overOtherScreens: View[] = [
  {
    name: 'a dashboard that does not come',
    coloured: true,
    path: '/help',
    act: async (page) => {
      await refuse(page, '**/v1/api/Dashboard')
      await page.getByRole('navigation').getByRole('link', { name: 'Dashboard' }).click()
      await shown(page.getByRole('alert').filter({ hasText: 'Erro ao carregar dados do dashboard' }))
    },
    leave: (page) => page.unrouteAll(),
  },
  {
    name: 'the days as a table',
    coloured: true,
    path: '/dashboard',
    act: async (page) => {
      // On the first morning of a month no day has a document yet.
      await page.route('**/v1/api/Dashboard', async (route) => {
        const response = await route.fetch()
        const body = await response.json()
        body.data.documentosPorDia[0].qtdNfe ||= 1
        await route.fulfill({ response, json: body })
      })
      await page.reload()
      await press(page, 'Ver tabela')
      await shown(page.getByRole('table', { name: 'Documentos por dia de emissão' }))
    },
    leave: (page) => page.unrouteAll(),
  },
  {
    name: 'the menu of the person',
    path: '/help',
    act: async (page) => {
      await press(page, 'Usuário')
      await shown(page.getByRole('menu'))
    },
    leave: pressEscape,
  },
  {
    name: 'the palette',
    coloured: true,
    path: '/help',
    act: async (page) => {
      await press(page, 'Busca rápida')
      await page.getByRole('combobox').fill('padaria')
      await shown(page.getByRole('group', { name: 'Empresas' }))
    },
    leave: pressEscape,
  },
  {
    name: 'certificates with a password each',
    path: '/empresas/nova',
    act: async (page) => {
      const content = new Uint8Array([1])
      await chooseCertificates(page, [
        { name: 'a.pfx', content },
        { name: 'b.p12', content },
      ])
      await shown(page.getByRole('heading', { name: '2 certificados' }))
    },
  },
  {
    name: 'a company with mistakes',
    path: '/empresas',
    act: async (page) => {
      await page
        .getByRole('link', { name: /^Editar/ })
        .first()
        .click()
      await page.getByLabel('Razão Social').fill(' ')
      await press(page, 'Salvar Alterações')
      await shown(page.getByText('Razão social é obrigatória'))
    },
  },
  {
    name: 'a question before what was typed is lost',
    act: async (page) => {
      await page.getByRole('link', { name: 'Ajuda' }).click()
      await shown(page.getByRole('alertdialog', { name: 'Sair sem salvar?' }))
    },
    leave: (page) => press(page, 'Continuar editando'),
  },
]

let office: Promise<Account> | undefined
/** By their status, the periods of a few documents. */
const periods = new Map<string, string>()

/** Everything that the authority has for two companies is here. */
async function member(path: string, options = {}): Promise<Page> {
  office ??= settledAccount(site).then(async ({ account, client }) => {
    for (const status of ['1', '2', '3']) {
      const rows = await client.list(`TipoDFe=0&Status=${status}`)
      // The panel and the printed form are of a complete note.
      periods.set(
        status,
        periodOf(status === '2' ? rows.filter(({ notaCompleta }) => notaCompleta) : rows, 4, 'newest'),
      )
    }
    return account
  })
  return site.resume(await office, few(path), options)
}

/** A list of one status has few rows: a long one takes longer to draw than all that is done on it. */
const few = (path: string) =>
  path.replace(/periodo=todos&status=(\d)/, (_, status: string) => `${periods.get(status)}&status=${status}`)

async function settle(page: Page) {
  await shown(page.locator('h1'))
  if (
    /^\/(notas-fiscais|cte)\?(periodo=todos|de=[-\d]+&ate=[-\d]+)(&status=\d)?$/.test(
      page.url().slice(site.product.url.length),
    )
  )
    await shown(rowsOf(page), 30_000)
  await page.waitForFunction(() => !document.querySelector('.animate-pulse:not(circle)'))
}

/** Navigates inside the application, which loads neither it nor axe-core again. */
async function leadTo(page: Page, path: string) {
  const [pathname] = path.split('?')
  // Opening the same screen would keep its state.
  if (pathOf(page) === pathname) await lead(page, pathname === '/help' ? '/conta' : '/help')
  await lead(page, path)
  await settle(page)
}

async function expectAllAccessible(page: Page, views: readonly View[]) {
  for (const { name, path, act, coloured, leave } of views) {
    if (path) await leadTo(page, few(path))
    await act(page)
    if (coloured) await expectColoursAccessible(page, name)
    else await expectAccessible(page, { view: name })
    await leave?.(page)
  }
}

/** In the dark, whose colours are seen less by who makes the screens. */
async function expectColoursAccessible(page: Page, view: string) {
  if (everywhere) return expectAccessibleInBothThemes(page, view)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page, { view })
  await page.emulateMedia({ colorScheme: 'light' })
}

// As narrow as WCAG asks for; what fits there fits a wider one.
const narrow = { width: 320, height: 700 }
const narrowInTheDark = { ...phone, viewport: narrow, colorScheme: 'dark' } as const

/** Every second of them, beginning with the first or the second; all when it is everywhere. */
const shareOf = (paths: string[], first: 0 | 1) => paths.filter((_, index) => everywhere || index % 2 === first)

async function expectFits(page: Page) {
  const before = page.viewportSize()!
  await page.setViewportSize(narrow)
  // Components that measure themselves render once more.
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth), { message: page.url() })
    .toBe(narrow.width)
  await page.setViewportSize(before)
}

test('the public screens pass axe on a desk, and in the dark on a phone, where nothing sticks out', async () => {
  const visit = async (paths: string[], options = {}) => {
    const page = await site.visitor(options)
    for (const path of paths) {
      await site.go(page, path)
      await settle(page)
      await expectAccessible(page)
      await expectFits(page)
    }
  }
  await visit(shareOf(publicScreens, 0))
  await visit(shareOf(publicScreens, 1), narrowInTheDark)
})

test('what opens over the public screens, and what they say when something is wrong, passes axe', async () => {
  const page = await site.visitor()
  for (const { name, path, act } of overPublicScreens) {
    await site.go(page, path)
    await settle(page)
    await act(page)
    await expectAccessible(page, { view: name })
    // The same address with another end would not be loaded again.
    await site.go(page, '/health')
  }
})

test.each([
  ['on a desk', shareOf(workspaceScreens, 0), {}],
  ['in the dark on a phone', shareOf(workspaceScreens, 1), narrowInTheDark],
])('the screens of a workspace pass axe %s, and nothing sticks out', async (_, paths, options) => {
  const page = await member('/conta', options)
  await settle(page)
  for (const path of paths) {
    await leadTo(page, path)
    await expectAccessible(page)
    await expectFits(page)
  }
})

test.each([
  ['a list', overLists],
  ['a list when a document is looked at or looked for', overDocuments],
  ['the other screens of a workspace', overOtherScreens],
])('what opens over %s, and what it says when something is wrong, pass axe', async (_, views) => {
  const page = await member('/help')
  await settle(page)
  await expectAllAccessible(page, views)
})

test('what opens over a phone passes axe, and nothing sticks out', async () => {
  const landing = await site.visit('/', phone)
  await landing.getByRole('button', { name: 'Abrir menu' }).tap()
  await shown(landing.getByRole('navigation', { name: 'Menu' }))
  await expectAccessible(landing)

  const page = await member('/notas-fiscais?periodo=todos&status=2', phone)
  await settle(page)
  await openPanel(page)
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Alternar navegação' }).tap()
  await shown(page.getByRole('dialog', { name: 'Navegação' }))
  await expectAccessible(page)
})

test('an empty workspace and its welcome pass axe', async () => {
  const page = await site.resume(await site.createAccount('Bruno'), '/dashboard')
  await shown(page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' }))
  await expectAccessible(page)
  await press(page, 'Fazer Depois')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expectAccessible(page)
})

test('a company whose certificate has ended says what to do, and passes axe in both themes', async () => {
  const account = await site.createAccount('Gil')
  const id = await (await newClient(site.product, account)).register(bakery.cnpj, bakery.nome)
  await query(
    site.product,
    `update certificate set valid_to = now() - interval '3 days'
      where workspace_id = (select workspace_id from account where email = $1)`,
    [account.email],
  )
  const page = await site.resume(account, `/empresas/editar/${id}`, { ...phone, viewport: { width: 320, height: 700 } })
  await shown(page.getByText('Certificado Digital Vencido!'))
  await shown(page.getByText(/Sem renovação a sincronização com a SEFAZ não continua/))
  await shown(page.getByRole('region', { name: 'Certificado Digital' }).getByText('Vencido', { exact: true }))
  await expectNoSidewaysScroll(page)
  await expectColoursAccessible(page, 'an ended certificate')
})

test('the chosen theme is remembered and never flashes', async () => {
  const page = await member('/help')
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark'))
  expect(await isDark()).toBe(false)
  await press(page, 'Usuário')
  await page.getByRole('menuitemradio', { name: 'Escuro' }).click()
  expect(await isDark()).toBe(true)
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.body) return
      observer.disconnect()
      document.documentElement.dataset.atBody = document.documentElement.className
    }).observe(document, { childList: true, subtree: true })
  })
  await page.reload()
  expect(await page.evaluate(() => document.documentElement.dataset.atBody)).toBe('dark')
})
