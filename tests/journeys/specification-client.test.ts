import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { shown } from './site.ts'
import {
  answer,
  failure,
  month,
  onPath,
  pathOf,
  type Reply,
  runUntil,
  runUntilShown,
  stopClock,
  success,
  toast,
  toastColours,
  toasted,
  useSpecification,
} from './specification.ts'

const { visitor, member, go } = useSpecification('Dora', { roles: ['api'] })

const expired = 'Sessão expirada. Faça login novamente.'
const dashboard = '/v1/api/Dashboard'
const screens = ['/dashboard', '/notas-fiscais', '/cte', '/empresas', '/empresas/nova', '/empresas/editar/um', '/help']

async function storedText(page: Page) {
  return page.evaluate(() => JSON.stringify({ ...localStorage }))
}

test('without a token every screen of the workspace leads to the login', async () => {
  const page = await visitor()
  for (const path of screens) {
    await go(page, path)
    await onPath(page, '/login')
  }
})

test('while the authentication is checked a spinner says so', async () => {
  const page = await member()
  await page.addInitScript(() => {
    const seen = globalThis as typeof globalThis & { checking?: boolean }
    new MutationObserver(() => {
      if (document.body?.textContent.includes('Verificando autenticação...')) seen.checking = true
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  await go(page, '/help')
  await shown(page.getByRole('heading', { level: 1 }))
  expect(await page.evaluate(() => (globalThis as typeof globalThis & { checking?: boolean }).checking)).toBe(true)
})

test('every call asks for JSON and carries the token', async () => {
  const page = await member()
  const calls = await answer(page, /^\/v1\/api\//, 'as it is')
  for (const path of ['/dashboard', '/notas-fiscais', '/empresas']) {
    const call = page.waitForRequest(/\/v1\/api\/(Dashboard|DocumentosFiscais|Empresas)/)
    await go(page, path)
    await call
    // The welcome dialog may stand over it, and then it is no heading to be found by its role.
    await shown(page.locator('h1'))
  }
  expect(calls.length).toBeGreaterThan(3)
  const { token } = JSON.parse(JSON.parse(await storedText(page))['vigia.session'])
  for (const call of calls) {
    expect(call.headers().accept, call.url()).toBe('application/json')
    expect(call.headers().authorization, call.url()).toBe(`Bearer ${token}`)
  }
})

test('leaving removes the token and goes to the login', async () => {
  const page = await member()
  await go(page, '/help')
  const { token } = JSON.parse(JSON.parse(await storedText(page))['vigia.session'])
  // The login of the other tests stays.
  await answer(page, /^\/v1\/api\/(Auth|Sess)/, { json: success(null) })
  await page.getByRole('button', { name: 'Sair', exact: true }).click()
  await onPath(page, '/login')
  expect(await storedText(page)).not.toContain(token)
  expect(await toast(page, expired).count()).toBe(0)
  await go(page, '/dashboard')
  await onPath(page, '/login')
})

test('a 401 removes the token, goes to the login and says that the session expired', async () => {
  const page = await member()
  await go(page, '/help')
  const { token } = JSON.parse(JSON.parse(await storedText(page))['vigia.session'])
  const calls = await answer(page, dashboard, { status: 401, json: failure('Não autorizado', [], 401) })
  await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))
  expect(calls).toHaveLength(1)
  expect(await storedText(page)).not.toContain(token)
  const login = page.waitForRequest('**/v1/api/Auth')
  await page.getByLabel('Email').fill('dora@empresa.example')
  await page.getByLabel('Senha', { exact: true }).fill('errada-123')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  expect((await login).headers().authorization).toBeUndefined()
  await toasted(page, 'Credenciais inválidas.')
})

/** The dashboard of a member whose clock stands still, with the times of its calls. */
async function watchDashboard(reply: Parameters<typeof answer>[2], chance = 0.5) {
  const page = await member()
  // A channel whose clock is moved takes the server for gone, and the screen is asked anew when it is back.
  await page.route('**/notification-hub/**', (route) => route.abort())
  await page.addInitScript((chance) => {
    Math.random = () => chance
    const times: { asked: number[]; answered: number[] } = { asked: [], answered: [] }
    Object.assign(globalThis, { times })
    const fetch = globalThis.fetch
    globalThis.fetch = async (input, init) => {
      const url = input instanceof Request ? input.url : String(input)
      if (!url.endsWith('/Dashboard')) return fetch(input, init)
      times.asked.push(Date.now())
      try {
        return await fetch(input, init)
      } finally {
        times.answered.push(Date.now())
      }
    }
  }, chance)
  const calls = await answer(page, dashboard, reply)
  await stopClock(page)
  await go(page, '/dashboard')
  const times = () =>
    page.evaluate(() => (globalThis as unknown as { times: { asked: number[]; answered: number[] } }).times)
  /** Leaves the dashboard and comes back, so that it asks anew. */
  const again = async () => {
    await page.getByRole('link', { name: 'Ajuda', exact: true }).click()
    await runUntilShown(page, page.getByRole('heading', { name: 'Ajuda', exact: true }))
    const before = calls.length
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
    await runUntil(page, () => calls.length > before)
    return before
  }
  return { page, calls, times, again }
}

const shownError = 'Erro ao carregar dados do dashboard'

test('what may pass is tried four times, and the last error told', async () => {
  let reply: Reply = 'no connection'
  const { page, calls, again } = await watchDashboard(() => reply)
  const told = (message: RegExp) =>
    toast(page, new RegExp(`^Erro ao carregar dados: Falha após 4 tentativas\\. Último erro: ${message.source}$`))
  await runUntilShown(page, told(/.+/), 200)
  await shown(page.getByText(shownError, { exact: true }))
  expect(calls).toHaveLength(4)
  for (const [next, message] of [
    [{ status: 500, json: failure('O banco caiu', [], 500) }, /O banco caiu/],
    [{ status: 503, body: '' }, /Service Unavailable/],
    [{ status: 408, json: failure('Demorou', [], 408) }, /Demorou/],
    [{ status: 429, json: failure('Muitas chamadas', [], 429) }, /Muitas chamadas/],
  ] as const) {
    reply = next
    const before = await again()
    await runUntilShown(page, told(message), 200)
    expect(calls.length - before, message.source).toBe(4)
  }
})

test.each([0, 0.999])(
  'between tries it waits one, two and four seconds and by chance up to one: %s',
  async (chance) => {
    const { page, times } = await watchDashboard({ status: 500, json: failure('O banco caiu', [], 500) }, chance)
    await runUntil(page, async () => (await times()).asked.length === 4, 100)
    const { asked, answered } = await times()
    for (const [index, time] of asked.slice(1).entries()) {
      const pause = time - answered[index]!
      const wanted = 1000 * 2 ** index + chance * 1000
      expect(pause).toBeGreaterThanOrEqual(wanted - 1)
      // The clock takes steps, and the page may be some behind.
      expect(pause).toBeLessThan(wanted + 900)
    }
  },
)

test('what comes after failed tries is shown as if nothing had been', async () => {
  let tries = 0
  const { page } = await watchDashboard(() =>
    ++tries < 3 ? { status: 502, body: 'Bad Gateway' } : { json: success(month) },
  )
  await runUntilShown(page, page.getByText('PADARIA AURORA LTDA'), 200)
  expect(tries).toBe(3)
  expect(await page.getByText(shownError).count()).toBe(0)
})

test('a call without an answer ends after thirty seconds and is tried again', async () => {
  let tries = 0
  const { page, times } = await watchDashboard(() => (++tries === 1 ? 'no answer' : { json: success(month) }))
  await runUntil(page, () => tries === 1)
  await page.clock.runFor(29_000)
  expect((await times()).answered).toHaveLength(0)
  await runUntilShown(page, page.getByText('PADARIA AURORA LTDA'), 100)
  const { asked, answered } = await times()
  // The clock is moved in steps of up to a second; api.test.ts holds the time itself.
  expect(answered[0]! - asked[0]!).toBeGreaterThanOrEqual(29_000)
  expect(answered[0]! - asked[0]!).toBeLessThanOrEqual(31_000)
})

test('what will not pass is asked once, and its message told', async () => {
  let reply: Reply = { status: 400, json: failure('Pedido sem sentido') }
  const { page, calls, again } = await watchDashboard(() => reply)
  await runUntilShown(page, toast(page, 'Erro ao carregar dados: Pedido sem sentido'))
  await shown(page.getByText(shownError, { exact: true }))
  expect(await toastColours(page, 'Erro ao carregar dados')).toContain('red')
  for (const [next, message] of [
    [{ status: 403, json: failure('Sem direito', [], 403) }, 'Sem direito'],
    [{ status: 404, body: '' }, 'Not Found'],
    [{ status: 422, json: failure('Mês errado', [], 422) }, 'Mês errado'],
    [{ json: failure('O mês não fechou') }, 'O mês não fechou'],
    [{ json: { success: false } }, 'Erro desconhecido'],
    [{ body: '<html>' }, 'Erro ao processar resposta da API: OK'],
  ] as const) {
    reply = next
    const before = await again()
    await runUntilShown(page, toast(page, `Erro ao carregar dados: ${message}`))
    // As long as the first pause before another try may be.
    await page.clock.runFor(2100)
    expect(calls.length - before, message).toBe(1)
  }
})

test('a 401 of an action ends the session too', async () => {
  const page = await member()
  await answer(page, '/v1/api/Empresas', { status: 401, json: failure('Não autorizado', [], 401) })
  await go(page, '/empresas/nova')
  const file = { name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from('x') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByLabel('Senha do certificado').fill('segredo')
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))
})

test('a failed action tells its errors, joined, or its message', async () => {
  const page = await member()
  let reply: Reply = 'as it is'
  const calls = await answer(page, '/v1/api/Empresas', () => reply)
  await go(page, '/empresas/nova')
  const file = { name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from('x') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByLabel('Senha do certificado').fill('segredo')
  for (const [next, message] of [
    [
      { json: failure('Não deu', ['Senha errada', 'Arquivo velho']) },
      /^Erro na operação: Senha errada\W+Arquivo velho$/,
    ],
    [{ json: failure('Não deu mesmo') }, 'Erro na operação: Não deu mesmo'],
    [{ status: 400, json: failure('Pedido errado') }, 'Erro na operação: Pedido errado'],
    [{ status: 409, body: '' }, 'Erro na operação: Conflict'],
    [{ body: '<html>' }, 'Erro na operação: Erro ao processar resposta da API: OK'],
  ] as const) {
    reply = next
    const before = calls.length
    await page.getByRole('button', { name: 'Salvar Empresa' }).click()
    await toasted(page, message)
    expect(calls.length - before).toBe(1)
    expect(pathOf(page)).toBe('/empresas/nova')
  }
})
