import { readFile } from 'node:fs/promises'
import { operate, shareAccount } from '@vigia/server/start'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import {
  type Account,
  chooseCertificate,
  expectAccessible,
  expectNoSidewaysScroll,
  focusedText,
  login,
  phone,
  query,
  shown,
  tabTo,
  textOf,
  useSite,
} from './site.ts'

const site = useSite({ roles: ['api'] })
const section = (page: Page, name: string) => page.getByRole('region', { name })

test('who one is, what the plan allows and what comes after it, and the theme', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.resume(account, '/conta')
  await shown(page.getByRole('heading', { level: 1, name: 'Minha conta' }))
  await expect.poll(() => page.title()).toBe('Minha conta · Vigia Fiscal')
  const facts = section(page, 'Dados').getByRole('definition')
  await expect
    .poll(() => facts.allTextContents())
    .toEqual([
      'Ana',
      account.email,
      'Não informado',
      new Intl.DateTimeFormat('pt-BR', { timeZone: 'America/Sao_Paulo' }).format(new Date()),
    ])

  const plan = section(page, 'Plano')
  await shown(plan.getByText('Profissional', { exact: true }))
  await shown(plan.getByText('R$ 49,87 por mês'))
  await shown(plan.getByText(/^Teste até \d\d\/\d\d\/\d{4}$/))
  await shown(plan.getByText(/^Teste grátis do plano Profissional até .* Depois, sem um plano ativo, a captura pausa/))
  expect(await plan.getByRole('definition').allTextContents()).toEqual(['0 de 10', '0 sem limite'])
  await plan.getByRole('button', { name: 'Mudar de plano' }).click()
  const question = page.getByRole('alertdialog', { name: 'Qual plano?' })
  expect(await question.getByRole('radio', { name: /^Profissional R\$ 49,87.* o plano atual/ }).isChecked()).toBe(true)
  await question.getByRole('radio', { name: /^Básico/ }).check()
  await question.getByRole('button', { name: 'Enviar pedido' }).click()
  await shown(page.getByText(/^Recebemos o pedido do plano Básico/))
  await plan.getByRole('button', { name: 'Mudar de plano' }).click()
  await question.getByRole('radio', { name: /^Corporativo .* Vale na hora, até o fim do teste\./ }).check()
  await question.getByRole('button', { name: 'Enviar pedido' }).click()
  await shown(page.getByText(/^O teste já é do plano Corporativo, até /))
  await expect.poll(() => plan.getByRole('definition').allTextContents()).toEqual(['0 sem limite', '0 sem limite'])

  const letters = section(page, 'Avisos por e-mail')
  expect(await letters.getByLabel('Alertas críticos, na hora').isChecked()).toBe(true)
  await letters.getByLabel('Só o resumo diário').check()
  await shown(page.getByText('Escolha guardada: vale a partir do próximo aviso.'))

  await section(page, 'Tema').getByLabel('Escuro').check()
  expect(await page.evaluate(() => document.documentElement.classList.contains('dark'))).toBe(true)
  await section(page, 'Tema').getByLabel('Claro').check()
  await page.setViewportSize({ width: 320, height: 700 })
  await expectNoSidewaysScroll(page)
})

test('the password: messages under the fields, a wrong one stays, and the other sessions end', async () => {
  const account = await site.createAccount('Bruno')
  const other = await site.resume(account, '/health')
  const page = await site.resume(account, '/conta#senha')
  await expect.poll(() => focusedText(page)).toBe('Senha')
  const form = section(page, 'Senha')
  const submit = form.getByRole('button', { name: 'Atualizar Senha' })
  await submit.click()
  await shown(form.getByText('Senha atual é obrigatória'))
  await shown(form.getByText('Nova senha é obrigatória'))

  const current = form.getByLabel('Senha atual')
  const next = form.getByLabel(/^Nova senha/)
  const again = form.getByLabel('Confirmar nova senha')
  await current.fill('errada-123')
  await next.fill('curta')
  await again.fill('outra')
  await submit.click()
  await shown(form.getByText('A senha deve ter pelo menos 6 caracteres'))
  await next.fill('segredo-novo')
  await submit.click()
  await shown(form.getByText('As senhas não coincidem'))
  await again.fill('segredo-novo')
  await submit.click()
  await shown(form.getByText('A senha atual não confere.'))
  expect(await current.getAttribute('aria-invalid')).toBe('true')
  expect(await next.inputValue()).toBe('segredo-novo')

  await current.fill(account.senha)
  await submit.click()
  await shown(page.getByText('Senha atualizada com sucesso! As outras sessões foram encerradas.'))
  expect(await current.inputValue()).toBe('')
  await other.goto(`${site.product.url}/dashboard`)
  await other.waitForURL('**/login')
  await shown(other.getByText('Sessão expirada. Faça login novamente.'))
  await login(other, { email: account.email, senha: 'segredo-novo' })
  await other.waitForURL('**/dashboard')
})

