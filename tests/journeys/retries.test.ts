import { expect, test } from 'vitest'
import {
  type FakeResponse,
  failure,
  month,
  pathOf,
  respond,
  runUntil,
  runUntilShown,
  stopClock,
  success,
  toast,
  toastColours,
  toasted,
} from './page.ts'
import { chooseCertificate, shown, useSite } from './site.ts'

// When and how often a call is retried is decided in apps/web/lib/api.ts and tested there; here is what a person sees of it.

const site = useSite({ roles: ['api'] })
const { member, go } = site
const shownError = 'Erro ao carregar dados do dashboard'

test('what may pass is tried four times, the last error told, and what comes at last shown as if nothing had been', async () => {
  const page = await member()
  // A channel whose clock is moved takes the server for gone, and the screen is asked anew when it is back.
  await page.route('**/notification-hub/**', (route) => route.abort())
  let response: FakeResponse = { status: 500, json: failure('O banco caiu', [], 500) }
  const calls = await respond(page, '/v1/api/Dashboard', () => response)
  await stopClock(page)
  await go(page, '/dashboard')
  const told = toast(page, 'Erro ao carregar dados: Falha após 4 tentativas. Último erro: O banco caiu')
  await runUntilShown(page, told, 200)
  expect(await toastColours(page, 'Erro ao carregar dados')).toContain('red')
  await shown(page.getByText(shownError, { exact: true }))
  expect(calls).toHaveLength(4)

  response = { json: success(month) }
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await runUntilShown(page, page.getByText('PADARIA AURORA LTDA'), 200)
  await runUntil(page, async () => (await page.getByText(shownError).count()) === 0)
})

test('a failed action tells its errors, joined, or its message', async () => {
  const page = await member()
  let response: FakeResponse = 'as it is'
  const calls = await respond(page, '/v1/api/Empresas', () => response)
  await go(page, '/empresas/nova')
  await chooseCertificate(page, 'empresa.pfx', new Uint8Array([1]))
  await page.getByLabel('Senha do certificado').fill('segredo')
  for (const [next, message] of [
    [
      { json: failure('Não deu', ['Senha errada', 'Arquivo velho']) },
      /^Erro na operação: Senha errada\W+Arquivo velho$/,
    ],
    [{ json: failure('Não deu mesmo') }, 'Erro na operação: Não deu mesmo'],
    [{ status: 409, body: '' }, 'Erro na operação: Conflict'],
    [{ body: '<html>' }, 'Erro na operação: Erro ao processar resposta da API: OK'],
  ] as const) {
    response = next
    const before = calls.length
    await page.getByRole('button', { name: 'Salvar Empresa' }).click()
    await toasted(page, message)
    expect(calls.length - before).toBe(1)
    expect(pathOf(page)).toBe('/empresas/nova')
  }
})
