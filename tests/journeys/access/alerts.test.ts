import { expect, test } from 'vitest'
import { newClient } from '../../support/client.ts'
import { captured, rowsOf } from '../captured.ts'
import { follow } from '../page.ts'
import { market, shown, textOf, useSite } from '../site.ts'

const site = useSite()

test('what looks wrong is looked at, handed on, known, found again in the list, and rules are tried on it', async () => {
  // An account of its own: what is said of alerts stays.
  const account = await site.createAccount('Ana')
  const client = await newClient(site.product, account)
  await client.register(market.cnpj, market.nome)
  await captured(site, account, client)
  const page = await site.resume(account, '/alertas')
  const alerts = page.locator('main li').filter({ has: page.getByRole('heading', { level: 2 }) })
  // Asks the server, because the page asks only every half minute.
  const countIn = async (state: string) =>
    (await client.call<{ totalDeItens: number }>('GET', `/v1/api/Alertas?Estado=${state}`)).body.data.totalDeItens
  const count = async () => (await countIn('abertos')) + (await countIn('em-aprendizado'))
  // Every document is judged by then, and the page has asked again. The worker rests four times as long as a turn took, whatever slowed that down.
  await expect
    .poll(async () => (await client.call<{ situacao: string }>('GET', '/v1/api/Alertas/resumo')).body.data.situacao, {
      timeout: 90_000,
    })
    .toBe('em-dia')
  await page.reload()
  // The company is new: most of its alerts are in learning. What somebody takes up is an open alert all the same.
  await page.getByRole('link', { name: 'Ver mesmo assim' }).click()
  await shown(alerts.first())
  const before = await count()
  let name = ''
  for (let taken = 0; taken < 2; taken++) {
    name = await textOf(alerts.first().getByRole('heading'))
    await alerts
      .first()
      .getByRole('button', { name: /^Analisar depois/ })
      .click()
    await alerts.filter({ has: page.getByRole('heading', { name, exact: true }) }).waitFor({ state: 'detached' })
  }
  await page.getByLabel('Estado').selectOption({ label: 'Em aberto' })
  const first = alerts
    .filter({
      hasNot: page.getByRole('heading', { name, exact: true }),
      has: page.getByText(/^Em análise, por Ana, em /),
    })
    .first()
  await shown(first)
  await first.getByRole('button', { name: /^Ignorar este motivo/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Ignorar este motivo' })
  expect(await dialog.getByText(/^.$/).count()).toBe(0)
  await dialog.getByLabel('Só até o valor de').fill('muito')
  await dialog.getByRole('button', { name: 'Ignorar' }).click()
  await shown(dialog.getByText('Escreva um valor, como 1.500,00.'))
  await dialog.getByLabel('Só até o valor de').fill('900.000,00')
  await dialog.getByRole('button', { name: 'Ignorar' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(count).toBeLessThan(before)

  const evidence = page.waitForEvent('download')
  await alerts
    .first()
    .getByRole('button', { name: /^Baixar evidências/ })
    .click()
  expect((await evidence).suggestedFilename()).toMatch(/^evidencias-\d.{42}\d\.zip$/)

  await page.getByRole('link', { name: 'Configurar alertas' }).click()
  await page.getByRole('button', { name: 'Testar nos últimos 90 dias: Primeiro contato' }).click()
  const trial = page.getByRole('dialog', { name: 'Primeiro contato' })
  await shown(trial.getByText(/^[\d.]+ documentos? avaliados?: a regra (não )?marca/))
  await page.keyboard.press('Escape')
  await shown(page.getByText(/até R\$\s900\.000,00 · até .* · Ana, em /))
  // One for each reason that it had.
  const undo = page.getByRole('button', { name: /^Desfazer: / })
  for (let left = await undo.count(); left > 0; left--) {
    await undo.first().click()
    await expect.poll(() => undo.count()).toBe(left - 1)
  }
  await page.getByRole('link', { name: 'Todos os alertas' }).click()
  await expect.poll(count).toBe(before)
  await page.reload()

  await page.getByRole('link', { name }).first().click()
  await shown(page.getByRole('dialog').getByRole('link', { name: 'Ver alerta' }))
  await page.goto(`${page.url()}&responder=${page.url().includes('/cte') ? 610110 : 210220}`)
  await shown(page.getByRole('dialog', { name: /^Manifestar - (Desconhecimento|Prestação em Desacordo)$/ }))
  await page.keyboard.press('Escape')
  await shown(page.getByRole('dialog').getByRole('link', { name: 'Ver alerta' }))
  await page.keyboard.press('Escape')
  await follow(page, '/notas-fiscais?periodo=todos')
  await page.getByLabel('Mais').selectOption({ label: 'Com alerta' })
  await shown(page.getByRole('button', { name: 'Remover filtro Com alerta' }))
  await shown(rowsOf(page))

  await follow(page, '/respostas')
  await page.getByRole('button', { name: 'Nova regra' }).first().click()
  const rule = page.getByRole('dialog', { name: 'Nova regra' })
  await rule.getByLabel('Nome').fill('Perguntar antes')
  await rule.getByLabel('O que fazer com estas notas').selectOption('perguntar')
  await rule.getByRole('button', { name: /^Testar/ }).click()
  await shown(rule.getByText(/^Nos últimos 90 dias: \d+ notas; esta regra decidiria \d+ notas, e nada mudaria\.$/))
  await rule.getByRole('button', { name: 'Guardar regra' }).click()
  await shown(page.getByText('Todas as notas: sempre perguntar.'))
})
