import { expect, test } from 'vitest'
import { type Account, expectNoSidewaysScroll, focusedText, phone, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })

let account: Account | undefined

async function open(path: string, options = {}) {
  account ??= await site.createAccount('Ana')
  return site.resume(account, path, options)
}

test('a search box, three ways to a person, five questions, two guides and the words of the tax office', async () => {
  const page = await open('/help')
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await shown(page.getByRole('searchbox', { name: 'Buscar na ajuda' }))

  const ways = page.getByRole('region', { name: 'Falar com uma pessoa' })
  expect(await ways.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['E-mail', 'WhatsApp', 'Formulário'])
  const { contactEmail } = site.product.config
  expect(await ways.getByRole('link', { name: contactEmail! }).getAttribute('href')).toBe(`mailto:${contactEmail}`)
  expect(await textOf(ways)).toContain('sem prazo garantido')
  expect(await textOf(ways.getByRole('listitem').filter({ hasText: 'WhatsApp' }))).toContain('por ordem de chegada')
  await ways.getByRole('button', { name: 'Fale com a Gente' }).click()
  const form = page.getByRole('dialog', { name: 'Fale com a Gente' })
  await expect.poll(() => form.getByLabel('Email').inputValue()).toBe(account!.email)
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })

  const questions = page.getByRole('region', { name: 'Perguntas frequentes' })
  expect(await questions.locator('summary').allTextContents()).toEqual([
    'Como funciona a captura automática?',
    'Por quanto tempo os documentos ficam guardados?',
    'Como adiciono uma empresa?',
    'O que fica guardado serve para uma auditoria?',
    'Posso exportar muitos documentos de uma vez?',
  ])
  const storage = questions.getByText('Sem limite de quantidade e sem data para apagar.')
  expect(await storage.isVisible()).toBe(false)
  await questions.getByText('Por quanto tempo').click()
  await shown(storage)
  await questions.getByText('Posso exportar').click()
  await shown(questions.getByText(/Você recebe um ZIP com os XML, os PDF e uma planilha/))

  for (const guide of ['Primeiros passos', 'No dia a dia'])
    await expect.poll(() => page.getByRole('region', { name: guide }).getByRole('listitem').count()).toBeGreaterThan(3)
  const meant = page.getByRole('region', { name: 'O que esta mensagem quer dizer?' })
  for (const code of [137, 138, 656, 593, 573, 589, 217, 640])
    await shown(meant.locator('summary').filter({ hasText: `código ${code}` }))
  await shown(page.getByText('Quem paga o frete de um CT-e.'))
  // What is not there is not claimed.
  expect(await textOf(page.getByRole('main'))).not.toMatch(/usuários por empresa|tempo real/i)
  await page.getByRole('region', { name: 'Primeiros passos' }).getByRole('link', { name: 'Proteger a conta' }).click()
  await page.waitForURL('**/conta#senha')
})

test('the search finds, marks, counts and keeps what it looks for in the address', async () => {
  const page = await open('/help?busca=656')
  const results = page.getByRole('region', { name: 'Resultados da busca' })
  await shown(results.getByRole('heading', { name: /^Captura bloqueada por uma hora/ }))
  expect(await page.getByRole('searchbox').inputValue()).toBe('656')
  expect(await results.locator('mark').first().textContent()).toBe('656')
  expect(await page.getByRole('region', { name: 'Perguntas frequentes' }).count()).toBe(0)

  await page.getByRole('searchbox').fill('CERTIFICADOS VENCIDOS')
  const first = results.getByRole('heading').first()
  await expect.poll(() => textOf(first)).toMatch(/^Certificado vencido/)
  const said = page.getByRole('status').filter({ hasText: /^\d resultados para “CERTIFICADOS VENCIDOS”$/ })
  await said.waitFor({ state: 'attached' })
  expect(page.url()).toMatch(/\?busca=CERTIFICADOS\+VENCIDOS$/)

  await page.getByRole('searchbox').fill('girafa')
  await shown(page.getByText('Nenhum resultado para “girafa”'))
  await shown(results.getByRole('button', { name: 'Fale com a Gente' }))
  await results.getByRole('button', { name: 'Limpar busca' }).click()
  await shown(page.getByRole('region', { name: 'Perguntas frequentes' }))
  expect(page.url()).toBe(`${site.product.url}/help`)

  await page.getByRole('searchbox').fill('vencem')
  await results.getByRole('link', { name: 'Ver os certificados que vencem' }).click()
  await page.waitForURL('**/empresas?so=certificado')
  await page.goBack()
  await shown(results)
  expect(await page.getByRole('searchbox').inputValue()).toBe('vencem')
})

test('an address names an article, on a phone too', async () => {
  const page = await open('/help#so-resumo', phone)
  const body = page.getByText(/^Para muitas notas a SEFAZ entrega primeiro um resumo/)
  await shown(body)
  await expect.poll(async () => (await body.boundingBox())?.y).toBeLessThan(300)
  expect(await focusedText(page)).toBe('Só o resumo da nota chegou')
  await expectNoSidewaysScroll(page)
})

test('by keyboard alone: search, result, and a question', async () => {
  const page = await open('/help')
  await shown(page.getByRole('heading', { level: 1 }))
  await tabTo(page, /^Buscar na ajuda/)
  await page.keyboard.type('nunca')
  await expect.poll(() => textOf(page.getByRole('heading', { level: 2 }))).toMatch(/^“Nunca”/)
  await page.keyboard.press('Tab')
  expect(await focusedText(page)).toBe('Ver a linha de cada empresa')
  await tabTo(page, /^Limpar busca/)
  await page.keyboard.press('Enter')
  await shown(page.getByRole('region', { name: 'Perguntas frequentes' }))
  await page.getByRole('searchbox').focus()
  await tabTo(page, /^Como adiciono uma empresa\?/)
  await page.keyboard.press('Enter')
  await shown(page.getByText(/^Em Empresas, escolha Nova Empresa/))
})
