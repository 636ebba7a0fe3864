import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { login, shown } from './site.ts'
import {
  answer,
  coloursOf,
  failure,
  hrefOf,
  later,
  onPath,
  pathOf,
  press,
  type Reply,
  runUntilShown,
  stopClock,
  success,
  toast,
  toastColours,
  toasted,
  useSpecification,
} from './specification.ts'

const { site, account, visitor, go } = useSpecification('Caio', { roles: ['api'] })

const session = { token: 'um-token', wsId: 'um-espaco' }

async function at(path: string, prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const page = await visitor()
  await prepare(page)
  await go(page, path)
  return page
}

async function expectUnder(page: Page, field: string, message: string) {
  const error = page.getByText(message, { exact: true })
  await shown(error)
  const input = page.getByLabel(field, { exact: true })
  const box = await input.boundingBox()
  const below = await error.first().boundingBox()
  expect(below!.y).toBeGreaterThanOrEqual(box!.y + box!.height - 1)
  await expect.poll(() => coloursOf(input)).toContain('red')
}

test('the login has its texts, fields and links', async () => {
  const page = await at('/login')
  await shown(page.getByRole('heading', { name: 'Entrar', exact: true }))
  await shown(page.getByText('Faça login em sua conta', { exact: true }))
  const password = page.getByLabel('Senha', { exact: true })
  await password.fill('segredo')
  expect(await password.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: /mostrar/i }).click()
  expect(await password.getAttribute('type')).toBe('text')
  await page.getByRole('button', { name: /ocultar/i }).click()
  expect(await password.getAttribute('type')).toBe('password')
  await shown(press(page, 'Esqueceu sua senha?'))
  expect(await hrefOf(page.getByRole('link', { name: 'Criar conta grátis' }))).toBe('/register')
  await expect.poll(() => page.locator('a[href="/"]').count()).toBeGreaterThan(0)
})

test('the login says each rule under its field, whose border turns red', async () => {
  const page = await at('/login')
  await page.getByLabel('Email').fill('   ')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await expectUnder(page, 'Email', 'Email é obrigatório')
  await expectUnder(page, 'Senha', 'Senha é obrigatória')
  for (const email of ['caio', 'caio@empresa', 'ca io@empresa.example', 'caio@@empresa.example']) {
    await login(page, { email, senha: '12345' })
    await expectUnder(page, 'Email', 'Email deve ter um formato válido')
    await expectUnder(page, 'Senha', 'Senha deve ter entre 6 e 100 caracteres')
  }
  await login(page, { email: 'caio@empresa.example', senha: 'x'.repeat(101) })
  await expectUnder(page, 'Senha', 'Senha deve ter entre 6 e 100 caracteres')
  expect(await page.getByText('Email deve ter um formato válido').count()).toBe(0)
})

test('the login sends the e-mail trimmed and the password as it is, waits, and goes to the dashboard', async () => {
  const slow = later('as it is')
  await site.createAccount('Sofia')
  const page = await visitor()
  const calls = await answer(page, '/v1/api/Auth', slow.reply)
  await go(page, '/login')
  await login(page, { email: '  sofia@empresa.example  ', senha: 'segredo-123' })
  const waiting = page.getByRole('button', { name: 'Entrando...', exact: true })
  await shown(waiting)
  expect(await waiting.isDisabled()).toBe(true)
  const dashboard = page.waitForRequest('**/v1/api/Dashboard')
  slow.come()
  await toasted(page, 'Login realizado com sucesso!')
  expect(await toastColours(page, 'Login realizado com sucesso!')).toContain('green')
  await onPath(page, '/dashboard')
  expect(calls).toHaveLength(1)
  expect(calls[0]!.method()).toBe('POST')
  expect(calls[0]!.postDataJSON()).toEqual({ email: 'sofia@empresa.example', senha: 'segredo-123' })
  const { data } = (await (await calls[0]!.response())!.json()) as { data: typeof session }
  expect((await dashboard).headers().authorization).toBe(`Bearer ${data.token}`)
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(stored).toContain(data.token)
  expect(stored).toContain(data.wsId)
})

test('a password with blanks around it is sent as it is', async () => {
  const page = await visitor()
  const calls = await answer(page, '/v1/api/Auth', { json: failure('Não.') })
  await go(page, '/login')
  await login(page, { email: account.email, senha: '  segredo  ' })
  await toasted(page, 'Credenciais inválidas.')
  expect(calls[0]!.postDataJSON()).toEqual({ email: account.email, senha: '  segredo  ' })
})

