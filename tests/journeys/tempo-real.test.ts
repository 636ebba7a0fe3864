import { type Announcement, operate, readConfig, tellWorkspace } from '@vigia/server/start'
import type { BrowserContextOptions, Locator, Page, WebSocketRoute } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { rowsOf } from './captured.ts'
import { tell, workspaceOf } from './page.ts'
import {
  type Account,
  bakery,
  expectAccessible,
  expectNoSidewaysScroll,
  query,
  shown,
  textOf,
  useSite,
} from './site.ts'

const metricsToken = 'figuras-para-a-prova'
// A page whose clock stands still sends no ping: with the usual limit the hub would disconnect it.
const hub = { ...readConfig({}, process.cwd()).hub, clientSilenceMs: 600_000 }
const site = useSite(
  { simulator: { companies: [bakery], documentsEach: 20 }, config: { metricsToken, announcementPauseMs: 1, hub } },
  { alone: true },
)
const negotiation = '**/notification-hub/negotiate?*'
const patience = { timeout: 20_000 }

const toasts = (page: Page) => page.locator('[data-sonner-toast]')
// Also behind a dialog.
const bell = (page: Page) => page.getByRole('button', { name: /^Avisos/, includeHidden: true })
const toastWith = (page: Page, text: string | RegExp) => toasts(page).filter({ hasText: text })