test('the second factor: switched on by a code, asked at the login, and who one is before it is switched off', async () => {
  const account = await site.createAccount('Eva')
  const page = await site.resume(account, '/conta#duas-etapas')
  const card = section(page, 'Verificação em duas etapas')
  await card.getByRole('button', { name: 'Ligar' }).click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.getByRole('img', { name: 'QR Code para o aplicativo autenticador' }))
  await expectAccessible(page)
  const program = new TOTP({ secret: Secret.fromBase32((await textOf(dialog.locator('code'))).replaceAll(' ', '')) })
  // Codes work only once, and the one of the next half minute is used already.
  const codeOf = (step: number) => program.generate({ timestamp: Date.now() + step * 30_000 })
  await dialog.getByLabel(/^2[.] Digite o código/).fill('000000')
  await dialog.getByRole('button', { name: 'Ligar' }).click()
  await shown(dialog.getByText(/^O código não confere/))
  await dialog.getByLabel(/^2[.] Digite o código/).fill(codeOf(0))
  await dialog.getByRole('button', { name: 'Ligar' }).click()
  const codes = dialog.getByRole('list', { name: 'Códigos de recuperação' }).getByRole('listitem')
  await expect.poll(() => codes.count()).toBe(10)
  const spare = await textOf(codes)
  await dialog.getByRole('button', { name: 'Já guardei' }).click()
  await shown(card.getByText(/^Ligada desde .* Restam 10 códigos de recuperação/))

  const other = await site.visit('/login')
  await login(other, account)
  const asked = other.getByLabel('Código da verificação em duas etapas')
  await asked.fill(spare)
  await other.getByRole('button', { name: 'Entrar' }).click()
  await other.waitForURL('**/dashboard')

  await query(site.product, `update session set proved_at = now() - interval '11 minutes'`)
  await card.getByRole('button', { name: 'Desligar' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Desligar' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirme que é você' })
  await proof.getByLabel('Código da verificação em duas etapas').fill(codeOf(1))
  await expectAccessible(page)
  await proof.getByRole('button', { name: 'Confirmar' }).click()
  await shown(page.getByText('Verificação em duas etapas desligada.'))
  await shown(card.getByRole('button', { name: 'Ligar' }))
})

test('the sessions: this one is marked, one or all others end after a question', async () => {
  const account = await site.createAccount('Carla')
  const others = [
    await newClient(site.product, account),
    await newClient(site.product, account),
    await newClient(site.product, account),
  ]
  const page = await site.resume(account, '/conta#sessoes')
  const sessions = section(page, 'Sessões').getByRole('listitem')
  await expect.poll(() => sessions.count()).toBe(4)
  expect(await textOf(sessions.first())).toContain('Esta sessão')
  expect(await sessions.first().getByRole('button').count()).toBe(0)
  expect(await textOf(sessions.nth(1))).toMatch(
    /usada na última hora · 127\.0\.0\.1 · aberta em \d\d\/\d\d\/\d{4} às \d\d:\d\d/,
  )

  await sessions
    .nth(1)
    .getByRole('button', { name: /^Encerrar/ })
    .click()
  const question = page.getByRole('alertdialog', { name: 'Encerrar esta sessão?' })
  await shown(question)
  // Enter, pressed at once, must not confirm.
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  await expect.poll(() => sessions.count()).toBe(4)
  await sessions
    .nth(1)
    .getByRole('button', { name: /^Encerrar/ })
    .click()
  await question.getByRole('button', { name: 'Encerrar', exact: true }).click()
  await shown(page.getByText('Uma sessão foi encerrada.'))
  await expect.poll(() => sessions.count()).toBe(3)

  await section(page, 'Sessões').getByRole('button', { name: 'Encerrar todas as outras' }).click()
  await shown(page.getByText('Em todos os outros aparelhos será preciso entrar de novo. Esta sessão continua aberta.'))
  await page.getByRole('alertdialog').getByRole('button', { name: 'Encerrar', exact: true }).click()
  await shown(page.getByText('2 sessões foram encerradas.'))
  await expect.poll(() => sessions.count()).toBe(1)
  expect(await section(page, 'Sessões').getByRole('button').count()).toBe(0)
  for (const other of others) expect((await other.call('GET', '/v1/api/Dashboard')).status).toBe(401)
})