test('whatever goes wrong with a login is said as wrong credentials', async () => {
  const page = await visitor()
  let reply: Reply = 'as it is'
  await answer(page, '/v1/api/Auth', () => reply)
  for (const wrong of [
    { json: failure('Conta bloqueada') },
    { status: 400, json: failure('Pedido inválido') },
    { status: 401, json: failure('Não autorizado', [], 401) },
    { status: 404, body: '<html>' },
  ]) {
    reply = wrong
    await go(page, '/login')
    await login(page, account)
    await toasted(page, 'Credenciais inválidas.')
    await shown(page.getByRole('button', { name: 'Entrar', exact: true }))
    expect(await page.getByText('Sessão expirada. Faça login novamente.').count()).toBe(0)
    expect(pathOf(page)).toBe('/login')
  }
})

test('a login without connection is tried four times and then said as wrong credentials', async () => {
  const page = await visitor()
  const calls = await answer(page, '/v1/api/Auth', 'no connection')
  await stopClock(page)
  await go(page, '/login')
  await runUntilShown(page, page.getByLabel('Email'))
  await login(page, account)
  await runUntilShown(page, toast(page, 'Credenciais inválidas.'), 250)
  expect(calls).toHaveLength(4)
})

test('the recovery dialog has its texts and rules, and forgets when closed', async () => {
  const page = await at('/login')
  await press(page, 'Esqueceu sua senha?').click()
  const dialog = page.getByRole('dialog', { name: 'Recuperar Senha', exact: true })
  await shown(dialog)
  await dialog.getByRole('button', { name: 'Enviar Email', exact: true }).click()
  await shown(dialog.getByText('Email é obrigatório', { exact: true }))
  const field = dialog.getByLabel('Email')
  await field.fill('caio')
  await dialog.getByText('Email é obrigatório').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByText('Email deve ter um formato válido', { exact: true }))
  await field.press('End')
  await field.press('x')
  await dialog.getByText('Email deve ter um formato válido').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByText('Email deve ter um formato válido', { exact: true }))
  await dialog.getByRole('button', { name: 'Cancelar', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await press(page, 'Esqueceu sua senha?').click()
  await shown(dialog)
  expect(await field.inputValue()).toBe('')
  expect(await dialog.getByText('Email deve ter um formato válido').count()).toBe(0)
})

test('the recovery sends the e-mail trimmed, tells the success, clears the field and closes', async () => {
  const page = await visitor()
  let slow = later('as it is')
  const calls = await answer(page, '/v1/api/RecuperarSenha', () => slow.reply())
  await go(page, '/login')
  const dialog = page.getByRole('dialog')
  for (const reply of [{ json: success({}) }, { json: success(null) }, { status: 200, body: '' }]) {
    slow = later(reply)
    await press(page, 'Esqueceu sua senha?').click()
    await shown(dialog)
    expect(await dialog.getByLabel('Email').inputValue()).toBe('')
    await dialog.getByLabel('Email').fill(' caio@empresa.example ')
    await dialog.getByRole('button', { name: 'Enviar Email' }).click()
    const waiting = dialog.getByRole('button', { name: 'Enviando...', exact: true })
    await shown(waiting)
    expect(await waiting.isDisabled()).toBe(true)
    slow.come()
    await toasted(page, 'Iremos enviar um email de recuperação de senha!')
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByText('Erro ao enviar email de recuperação. Tente novamente.').count()).toBe(0)
    expect(calls.at(-1)!.postDataJSON()).toEqual({ email: 'caio@empresa.example' })
  }
})