/** How many connections the hub has open. */
async function countConnections(): Promise<number> {
  const response = await fetch(`${site.product.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const metrics = (await response.text()).matchAll(/^vigia_hub_connections\{transport="(?!waiting)\w+"\} (\d+)$/gm)
  return Array.from(metrics, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0)
}

/** The channel of a page in our hands: what the server says still arrives, and a test can say more. */
async function holdChannel(page: Page) {
  const sockets: WebSocketRoute[] = []
  await page.routeWebSocket(/notification-hub/, (socket) => {
    socket.connectToServer()
    sockets.push(socket)
  })
  const current = async () => {
    await expect.poll(() => sockets.length, patience).toBeGreaterThan(0)
    return sockets.at(-1)!
  }
  return {
    sockets,
    current,
    async say(target: string, ...args: string[]) {
      ;(await current()).send(`${JSON.stringify({ type: 1, target, arguments: args })}\u001e`)
    },
  }
}

/** Polls while the clock of the page moves on in small steps: a step shorter than any polling interval. */
const soon = <T>(page: Page, look: () => Promise<T> | T, stepMs = 50) =>
  expect.poll(
    async () => {
      await page.clock.runFor(stepMs)
      return look()
    },
    { timeout: 30_000, interval: 50 },
  )

/** Long steps for waits of seconds that nothing can undo, such as the pause after messages. */
const longer = 250

/** Waits with the page's clock running, because React renders and the page retries only then. */
async function comes(page: Page, what: Locator): Promise<void> {
  await soon(page, () => what.isVisible()).toBe(true)
}

// A page opens its channel when the screen has had this much time to load.
const screenFirstMs = 2_000

// A page that is connected and whose clock stands still, so that nothing there asks again by itself.
async function frozen(account: Account, path: string, heard: string[] = []): Promise<Page> {
  const page = await site.resume(account, '/health')
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.push(String(payload))))
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  await openChannel(page, site.product.url + path)
  await soon(page, () => heard.join()).toContain('{}')
  return page
}

async function openChannel(page: Page, url: string) {
  await page.goto(url)
  await shown(page.getByRole('heading', { level: 1 }))
  await page.clock.fastForward(screenFirstMs)
}

/** Somebody without companies, on a screen. */
async function office(name: string, path = '/empresas', options: BrowserContextOptions = {}) {
  const account = await site.createAccount(name)
  const page = await site.resume(account, '/health', options)
  await page.clock.install()
  await openChannel(page, site.product.url + path)
  return { account, page }
}

describe('messages', () => {
  test('each kind is the toast of its colour, without motion; other kinds and messages of another name show nothing', async () => {
    const account = await site.createAccount('Ana')
    const page = await site.resume(account, '/health')
    const channel = await holdChannel(page)
    await page.clock.install()
    await openChannel(page, `${site.product.url}/empresas`)
    await tell(
      site,
      page,
      { kind: 'sucesso', header: 'Captura concluída', body: '12 documentos novos.' },
      { kind: 'error', header: 'Captura parada', body: 'O certificado venceu.' },
      { kind: 'alert', header: 'Prazo perto do fim', body: 'Faltam 3 dias.' },
    )
    // In one look: two of them stay for five seconds only.
    const looks = () =>
      toasts(page).evaluateAll((all) =>
        all.map((toast) => ({
          type: toast.getAttribute('data-type'),
          class: toast.getAttribute('class'),
          title: toast.querySelector('[data-title]')?.textContent,
          description: toast.querySelector('[data-description]')?.textContent,
          animations: toast.getAnimations({ subtree: true }).length,
          transition: getComputedStyle(toast).transitionDuration,
        })),
      )
    const lookOf = (type: string, title: string, description: string) => ({
      ...{ type, title, description, animations: 0 },
      class: expect.stringContaining(`bg-${type}-soft`),
      transition: expect.stringMatching(/^(0s|1e-05s)/),
    })
    // The newest is the first.
    await expect
      .poll(looks)
      .toEqual([
        lookOf('warning', 'Prazo perto do fim', 'Faltam 3 dias.'),
        lookOf('error', 'Captura parada', 'O certificado venceu.'),
        lookOf('success', 'Captura concluída', '12 documentos novos.'),
      ])

    const workspace = await workspaceOf(page)
    await channel.say(workspace, 'Outro tipo', 'x', 'info')
    await channel.say('outro-espaco', 'Outro nome', 'x', 'alert')
    await channel.say(workspace, 'O último', '<img src=x onerror="document.title = 1">', 'sucesso')
    await shown(toastWith(page, 'O último'))
    expect(await textOf(toastWith(page, 'O último').locator('[data-description]'))).toContain('<img src=x')
    expect(await toastWith(page, 'Outro').count()).toBe(0)
  })

  test('of many two are seen, in the lower right corner; all are behind the bell, read and unread, and pass axe', async () => {
    const { page } = await office('Davi')
    await tell(site, page, { kind: 'sucesso', header: 'Ligado' })
    await shown(toastWith(page, 'Ligado'))
    await toastWith(page, 'Ligado').getByRole('button', { name: 'Fechar aviso' }).click()
    await tell(site, page, ...[1, 2, 3, 4].map((day) => ({ header: `Prazo do dia ${day}` })), {
      kind: 'error',
      header: 'Parou',
    })
    await shown(toastWith(page, 'Parou'))
    const seen = page.locator('[data-sonner-toast][data-visible=true]')
    await expect.poll(() => seen.count()).toBe(2)
    const box = await toastWith(page, 'Parou').boundingBox()
    expect(box!.x).toBeGreaterThan(640)
    expect(box!.y).toBeGreaterThan(400)

    await page.getByRole('button', { name: 'Avisos: 6 não lidos' }).click()
    const panel = page.getByRole('dialog', { name: 'Avisos' })
    await shown(panel.getByText('Prazo do dia 1'))
    expect(await panel.getByRole('listitem').first().textContent()).toMatch(/^Não lido: Parou/)
    await expect.poll(() => toasts(page).count(), patience).toBe(0)
    await tell(site, page, { header: 'Enquanto lê' })
    await shown(panel.getByText('Enquanto lê'))
    expect(await toasts(page).count()).toBe(0)
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    // The page has it back a moment after the panel has gone.
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await expect.poll(focused, patience).toBe('Avisos')

    const workspace = await workspaceOf(page)
    const old: Announcement = { topic: 'aviso', kind: 'alert', header: 'Repetido', body: '' }
    await operate(site.product.config, (ctx) => tellWorkspace(ctx, workspace, old, 20))
    await page.reload()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: 'Avisos: 20 não lidos' }).click()
    await shown(panel.getByText('Repetido'))
    expect(await panel.getByText('Prazo do dia 4').count()).toBe(0)
    await panel.getByRole('button', { name: 'Mostrar mais antigos' }).click()
    await shown(panel.getByText('Prazo do dia 4'))
    expect(await panel.getByText('Não lido').count()).toBe(20)
    await expectNoSidewaysScroll(page)
  })
})

describe('what is on the screen', () => {
  test('a capture that ends brings its documents to the list and the dashboard without a reload', async () => {
    const account = await site.createAccount('Gil')
    const client = await newClient(site.product, account)
    const [list, dashboard] = [
      await frozen(account, '/notas-fiscais?periodo=todos'),
      await frozen(account, '/dashboard'),
    ]
    await comes(list, list.getByText('Nenhuma nota fiscal por enquanto'))
    await comes(list, list.getByRole('link', { name: 'Cadastrar empresa' }))
    await client.register(bakery.cnpj, bakery.nome)
    await client.captured({ timeoutMs: 60_000 })
    for (const [page, news] of [
      [list, rowsOf(list)],
      [dashboard, dashboard.getByRole('region', { name: 'Atividade Recente' }).getByRole('link')],
    ] as const) {
      // The toast may be gone when the rest is there.
      let told = false
      const both = async () => {
        told ||= (await toastWith(page, 'Captura').count()) > 0
        return told && (await news.count()) > 0
      }
      await soon(page, both, longer).toBe(true)
      await page.close()
    }
    await outlivesMessages(account)
  })

  /** Ticked rows and a text being written outlive a message; a burst of messages reloads the list once. */
  async function outlivesMessages(account: Account) {
    await expect.poll(() => query(site.product, 'select from happening'), patience).toEqual([])
    const heard: string[] = []
    const page = await frozen(account, '/notas-fiscais?periodo=todos', heard)
    await comes(page, rowsOf(page).nth(1))
    for (const place of [0, 1]) await rowsOf(page).nth(place).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Manifestar' }).click()
    await page.getByRole('menuitem', { name: 'Ciência' }).click()
    const text = page.getByRole('dialog').getByLabel('Justificativa')
    await soon(page, () => text.count()).toBe(1)
    await text.fill('Compra conhecida')
    let reads = 0
    page.on('request', (request) => {
      if (/DocumentosFiscais[?]/.test(request.url())) reads++
    })
    // The list has just read itself, and does so again in five seconds.
    await soon(page, () => reads, longer).toBeGreaterThan(0)
    reads = 0
    const unread = async () => Number((/\d+/.exec((await bell(page).getAttribute('aria-label')) ?? '') ?? [0])[0])
    const before = await unread()
    await tell(site, page, ...Array.from({ length: 12 }, (_, index) => ({ header: `Aviso ${index}` })))
    await expect.poll(() => heard.join(), patience).toContain('Aviso 11')
    await soon(page, () => reads, longer).toBe(1)
    // Beside them there may be one more of what was captured.
    await soon(page, unread).toBeGreaterThanOrEqual(before + 12)
    expect(await text.inputValue()).toBe('Compra conhecida')
    await comes(page, page.getByText('Documentos selecionados: 2'))
    expect(reads).toBe(1)
    // No message covers what is being written.
    await page.clock.runFor(2_000)
    expect(await toasts(page).count()).toBe(0)
    await page.keyboard.press('Escape')
    await soon(page, () => toastWith(page, /1[2-9] avisos novos/).count(), longer).toBe(1)
  }
})

describe('the connection', () => {
  test('belongs to the layout: each tab has its own, and leaving it or logging out ends it', async () => {
    const { page } = await office('Iris')
    await expect.poll(countConnections, patience).toBe(1)
    const other = await page.context().newPage()
    await other.goto(`${site.product.url}/help`)
    await other.clock.fastForward(screenFirstMs)
    await expect.poll(countConnections, patience).toBe(2)
    await tell(site, page, { header: 'Para todas as abas' })
    for (const tab of [page, other]) await shown(toastWith(tab, 'Para todas as abas'))
    await other.close()
    await expect.poll(countConnections, patience).toBe(1)
    await page.getByRole('link', { name: 'Ajuda' }).first().click()
    await page.waitForURL('**/help')
    expect(await countConnections()).toBe(1)
    await page.evaluate(() => {
      history.pushState({}, '', '/atualizar-senha/nada')
      dispatchEvent(new PopStateEvent('popstate', { state: {} }))
    })
    await expect.poll(countConnections, patience).toBe(0)
    await page.goBack()
    await expect.poll(countConnections, patience).toBe(1)
    await page.getByRole('button', { name: 'Sair' }).click()
    await page.waitForURL('**/login')
    await expect.poll(countConnections, patience).toBe(0)
  })

  test('a session that is ended elsewhere leads to the login at once', async () => {
    const page = await frozen(await site.createAccount('Lia'), '/empresas')
    const { token } = await page.evaluate(() => JSON.parse(localStorage.getItem('vigia.session') ?? ''))
    const headers = { authorization: `Bearer ${token}` }
    await fetch(`${site.product.url}/v1/api/Auth/sair`, { method: 'POST', headers })
    await soon(page, () => new URL(page.url()).pathname).toBe('/login')
    await comes(page, page.getByText('Sessão expirada. Faça login novamente.'))
  })

  test('that is refused is a line in the console, and the page works', async () => {
    const account = await site.createAccount('Nina')
    const page = await site.resume(account, '/health')
    const lines: string[] = []
    page.on('console', (message) => lines.push(message.text()))
    await page.route(negotiation, (route) => route.abort('connectionrefused'))
    await page.clock.install()
    await openChannel(page, `${site.product.url}/notas-fiscais`)
    await expect.poll(() => lines.join('\n'), patience).toContain('Erro ao conectar WebSocket')
    await shown(page.getByText(/^Nenhuma nota fiscal/))
    await page.getByRole('link', { name: 'Empresas', exact: true }).click()
    await shown(page.getByText('Nenhuma empresa encontrada'))
    expect(await toasts(page).count()).toBe(0)
  })

  test('that does not come back is tried four times and given up, until the network, the person or the server is back', async () => {
    const account = await site.createAccount('Otto')
    const page = await site.resume(account, '/health')
    const channel = await holdChannel(page)
    await page.clock.install()
    await openChannel(page, `${site.product.url}/empresas`)
    await tell(site, page, { kind: 'error', header: 'Ligado' })
    await shown(toastWith(page, 'Ligado'))
    let attempts = 0
    await page.route(negotiation, (route) => {
      attempts++
      return route.abort('connectionrefused')
    })
    // Requests under way get their response between two steps of the clock, or they would count as lost.
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 5_000) {
        await page.clock.runFor(Math.min(left, 5_000))
        await page.evaluate(async () => (await fetch('/health')).text())
      }
    }
    const lose = async () => {
      attempts = 0
      await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000)
      await (await channel.current()).close({ code: 1011 })
      for (const [tried, delayMs] of [
        [1, 0],
        [2, 2_000],
        [3, 10_000],
        [4, 30_000],
      ] as const) {
        await pass(delayMs)
        await soon(page, () => attempts).toBe(tried)
      }
    }
    const silence = page.getByText(/^Sem conexão com o servidor/)
    const clockUntil = (count: number) =>
      expect
        .poll(async () => {
          await page.clock.runFor(3_000)
          return silence.count()
        }, patience)
        .toBe(count)
    for (const [header, comeBack] of [
      ['Voltou a rede', () => page.evaluate(() => dispatchEvent(new Event('online')))],
      ['Voltou a pessoa', () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))],
      [
        'Voltou o servidor',
        async () => {
          await page.route('**/v1/api/**', (route) => route.abort('connectionrefused'))
          await clockUntil(1)
          await page.unroute('**/v1/api/**')
          await clockUntil(0)
        },
      ],
    ] as const) {
      await lose()
      if (header === 'Voltou a rede') {
        await pass(60_000)
        expect(attempts).toBe(4)
      }
      await tell(site, page, { kind: 'error', header })
      await page.unroute(negotiation)
      await comeBack()
      await soon(page, () => toastWith(page, header).count()).toBe(1)
      await page.route(negotiation, (route) => {
        attempts++
        return route.abort('connectionrefused')
      })
    }
  })
})
