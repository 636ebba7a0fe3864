import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  type Account,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  registerCompany,
  workspaceScreens as screens,
  shown,
  useSite,
} from './site.ts'

const bakery = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
const site = useSite({ simulator: { companies: [bakery] } })
let account: Account | undefined

async function filledAccount(): Promise<Account> {
  if (account) return account
  account = await site.createAccount('Ana')
  const page = await site.enter(account)
  await registerCompany(page, site.product, bakery)
  await settle(page, '/notas-fiscais')
  return account
}

async function settle(page: Page, screen: string) {
  const isList = screen === '/notas-fiscais' || screen === '/cte'
  // The month may have begun today.
  await page.goto(site.product.url + screen + (isList ? '?periodo=todos' : ''))
  await shown(page.getByRole('heading', { level: 1 }))
  if (isList) await shown(page.getByRole('button', { name: /^Visualizar/ }), 60_000)
  await page.waitForFunction(() => !document.querySelector('.animate-pulse:not(circle)'))
}

describe.each([
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
] as const)('%s', (_, theme) => {
  test.each(['/', '/login', '/register', '/atualizar-senha/nada', '/nada'])('%s passes axe', async (path) => {
    const page = await site.visit(path, theme)
    await shown(page.getByRole('heading', { level: 1 }))
    await expectAccessible(page)
  })

  test.each([
    ['a wide screen', {}],
    ['a phone', phone],
  ])('the dialogs of the public pages fit %s and pass axe', async (_, device) => {
    const page = await site.visit('/#contato', { ...device, ...theme })
    await shown(page.getByRole('dialog', { name: 'Fale com a Gente' }))
    await page.getByRole('button', { name: 'Enviar mensagem' }).click()
    await shown(page.getByText('Mensagem é obrigatória'))
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.goto(`${site.product.url}/login`)
    await page.getByRole('button', { name: 'Esqueceu sua senha?' }).click()
    await page.getByRole('button', { name: 'Enviar Email' }).click()
    await shown(page.getByRole('dialog').getByText('Email é obrigatório'))
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
  })

  test('every screen of the workspace passes axe', async () => {
    const page = await site.enter(await filledAccount(), theme)
    for (const screen of screens) {
      await settle(page, screen)
      await expectAccessible(page)
    }
  })

  test('every screen fits a phone and passes axe there', async () => {
    const page = await site.enter(await filledAccount(), { ...phone, ...theme })
    for (const screen of screens) {
      await settle(page, screen)
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
    }
  })
})

test('the welcome of an empty workspace passes axe', async () => {
  const page = await site.enter(await site.createAccount('Bruno'))
  await shown(page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' }))
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('nothing sticks out at 320 pixels either', async () => {
  const page = await site.enter(await filledAccount(), { ...phone, viewport: { width: 320, height: 700 } })
  for (const screen of screens) {
    await settle(page, screen)
    await expectNoSidewaysScroll(page)
  }
})

test('on a phone a document is a two-line item and the navigation slides out', async () => {
  const page = await site.enter(await filledAccount(), phone)
  await settle(page, '/notas-fiscais')
  expect(await page.getByRole('table').count()).toBe(0)
  const item = page.getByRole('list', { name: 'Todas as Notas Fiscais' }).getByRole('listitem').first()
  expect((await item.boundingBox())?.height).toBeLessThan(80)

  await page.getByRole('button', { name: 'Alternar navegação' }).click()
  const sheet = page.getByRole('dialog', { name: 'Navegação' })
  await shown(sheet)
  await expect.poll(async () => (await sheet.boundingBox())?.x).toBe(0)
  expect((await sheet.boundingBox())?.width).toBe(288)
  await sheet.getByRole('link', { name: 'CTe' }).click()
  await page.waitForURL('**/cte')
  await sheet.waitFor({ state: 'detached' })
})

test('the chosen theme is remembered and never flashes', async () => {
  const page = await site.enter(await filledAccount())
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark'))
  expect(await isDark()).toBe(false)
  await page.getByRole('button', { name: 'Usuário' }).click()
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