test('a recovery that fails is said and the dialog stays', async () => {
  const page = await visitor()
  let reply: Reply = { json: failure('Não.') }
  await answer(page, '/v1/api/RecuperarSenha', () => reply)
  await go(page, '/login')
  const dialog = page.getByRole('dialog')
  for (const wrong of [reply, { status: 400, json: failure('Não.') }]) {
    reply = wrong
    await press(page, 'Esqueceu sua senha?').click()
    await dialog.getByLabel('Email').fill('caio@empresa.example')
    await dialog.getByRole('button', { name: 'Enviar Email' }).click()
    await shown(page.getByText('Erro ao enviar email de recuperação. Tente novamente.', { exact: true }))
    await dialog.getByRole('button', { name: 'Cancelar' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
})

test('the sign-up has its texts, fields and links', async () => {
  const page = await at('/register')
  await shown(page.getByRole('heading', { name: 'Criar Conta', exact: true }))
  await shown(page.getByText('Crie sua conta grátis', { exact: true }))
  const labels = (await page.locator('label').allTextContents()).map((text) => text.replace(/\s/g, ''))
  expect(labels.slice(0, 3)).toEqual(['Nome*', 'Email*', 'Senha*'])
  expect(labels.some((label) => label.startsWith('Celular') && !label.includes('*'))).toBe(true)
  const phoneField = page.getByLabel(/^Celular/)
  expect(await phoneField.getAttribute('placeholder')).toBe('(11) 99999-9999')
  expect(await phoneField.getAttribute('maxlength')).toBe('15')
  await shown(page.getByText('Não enviaremos spam para seu email ou número de celular.', { exact: true }))
  const password = page.getByLabel(/^Senha/)
  await page.getByRole('button', { name: /mostrar/i }).click()
  expect(await password.getAttribute('type')).toBe('text')
  expect(await hrefOf(page.getByRole('link', { name: 'Já tem uma conta? Fazer login', exact: true }))).toBe('/login')
  expect(await hrefOf(page.getByRole('link', { name: 'Voltar para página inicial', exact: true }))).toBe('/')
  expect(await hrefOf(page.getByRole('link', { name: site.product.config.productName, exact: true }))).toBe('/')
})

test('the sign-up says each rule', async () => {
  const page = await at('/register')
  const submit = page.getByRole('button', { name: 'Cadastrar', exact: true })
  await submit.click()
  for (const message of ['Nome é obrigatório', 'Email é obrigatório', 'Senha é obrigatória'])
    await shown(page.getByText(message, { exact: true }))
  for (const [field, value, message] of [
    [/^Nome/, 'Al', 'Nome deve ter pelo menos 3 caracteres'],
    [/^Nome/, 'x'.repeat(101), 'Nome deve ter no máximo 100 caracteres'],
    [/^Email/, 'caio@', 'Email inválido'],
    [/^Senha/, '12345', 'Senha deve ter pelo menos 6 caracteres'],
    [/^Senha/, 'x'.repeat(101), 'Senha deve ter no máximo 100 caracteres'],
    [/^Celular/, '119999999', 'Número de celular deve ter entre 10 e 11 dígitos'],
  ] as const) {
    // The form puts the focus on the first field with an error, once more after a turn of the browser: what is typed in between goes there.
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => setTimeout(resolve))))
    await page.getByLabel(field).fill(value)
    await submit.click()
    await shown(page.getByText(message, { exact: true }))
  }
})

test('the phone number is masked while it is typed and holds eleven digits', async () => {
  const page = await at('/register')
  const field = page.getByLabel(/^Celular/)
  await field.pressSequentially('11987654321')
  await expect.poll(() => field.inputValue()).toBe('(11) 98765-4321')
  await field.press('End')
  await field.pressSequentially('55')
  expect(await field.inputValue()).toBe('(11) 98765-4321')
})

test('the sign-up sends the digits of the phone and the plan of its address, and goes to the login', async () => {
  const page = await visitor()
  let slow = later('as it is')
  const calls = await answer(page, '/v1/api/Usuarios', () => slow.reply())
  for (const [query, phoneNumber, expected] of [
    ['?tp=2', '11987654321', { celular: '11987654321', tipoPlano: 2 }],
    ['?tp=3', '1133334444', { celular: '1133334444', tipoPlano: 1 }],
    ['', '', { tipoPlano: 1 }],
  ] as const) {
    slow = later({ json: success(null) })
    await go(page, `/register${query}`)
    await page.getByLabel(/^Nome/).fill('Caio Prado')
    await page.getByLabel(/^Email/).fill('caio.prado@empresa.example')
    await page.getByLabel(/^Senha/).fill('segredo-123')
    await page.getByLabel(/^Celular/).pressSequentially(phoneNumber)
    await page.getByRole('button', { name: 'Cadastrar', exact: true }).click()
    const waiting = page.getByRole('button', { name: 'Criando conta...', exact: true })
    await shown(waiting)
    expect(await waiting.isDisabled()).toBe(true)
    slow.come()
    await toasted(page, 'Conta criada com sucesso! Faça login para continuar.')
    await onPath(page, '/login')
    const person = { nome: 'Caio Prado', email: 'caio.prado@empresa.example', senha: 'segredo-123' }
    expect(calls.at(-1)!.postDataJSON()).toEqual({ ...person, ...expected })
  }
})