test('a shared account shows what it may not change, and says so beside it', async () => {
  const account = await site.createAccount('Demo')
  await operate(site.product.config, (ctx) => shareAccount(ctx, account.email))
  const page = await site.resume(account, '/conta', phone)
  for (const name of [
    'Senha',
    'Verificação em duas etapas',
    'Avisos por e-mail',
    'Exportar todos os dados',
    'Excluir a conta',
  ])
    await shown(section(page, name).getByText(/^Login compartilhado: o que está em cinza não muda aqui/))
  expect(await section(page, 'Senha').getByRole('button', { name: 'Atualizar Senha' }).isDisabled()).toBe(true)
  await shown(section(page, 'Sessões').getByText(/^Esta conta é compartilhada: só a sua sessão aparece aqui/))
  await expectNoSidewaysScroll(page)
})

test('everything is asked for beside the deletion, which leads there and says how long it waits', async () => {
  const account = await site.createAccount('Eva')
  const page = await site.resume(account, '/conta#excluir')
  await shown(section(page, 'Excluir a conta').getByText(/^Em 30 dias: empresas, documentos/))
  await section(page, 'Excluir a conta').getByRole('link', { name: 'Exporte antes' }).click()
  await expect.poll(() => focusedText(page)).toBe('Exportar todos os dados')
  const everything = section(page, 'Exportar todos os dados')
  await everything.getByRole('button', { name: 'Exportar todos os dados' }).click()
  await shown(page.getByText(/^O arquivo com tudo está a caminho/))
  // No worker makes it here.
  await shown(everything.getByRole('button', { name: 'Juntando tudo...' }))
  await shown(everything.getByText(/^0 de 0 arquivos da SEFAZ/))
  await expectAccessible(page)
})

async function moveTrialEnd({ email }: Account, interval: string) {
  await query(
    site.product,
    `update workspace set trial_until = now() + $2::interval where id = (select workspace_id from account where email = $1)`,
    [email, interval],
  )
}

// See apps/web/shell/plan-warning.test.ts for the notices of each plan.
test('nothing is said while all is well; then that nothing comes any more, with a way to a person', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.resume(account, '/empresas')
  const notice = page.getByRole('region', { name: 'Seu plano' })
  await shown(page.getByRole('heading', { name: 'Empresas' }))
  await page.waitForLoadState('networkidle')
  expect(await notice.count()).toBe(0)

  await moveTrialEnd(account, '-1 hour')
  await page.reload()
  await shown(notice.getByRole('status').filter({ hasText: /90 dias/ }))
  await notice.getByRole('button', { name: 'Fale com a Gente' }).click()
  const dialog = page.getByRole('dialog', { name: 'Fale com a Gente' })
  // Name and e-mail come from the session.
  await expect.poll(() => dialog.getByLabel('Nome').inputValue()).toBe(account.nome)
  expect(await dialog.getByLabel('Email').inputValue()).toBe(account.email)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(page.url()).toBe(`${site.product.url}/empresas`)
})

test('a company that the plan has no place for is refused beside the button, with a way to us', async () => {
  const account = await site.createAccount('Carla')
  await moveTrialEnd(account, '-1 hour')
  const page = await site.resume(account, '/empresas/nova')
  const holder = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', senha: 'senha do arquivo' }
  await chooseCertificate(
    page,
    'empresa.pfx',
    await site.product.simulator.issueCertificate({ ...holder, sharedKey: true }),
  )
  const password = page.getByLabel('Senha do certificado')
  await password.fill(holder.senha)
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  const refusal = page.getByRole('main').getByRole('alert')
  await shown(refusal.filter({ hasText: /não é possível cadastrar nem reativar empresas/ }))
  expect(await password.getAttribute('aria-invalid')).toBeNull()
  await refusal.getByRole('button', { name: 'Fale com a Gente' }).click()
  await shown(page.getByRole('dialog', { name: 'Fale com a Gente' }))
})

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
  // The download is audited, too.
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
