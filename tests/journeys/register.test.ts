import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, focusedText, phone, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const takenBefore = 'Se já havia uma conta com este email, a senha dela continua a mesma: enviamos um email explicando.'
const created = 'Conta criada com sucesso! Faça login para continuar.'

const senha = (page: Page) => page.getByRole('textbox', { name: /^Senha/ })

/** The field and the sentence under it belong together, and the border says so too. */
async function expectError(page: Page, field: string, message: string) {
  const input = page.getByLabel(field).first()
  await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
  const described = (await input.getAttribute('aria-describedby')) ?? ''
  const words = await Promise.all(described.split(' ').map((id) => textOf(page.locator(`[id="${id}"]`))))
  expect(words.join(' ')).toContain(message)
  const isRed = () =>
    input.evaluate((element) => {
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.color = 'var(--error)'
      const red = getComputedStyle(probe).color
      probe.remove()
      return getComputedStyle(element).borderTopColor === red
    })
  await expect.poll(isRed).toBe(true)
}

test('every rule of the form is said under its field, and goes when it is kept', async () => {
  const page = await site.visit('/register')
  await expect.poll(() => page.title()).toBe(`Criar Conta · ${site.product.config.productName}`)
  await shown(page.getByText('Crie sua conta grátis'))
  await shown(page.getByText('Não enviaremos spam para seu email ou número de celular.'))
  for (const label of ['Nome*', 'Email*', 'Senha*', 'Celular']) await shown(page.getByText(label, { exact: true }))

  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await expectError(page, 'Nome', 'Nome é obrigatório')
  await expectError(page, 'Email', 'Email é obrigatório')
  await expectError(page, 'Senha', 'Senha é obrigatória')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('nome')
  await expectAccessible(page)

  for (const [nome, message] of [
    ['   ', 'Nome é obrigatório'],
    ['An', 'Nome deve ter pelo menos 3 caracteres'],
    ['A'.repeat(101), 'Nome deve ter no máximo 100 caracteres'],
  ] as const) {
    await page.getByLabel('Nome').fill(nome)
    await shown(page.getByText(message))
  }
  for (const email of ['ana', 'ana@', 'ana@padaria', 'ana lima@padaria.example']) {
    await page.getByLabel('Email').fill(email)
    await shown(page.getByText('Email inválido'))
  }
  await senha(page).fill('12345')
  await shown(page.getByText('Senha deve ter pelo menos 6 caracteres'))
  await senha(page).fill('x'.repeat(101))
  await shown(page.getByText('Senha deve ter no máximo 100 caracteres'))
  await page.getByLabel('Celular').fill('11 9999')
  await expectError(page, 'Celular', 'Número de celular deve ter entre 10 e 11 dígitos')

  await page.getByLabel('Nome').fill('Ana')
  await page.getByLabel('Email').fill('ana@padaria.example')
  await senha(page).fill('123456')
  await page.getByLabel('Celular').fill('')
  await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(0)
})

