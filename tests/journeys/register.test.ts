import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { failure, later, pathOf, respond, toasted } from './page.ts'
import { focusedText, phone, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const { visitor, go } = site
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
  // Password managers recognise the fields.
  const hints = await page
    .locator('form input')
    .evaluateAll((all) => all.map((input) => `${input.getAttribute('type')} ${input.getAttribute('autocomplete')}`))
  expect(hints).toEqual(['null name', 'email username', 'password new-password', 'tel tel-national'])

  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await expectError(page, 'Nome', 'Nome é obrigatório')
  await expectError(page, 'Email', 'Email é obrigatório')
  await expectError(page, 'Senha', 'Senha é obrigatória')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('nome')

  await page.getByLabel('Celular').fill('11 9999')
  await expectError(page, 'Celular', 'Número de celular deve ter entre 10 e 11 dígitos')

  await page.getByLabel('Nome').fill('Ana')
  await page.getByLabel('Email').fill('ana@padaria.example')
  await senha(page).fill('123456')
  const hint = page.getByText('De 6 a 100 caracteres. Esta está entre as senhas mais usadas.')
  await shown(hint)
  await senha(page).fill('um cavalo na bateria')
  await expect.poll(() => hint.count()).toBe(0)
  await page.getByLabel('Celular').fill('')
  await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(0)
})

test('a visitor of the landing page signs up and logs in, with the keyboard alone', async () => {
  const page = await visitor()
  const slow = later('as it is')
  const calls = await respond(page, '/v1/api/Usuarios', slow.reply)
  await go(page, '/')
  await page.getByRole('link', { name: 'Experimente Grátis por 7 dias' }).waitFor()
  await tabTo(page, /^Experimente Grátis por 7 dias/)
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

  await page.keyboard.press('Enter')
  const sending = page.getByRole('button', { name: 'Criando conta...' })
  await shown(sending)
  expect(await sending.isDisabled()).toBe(true)
  await expect
    .poll(() => calls.map((call) => call.postDataJSON()))
    .toEqual([
      {
        nome: 'Ana Lima',
        email: 'ana@padaria.example',
        senha: 'segredo-123',
        celular: '11987654321',
        tipoPlano: 1,
      },
    ])
  slow.come()
  await shown(page.getByText(created))
  await page.waitForURL('**/login')
  await expect.poll(() => focusedText(page)).toBe('Entrar')
  await shown(page.getByText(takenBefore))
  // Nothing is asked twice.
  expect(await page.getByLabel('Email').inputValue()).toBe('ana@padaria.example')

  await tabTo(page, /^Senha$/)
  await page.keyboard.type('segredo-123')
  await page.keyboard.press('Enter')
  await shown(page.getByText('Login realizado com sucesso!'))
  await page.waitForURL('**/dashboard')
  await shown(page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' }))
})

// How a phone is masked is in apps/web/ui/form/phone.test.ts.
test('a phone longer than the field is masked when it is pasted, and a password is pasted as it is', async () => {
  const page = await site.visit('/register', phone)
  const field = page.getByLabel('Celular')
  expect(await field.getAttribute('placeholder')).toBe('(11) 99999-9999')
  expect(await field.getAttribute('maxlength')).toBe('15')
  for (const [input, copied, pasted] of [
    [field, '+55 (11) 98765-4321', '(11) 98765-4321'],
    [senha(page), 'colado-de-um-cofre', 'colado-de-um-cofre'],
  ] as const) {
    await page.evaluate((text) => navigator.clipboard.writeText(text), copied)
    await input.focus()
    await page.keyboard.press('Control+V')
    expect(await input.inputValue()).toBe(pasted)
  }
})

test('a sign-up takes the plan of its address, or the first; one that fails tells what the server says', async () => {
  const page = await visitor()
  const reply = { json: failure('Revise.', ['Nome curto', 'Email em uso']) }
  const calls = await respond(page, '/v1/api/Usuarios', reply)
  for (const [query, plan, tipoPlano] of [
    ['?tp=2', 'Plano Profissional: R$ 49,87 por mês', 2],
    ['?tp=3', 'Plano Básico: R$ 9,97 por mês', 1],
  ] as const) {
    await go(page, `/register${query}`)
    await shown(page.getByText(plan))
    await page.getByLabel(/^Nome/).fill('Caio Prado')
    await page.getByLabel(/^Email/).fill('caio.prado@empresa.example')
    await page.getByLabel(/^Senha/).fill('segredo-123')
    await page.getByRole('button', { name: 'Cadastrar', exact: true }).click()
    await toasted(page, /^Erro na operação: Nome curto\W+Email em uso$/)
    expect(pathOf(page)).toBe('/register')
    const person = { nome: 'Caio Prado', email: 'caio.prado@empresa.example', senha: 'segredo-123' }
    expect(calls.at(-1)!.postDataJSON()).toEqual({ ...person, tipoPlano })
  }
})
