import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { runUntil } from './page.ts'
import { type Account, shown, useSite } from './site.ts'

const script = `document.documentElement.dataset.survey = 'loaded'
globalThis.formbricks = {
  async setup(options) { document.documentElement.dataset.survey = JSON.stringify(options) },
  async logout() { document.documentElement.dataset.survey = 'left' },
}`
let answer = (response: ServerResponse): void => void response.end()
let asked: string[] = []

// The feedback service, on an origin of its own.
const service = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.setHeader('content-type', 'text/javascript')
  answer(response)
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
afterAll(() => void service.close().closeAllConnections())
const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`

const site = useSite(
  { roles: ['api'], config: { survey: { url: `${origin}/pesquisa.js`, environmentId: 'amb-1' } } },
  { alone: true },
)
let account: Account | undefined

async function enter(): Promise<{ page: Page; logged: string[] }> {
  account ??= await site.createAccount('Ana')
  asked = []
  const page = await site.visitor()
  await page.clock.install()
  await site.go(page, '/login')
  const logged: string[] = []
  page.on('console', (message) => {
    if (message.text().startsWith('Erro ao carregar a pesquisa')) logged.push(`${message.type()} ${message.text()}`)
  })
  await shown(page.getByRole('heading', { name: 'Entrar' }))
  // Before the login nothing is loaded from the survey.
  expect(asked).toEqual([])
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Senha', { exact: true }).fill(account.senha)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.waitForURL('**/dashboard')
  return { page, logged }
}

const said = (page: Page) => () => page.evaluate(() => document.documentElement.dataset.survey)
const scripts = (page: Page) => page.locator(`script[src^="${origin}"]`)

test('inside, the script is loaded with the environment, and on leaving it is gone', async () => {
  answer = (response) => void response.end(script)
  const { page, logged } = await enter()
  await expect.poll(said(page)).toBe(JSON.stringify({ environmentId: 'amb-1', appUrl: origin }))
  expect(asked).toEqual(['/pesquisa.js'])
  expect(await scripts(page).getAttribute('data-environment-id')).toBe('amb-1')
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await page.getByRole('link', { name: 'Ajuda' }).click()
  await page.waitForURL('**/help')
  expect(asked).toHaveLength(1)
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  await expect.poll(said(page)).toBe('left')
  expect(await scripts(page).count()).toBe(0)
  expect(logged).toEqual([])
})

test('a service that fails is only logged', async () => {
  answer = (response) => void response.writeHead(503).end()
  const { page, logged } = await enter()
  await expect.poll(() => logged).toEqual(['info Erro ao carregar a pesquisa: o endereço não respondeu'])
  expect(await scripts(page).count()).toBe(0)
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await page.locator('[data-sonner-toast][data-type=error]').count()).toBe(0)
})

test('a script that does not come within ten seconds is given up, and does nothing when it comes at last', async () => {
  let late: ServerResponse | undefined
  answer = (response) => {
    late = response
    response.write('// more follows\n')
  }
  const { page, logged } = await enter()
  await expect.poll(() => late).toBeDefined()
  await page.clock.runFor(8_000)
  expect(logged).toEqual([])
  await runUntil(page, () => logged.length > 0, 500)
  expect(logged).toEqual(['info Erro ao carregar a pesquisa: não chegou em 10 segundos'])
  expect(await scripts(page).count()).toBe(0)
  late?.end(script)
  // A late script would have run by the time of this response.
  await page.evaluate(() => fetch('/health').then((response) => response.text()))
  expect(await said(page)()).toBeUndefined()
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
})