test('a sign-up that fails tells what the server says', async () => {
  const page = await visitor()
  let reply: Reply = 'as it is'
  await answer(page, '/v1/api/Usuarios', () => reply)
  await go(page, '/register')
  await page.getByLabel(/^Nome/).fill('Caio Prado')
  await page.getByLabel(/^Email/).fill('caio.prado@empresa.example')
  await page.getByLabel(/^Senha/).fill('segredo-123')
  for (const [wrong, message] of [
    [{ json: failure('Revise os dados.') }, 'Erro na operação: Revise os dados.'],
    [{ status: 400, json: failure('Revise o e-mail.') }, 'Erro na operação: Revise o e-mail.'],
    [{ json: failure('Revise.', ['Nome curto', 'Email em uso']) }, /^Erro na operação: Nome curto\W+Email em uso$/],
  ] as const) {
    reply = wrong
    await page.getByRole('button', { name: 'Cadastrar', exact: true }).click()
    await toasted(page, message)
    expect(pathOf(page)).toBe('/register')
  }
})

const link = '/v1/api/RecuperarSenha/um-link'
const replace = '/v1/api/RecuperarSenha/atualizar-senha'

test('the password update checks the link first, then shows its form and its rules', async () => {
  const slow = later({ json: success(null) })
  const page = await at('/atualizar-senha/um-link', (page) => answer(page, link, slow.reply))
  const first = page.getByLabel(/^Nova senha/i)
  await shown(page.getByRole('status').or(page.getByText(/Validando|Verificando|Conferindo/i)))
  expect(await page.locator('input[type=password]').count()).toBe(0)
  slow.come()
  await shown(first)
  const submit = page.locator('form').getByRole('button').last()
  await submit.click()
  await shown(page.getByText('Nova senha é obrigatória', { exact: true }))
  await first.fill('12345')
  await submit.click()
  await shown(page.getByText('A senha deve ter pelo menos 6 caracteres', { exact: true }))
  await first.fill('segredo-456')
  await page.getByLabel(/^Confirm/i).fill('segredo-457')
  await submit.click()
  await shown(page.getByText('As senhas não coincidem', { exact: true }))
})

async function replacePassword(page: Page) {
  await page.getByLabel(/^Nova senha/i).fill('segredo-456')
  await page.getByLabel(/^Confirm/i).fill('segredo-456')
  await page.locator('form').getByRole('button').last().click()
}

test('the password update tells a failure, then sends the link and both passwords and goes to the login', async () => {
  const page = await visitor()
  let reply: Reply = 'as it is'
  await answer(page, link, () => ({ json: success(null) }))
  const calls = await answer(page, replace, () => reply)
  for (const right of [{ json: success(null) }, { body: '' }]) {
    await go(page, '/atualizar-senha/um-link')
    reply = 'body' in right ? { status: 400, json: failure('Link usado') } : { json: failure('Link usado') }
    await replacePassword(page)
    await shown(page.getByText('Erro ao atualizar senha. Tente novamente.', { exact: true }))
    expect(pathOf(page)).toBe('/atualizar-senha/um-link')
    reply = right
    await replacePassword(page)
    await toasted(page, 'Senha atualizada com sucesso! Faça o login com sua nova senha.')
    await onPath(page, '/login')
    expect(calls.at(-1)!.postDataJSON()).toEqual({
      urlAcesso: 'um-link',
      senha: 'segredo-456',
      senhaNovamente: 'segredo-456',
    })
  }
})

test('a link whose check brings data, or nothing at all, is a valid one', async () => {
  const page = await visitor()
  let reply: Reply = 'as it is'
  await answer(page, link, () => reply)
  for (const right of [{ json: success({}) }, { json: success({ email: 'caio@empresa.example' }) }, { body: '' }]) {
    reply = right
    await go(page, '/atualizar-senha/um-link')
    await shown(page.getByLabel(/^Nova senha/i))
  }
})

test('an invalid link says what the server said and leads back to the login', async () => {
  const page = await visitor()
  let reply: Reply = 'as it is'
  await answer(page, link, () => reply)
  for (const wrong of [
    { json: failure('O link expirou ontem.') },
    { status: 400, json: failure('O link expirou hoje.') },
  ]) {
    reply = wrong
    await go(page, '/atualizar-senha/um-link')
    await shown(page.getByRole('heading', { name: 'Token Inválido', exact: true }))
    await shown(page.getByText(wrong.json.message, { exact: true }))
    await page.getByRole('button', { name: 'Voltar ao Login', exact: true }).click()
    await onPath(page, '/login')
  }
  await go(page, '/atualizar-senha/')
  await shown(page.getByRole('heading', { name: 'Token Inválido', exact: true }))
})
