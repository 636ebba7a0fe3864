import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { expectNoSidewaysScroll, phone, query, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })

test('who did what, when and from where, by kind, words and days, all in the address', async () => {
  const account = await site.createAccount('Ana')
  await fetch(`${site.product.url}/v1/api/Auth`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: account.email, senha: 'errada-123' }),
  })
  // It is written down after the answer.
  const refusal = `Login de ${account.email} recusado: a senha não conferiu.`
  const refused = () => query(site.product, 'select description from audit where description = $1', [refusal])
  await expect.poll(refused).toEqual([{ description: refusal }])
  const page = await site.resume(account, '/auditoria')
  await shown(page.getByRole('heading', { level: 1, name: 'Auditoria' }))
  const rows = page.getByRole('row').filter({ has: page.getByRole('cell') })
  await expect.poll(() => rows.count()).toBe(3)
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    'Quando',
    'Quem',
    'Ação',
    'O que aconteceu',
    'De onde',
  ])
  expect(await textOf(rows.first())).toMatch(/^\d\d\/\d\d\/\d{4} \d\d:\d\dAnaEntradaEntrou\.127\.0\.0\.1$/)
  expect(await textOf(rows.nth(1))).toContain('Alguém sem loginEntrada recusada')
  expect(await textOf(rows.nth(2))).toContain(`Conta criada para ${account.email}`)

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Exportar tudo em CSV' }).click()
  const file = await downloading
  expect(file.suggestedFilename()).toMatch(/^Auditoria \d{4}-\d\d-\d\d às \d\dh\d\d\.csv$/)
  expect(await readFile(await file.path(), 'utf8')).toMatch(/^\ufeff"registro";[\s\S]*"Entrou\."/)
  // Who took it away is written down too.
  await page.reload()
  await expect.poll(() => rows.count()).toBe(4)

  await page.getByLabel('Ação', { exact: true }).selectOption({ label: 'Entrada recusada' })
  await expect.poll(() => rows.count()).toBe(1)
  expect(page.url()).toContain('?acao=login-recusado')
  await page.getByLabel('Pesquisar').fill('NÃO CONFERIU')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain('busca=')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByLabel('Pesquisar').fill('girafa')
  await page.getByRole('button', { name: 'Buscar' }).click()
  await shown(page.getByText('Nenhum registro com estes filtros'))
  await page.goBack()
  await expect.poll(() => rows.count()).toBe(1)
  await expect.poll(() => page.getByLabel('Pesquisar').inputValue()).toBe('NÃO CONFERIU')
  await page.goForward()
  await page.getByRole('button', { name: 'Limpar filtros' }).click()
  await expect.poll(() => rows.count()).toBe(4)

  await page.getByLabel('Período').click()
  await page.getByRole('button', { name: 'Últimos 7 dias' }).click()
  await expect.poll(() => page.url()).toMatch(/\?de=\d{4}-\d\d-\d\d&ate=\d{4}-\d\d-\d\d$/)
  await expect.poll(() => rows.count()).toBe(4)
  await page.goto(`${site.product.url}/auditoria?de=2020-01-01&ate=2020-01-02`)
  await shown(page.getByText('Nenhum registro com estes filtros'))
  expect(await textOf(page.getByLabel('Período'))).toBe('01/01/2020 – 02/01/2020')
  await page.goto(`${site.product.url}/auditoria?pagina=9`)
  await shown(page.getByText('Esta página não existe mais'))
  await page.getByRole('button', { name: 'Ir para a primeira página' }).click()
  await expect.poll(() => rows.count()).toBe(4)

  // When older entries were not looked at, the server says so.
  const sentence = 'A busca olhou os 100.000 registros mais recentes do período.'
  expect(await page.getByText(sentence).count()).toBe(0)
  await page.route('**/v1/api/Auditoria?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), message: sentence } })
  })
  await tabTo(page, /^Pesquisar/)
  await page.keyboard.type('entrou')
  await page.keyboard.press('Enter')
  await shown(page.getByRole('status').filter({ hasText: sentence }))
})

test('fifty a page; on a phone each entry is an item; a failure says so and can be tried again', async () => {
  const account = await site.createAccount('Bruno')
  await query(
    site.product,
    `insert into audit (workspace_id, actor, action, description, search)
     select workspace_id, 'BRUNO DE ALCÂNTARA E VASCONCELOS NETO', 'empresa', 'Mudou a empresa ' || n, 'mudou a empresa ' || n
       from account, generate_series(1, 120) n where email = $1`,
    [account.email],
  )
  const page = await site.resume(account, '/auditoria', phone)
  const items = page.getByRole('list', { name: /^Registros/ }).getByRole('listitem')
  await expect.poll(() => items.count()).toBe(50)
  await shown(page.getByText('Página 1 de 3'))
  await expectNoSidewaysScroll(page)
  await page.getByLabel('Período').click()
  const period = page.getByRole('dialog', { name: 'Período' })
  await shown(period.getByRole('grid'))
  const month = await period.boundingBox()
  const send = await period.getByRole('button', { name: 'Aplicar período' }).boundingBox()
  expect(send!.y + send!.height).toBeLessThan(month!.y + month!.height)
  expect(month!.y + month!.height).toBeLessThanOrEqual(page.viewportSize()!.height)
  await page.keyboard.press('Escape')
  await period.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Próxima página' }).click()
  await shown(page.getByText('Página 2 de 3'))
  expect(page.url()).toContain('pagina=2')
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(0)

  const answer = { success: false, message: 'Não deu certo.', data: null, errors: ['Não deu certo.'], statusCode: 409 }
  await page.route('**/v1/api/Auditoria*', (route) => route.fulfill({ status: 409, json: answer }))
  await page.reload()
  await shown(page.getByText('Erro ao carregar dados: Não deu certo.'))
  await page.unroute('**/v1/api/Auditoria*')
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await expect.poll(() => items.count()).toBe(50)
})