test('a visitor of the landing page signs up and logs in, with the keyboard alone', async () => {
  const page = await site.visit('/')
  await page.getByRole('link', { name: 'Experimente Grátis por 7 dias' }).waitFor()
  await tabTo(page, /^Experimente Grátis por 7 dias$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/register?tp=1')
  await shown(page.getByRole('heading', { name: 'Criar Conta' }))
  await tabTo(page, /^Nome/)
  await page.keyboard.type('Ana Lima')
  await tabTo(page, /^Email/)
  await page.keyboard.type(' ana@padaria.example ')
  await tabTo(page, /^Senha/)
  await page.keyboard.type('segredo-123')
  await tabTo(page, /^Mostrar o texto digitado$/)
  await page.keyboard.press('Enter')
  expect(await senha(page).getAttribute('type')).toBe('text')
  await tabTo(page, /^Celular$/)
  await page.keyboard.type('11987654321')
  expect(await page.getByLabel('Celular').inputValue()).toBe('(11) 98765-4321')

  const answered = Promise.withResolvers<void>()
  await page.route('**/v1/api/Usuarios', async (route) => {
    await answered.promise
    await route.continue()
  })
  const request = page.waitForRequest('**/v1/api/Usuarios')
  await page.keyboard.press('Enter')
  const sending = page.getByRole('button', { name: 'Criando conta...' })
  await shown(sending)
  expect(await sending.isDisabled()).toBe(true)
  expect((await request).postDataJSON()).toEqual({
    nome: 'Ana Lima',
    email: 'ana@padaria.example',
    senha: 'segredo-123',
    celular: '11987654321',
    tipoPlano: 1,
  })
  answered.resolve()
  await shown(page.getByText(created))
  await page.waitForURL('**/login')
  await expect.poll(() => focusedText(page)).toBe('Entrar')
  await shown(page.getByText(takenBefore))
  // Nothing is asked twice.
  expect(await page.getByLabel('Email').inputValue()).toBe('ana@padaria.example')
  await expectAccessible(page)

  await tabTo(page, /^Senha$/)
  await page.keyboard.type('segredo-123')
  await page.keyboard.press('Enter')
  await shown(page.getByText('Login realizado com sucesso!'))
  await page.waitForURL('**/dashboard')
  await shown(page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' }))
})

test.each([
  ['', 1, 'Plano Básico: R$ 9,97 por mês'],
  ['?tp=1', 1, 'Plano Básico: R$ 9,97 por mês'],
  ['?tp=2', 2, 'Plano Profissional: R$ 49,87 por mês'],
  ['?tp=7', 1, 'Plano Básico: R$ 9,97 por mês'],
] as const)('/register%s is for plan %i', async (query, tipoPlano, words) => {
  const page = await site.visit(`/register${query}`)
  await shown(page.getByText(words))
  await page.getByLabel('Nome').fill('Bruno')
  await page.getByLabel('Email').fill(`bruno${query.length}${tipoPlano}@padaria.example`)
  await senha(page).fill('segredo-123')
  const request = page.waitForRequest('**/v1/api/Usuarios')
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  const sent = (await request).postDataJSON()
  expect(sent.tipoPlano).toBe(tipoPlano)
  expect(sent).not.toHaveProperty('celular')
  await page.waitForURL('**/login')
})

test('a phone is masked while it is typed and when it is pasted', async () => {
  const page = await site.visit('/register', phone)
  const field = page.getByLabel('Celular')
  expect(await field.getAttribute('placeholder')).toBe('(11) 99999-9999')
  expect(await field.getAttribute('maxlength')).toBe('15')
  await field.pressSequentially('119876543219999')
  expect(await field.inputValue()).toBe('(11) 98765-4321')
  await field.fill('')
  await field.pressSequentially('1133334444')
  expect(await field.inputValue()).toBe('(11) 3333-4444')
  await field.fill('')
  await page.evaluate(() => navigator.clipboard.writeText('+55 (11) 98765-4321'))
  await field.focus()
  await page.keyboard.press('Control+V')
  expect(await field.inputValue()).toBe('(11) 98765-4321')
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('managers of passwords know what is what, and pasting works', async () => {
  const page = await site.visit('/register')
  await shown(page.getByLabel('Email'))
  const hints = await page
    .locator('form input')
    .evaluateAll((all) => all.map((input) => `${input.getAttribute('type')} ${input.getAttribute('autocomplete')}`))
  expect(hints).toEqual(['null name', 'email username', 'password new-password', 'tel tel-national'])
  await page.evaluate(() => navigator.clipboard.writeText('colado-de-um-cofre'))
  await senha(page).focus()
  await page.keyboard.press('Control+V')
  expect(await senha(page).inputValue()).toBe('colado-de-um-cofre')
})

test('a server that is away is said, and what was typed stays', async () => {
  const page = await site.visit('/register')
  await page.getByLabel('Nome').fill('Carla')
  await page.getByLabel('Email').fill('carla@padaria.example')
  await senha(page).fill('segredo-123')
  await page.route('**/v1/api/Usuarios', (route) => route.abort('connectionrefused'))
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await shown(page.getByText(/^Erro na operação: Falha após 4 tentativas\. Último erro: /), 30_000)
  expect(await senha(page).inputValue()).toBe('segredo-123')
  await shown(page.getByRole('button', { name: 'Cadastrar' }))
})

test('the links lead to the login, the conditions and back', async () => {
  const page = await site.visit('/register')
  for (const [name, path] of [
    ['termos de uso', '/termos'],
    ['política de privacidade', '/privacidade'],
    ['Voltar para página inicial', '/'],
    [site.product.config.productName, '/'],
  ] as const) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.waitForURL(site.product.url + path)
    await page.goBack()
    await shown(page.getByRole('heading', { name: 'Criar Conta' }))
  }
  await page.getByRole('link', { name: 'Já tem uma conta? Fazer login' }).click()
  await page.waitForURL('**/login')
})
