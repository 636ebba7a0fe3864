import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { capturedAccount, rowsOf } from './captured.ts'
import { shown, useSite } from './site.ts'

// Pages that keep the application, as those of people do.
const site = useSite(undefined, { newPages: true })
const keeping = { serviceWorkers: 'allow' } as const

test('without a connection the application opens, goes to other screens and says since when', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/dashboard', keeping)
  await isKept(page)
  await page.context().setOffline(true)
  await page.reload()
  const notice = page.getByText(/^Sem conexão com o servidor desde \d\d:\d\d; o que está na tela pode estar velho\.$/)
  await shown(notice)
  await shown(page.getByRole('heading', { level: 1, name: 'Dashboard' }))
  // Its code was not needed before.
  await page.getByRole('link', { name: 'Ajuda', exact: true }).click()
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await page.context().setOffline(false)
  await page.reload()
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await page.goto(`${site.product.url}/dashboard`)
  await expect.poll(() => notice.count()).toBe(0)
})

test('of documents the browser keeps nothing', async () => {
  const page = await site.resume(await site.createAccount('Bia'), '/notas-fiscais', keeping)
  await isKept(page)
  const kept = await page.evaluate(async () => {
    const caches = await globalThis.caches.keys()
    const requests = await Promise.all(caches.map(async (name) => (await globalThis.caches.open(name)).keys()))
    return requests.flat().map(({ url }) => new URL(url).pathname)
  })
  expect(kept).toContain('/dashboard')
  expect(kept.filter((path) => !/^\/(assets\/|dashboard$|theme\.js$|favicon\.svg$)/.test(path))).toEqual([])
  expect(await page.evaluate(() => localStorage.getItem('vigia.lists'))).toBeNull()
})

test('the installed application shows the list of before until somebody signs out', async () => {
  const { account } = await capturedAccount(site, 'Caio')
  const page = await site.resume(account, '/health', keeping)
  await page.addInitScript(() => {
    const { matchMedia } = window
    window.matchMedia = (query) => matchMedia.call(window, query === '(display-mode: standalone)' ? 'all' : query)
  })
  await page.goto(`${site.product.url}/notas-fiscais?periodo=todos`)
  await shown(rowsOf(page))
  const before = await rowsOf(page).count()
  await isKept(page)
  await page.context().setOffline(true)
  await page.reload()
  await shown(rowsOf(page))
  expect(await rowsOf(page).count()).toBe(before)
  await shown(page.getByText(/^Abaixo está o que recebemos às \d\d:\d\d\.$/))
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => localStorage.getItem('vigia.lists'))).toBeNull()
})

test('what was typed survives a reload, and goes when the person leaves', async () => {
  const page = await site.resume(await site.createAccount('Davi'), '/auditoria#contato')
  const message = page.getByLabel('Mensagem')
  await message.fill('A captura parou ontem.')
  await page.reload()
  await expect.poll(() => message.inputValue()).toBe('A captura parou ontem.')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => sessionStorage.getItem('vigia.drafts'))).toBeNull()
})

test('a new version comes with the next screen, keeps what was typed and takes over', async () => {
  await using server = await startBefore(site.product.url)
  const page = await site.resume(await site.createAccount('Eva'), '/health', keeping)
  const session = await page.evaluate(() => localStorage.getItem('vigia.session'))
  await page.route('**/notification-hub/**', (route) => route.abort())
  await page.goto(`${server.url}/health`)
  await page.evaluate((session) => localStorage.setItem('vigia.session', session!), session)
  await page.goto(`${server.url}/auditoria#contato`)
  const message = page.getByRole('textbox', { name: 'Mensagem' })
  await message.fill('A captura parou ontem.')
  await isKept(page)
  await server.publishNext(page)
  const isWaiting = () => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting !== null)
  await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()))
  await expect.poll(isWaiting).toBe(true)
  await page.keyboard.press('Escape')
  await message.waitFor({ state: 'detached' })
  // The page may hear of the new version a moment after it is there: then it comes with the screen after the next.
  const goOn = async () => {
    const entry = await entryOf(page)
    if (entry === nextEntry) return entry
    for (const name of ['Dashboard', 'Ajuda']) await page.getByRole('link', { name, exact: true }).click()
    return entry
  }
  await expect.poll(goOn, { interval: 2_000 }).toBe(nextEntry)
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await expect.poll(isWaiting).toBe(false)
  await page.context().setOffline(true)
  await page.reload()
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  expect(await entryOf(page)).toBe(nextEntry)
  await page.goto(`${server.url}/help#contato`)
  await expect.poll(() => message.inputValue()).toBe('A captura parou ontem.')
})

const nextEntry = '/assets/next.js'
const entryOf = (page: Page) => page.locator('head script[type=module]').getAttribute('src')

/** A server before that of `url`, where another version of the application can be published: its entry loads that of the version before. */
async function startBefore(url: string) {
  let before: string | null = null
  const answer = async (request: IncomingMessage, reply: ServerResponse) => {
    if (request.url === nextEntry) {
      reply.setHeader('content-type', 'text/javascript').end(`import '${before}'`)
      return
    }
    const { authorization = '', 'content-type': type = '' } = request.headers
    const body = request.method === 'POST' ? Buffer.concat(await request.toArray()) : null
    const headers = { authorization, 'content-type': type }
    const response = await fetch(url + request.url, { method: request.method!, headers, body })
    const isOfVersion =
      before !== null && /html|service-worker/.test(response.headers.get('content-type') + request.url!)
    const text = (found: string) =>
      found
        .replace(/^const version = "/, '$&next ')
        .replace(/(const entry = |src=)"\/assets\/[^"]*"/, `$1"${nextEntry}"`)
        .replace('const files = [', `$&"${nextEntry}",`)
    reply.statusCode = response.status
    for (const [name, value] of response.headers)
      if (!/^(content-(encoding|length)|transfer-encoding|connection)$/.test(name)) reply.setHeader(name, value)
    reply.end(isOfVersion ? text(await response.text()) : Buffer.from(await response.arrayBuffer()))
  }
  const server = createServer((request, reply) => void answer(request, reply))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publishNext: async (page: Page) => {
      before = await entryOf(page)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await promisify(server.close.bind(server))()
    },
  }
}

async function isKept(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
  })
}
