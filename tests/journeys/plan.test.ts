import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  type Account,
  chooseCertificate,
  expectNoSidewaysScroll,
  phone,
  query,
  shown,
  textOf,
  useSite,
} from './site.ts'

const site = useSite({ roles: ['api'] })

async function moveTrialEnd({ email }: Account, interval: string) {
  await query(
    site.product,
    `update workspace set trial_until = now() + $2::interval where id = (select workspace_id from account where email = $1)`,
    [email, interval],
  )
}

test('nothing is said while all is well; then how long the trial lasts; then that nothing comes any more', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.resume(account, '/empresas')
  const notice = page.getByRole('region', { name: 'Seu plano' })
  const sentence = notice.getByRole('status')
  const planOf = (page: Page) =>
    page.evaluate(async () => {
      const { token } = JSON.parse(localStorage.getItem('vigia.session')!)
      const response = await fetch('/v1/api/Plano', { headers: { Authorization: `Bearer ${token}` } })
      return (await response.json()).data
    })

  await shown(page.getByRole('heading', { name: 'Empresas' }))
  await page.waitForLoadState('networkidle')
  expect(await notice.count()).toBe(0)

  await moveTrialEnd(account, '2 days')
  await page.reload()
  const trial = await planOf(page)
  expect(trial.situacao).toBe('teste')
  await shown(notice)
  expect(await textOf(sentence)).toBe(trial.mensagem)

  await moveTrialEnd(account, '-1 hour')
  await page.reload()
  const ended = await planOf(page)
  expect(ended.situacao).toBe('encerrado')
  await shown(notice)
  expect(await textOf(sentence)).toBe(ended.mensagem)
  expect(ended.mensagem).toMatch(/90 dias/)

  await notice.getByRole('button', { name: 'Fale com a Gente' }).click()
  const dialog = page.getByRole('dialog', { name: 'Fale com a Gente' })
  await shown(dialog)
  // Name and e-mail come from the session.
  await expect.poll(() => dialog.getByLabel('Nome').inputValue()).toBe(account.nome)
  expect(await dialog.getByLabel('Email').inputValue()).toBe(account.email)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(page.url()).toBe(`${site.product.url}/empresas`)
})

test('on a phone the whole sentence is there when asked for', async () => {
  const account = await site.createAccount('Bruno')
  await moveTrialEnd(account, '-1 hour')
  const page = await site.resume(account, '/empresas', { ...phone, viewport: { width: 320, height: 700 } })
  const notice = page.getByRole('region', { name: 'Seu plano' })
  const sentence = notice.getByRole('status')
  await shown(notice)
  const height = async () => (await sentence.boundingBox())?.height ?? 0
  expect(await height()).toBeLessThanOrEqual(60)
  await notice.getByRole('button', { name: 'Ler tudo' }).click()
  await expect.poll(height).toBeGreaterThan(100)
  await expectNoSidewaysScroll(page)
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
