import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { pathOf, press, toasted } from './page.ts'
import { expectAccessible, expectNoSidewaysScroll, phone, query, shown, useSite } from './site.ts'

// Letters leave from this installation, to a server that does not answer.
const site = useSite(
  { simulator: { companies: [] }, config: { mail: { smtpUrl: 'smtp://127.0.0.1:1', from: 'avisos@vigia.example' } } },
  { alone: true },
)

// As the letter would have it; only its digest is in the database.
async function newLink(email: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await query(
    site.product,
    `with link as (
       insert into mail_link (token_hash, workspace_id, account_id, purpose, expires_at)
       select $1, workspace_id, id, 'email', now() + interval '1 hour' from account where email = $2
       returning token_hash, workspace_id, expires_at)
     insert into token_directory (token_hash, workspace_id, kept_until) select * from link`,
    [createHash('sha256').update(token).digest(), email],
  )
  return `/confirmar-email/${token}`
}

test('who signed up is told on every screen to confirm the e-mail, gets another link, and confirms by a click', async () => {
  const account = await site.createAccount('Dora')
  const page = await site.resume(account, '/dashboard', phone)
  const notice = page.getByRole('region', { name: 'Confirme seu e-mail' })
  // Roles are not found behind a dialog.
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await shown(notice)
  await expectNoSidewaysScroll(page)
  await press(notice, 'Enviar de novo').click()
  await toasted(page, `Enviamos outro link para ${account.email}. Ele vale por 24 horas.`)

  await page.goto(site.product.url + (await newLink(account.email)))
  await shown(page.getByRole('heading', { name: 'Confirmar e-mail' }))
  await expectAccessible(page)
  // Opening the page confirms nothing: programs that look at the links of a mail do that too.
  expect(
    await query(site.product, 'select email_proved_at as at from account where email = $1', [account.email]),
  ).toEqual([{ at: null }])
  await press(page, 'Confirmar e-mail').click()
  await toasted(page, 'E-mail confirmado. A conta já pode guardar certificados digitais.')
  await page.waitForURL('**/dashboard')
  await notice.waitFor({ state: 'detached' })
})

test('a link that does not work says why, and one that is cut off is not asked about', async () => {
  const page = await site.visit(`/confirmar-email/${'a'.repeat(43)}`)
  await press(page, 'Confirmar e-mail').click()
  await shown(page.getByText(/^Não reconhecemos este link de confirmação/))
  await page.goto(`${site.product.url}/confirmar-email`)
  await shown(page.getByText(/O link está incompleto/))
  await press(page, 'Fazer login').click()
  await page.waitForURL('**/login')
  expect(pathOf(page)).toBe('/login')
})
