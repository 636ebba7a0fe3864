import { freePort } from '@vigia/embedded-postgres/port'
import { test } from 'vitest'
import { query, shown, useSite } from '../site.ts'

// A browser keeps passkeys for a name, and the server wants to know at which address it is reached.
const port = await freePort()
const origin = `http://localhost:${port}`
const site = useSite({ roles: ['api'], config: { port, publicUrl: origin } }, { alone: true, newPages: true })

test('a passkey is made in the account, enters without a password, and proves who removes it', async () => {
  const account = await site.createAccount('Noemi')
  const session = await site.resume(account, '/health')
  const kept = await session.evaluate(() => localStorage.getItem('vigia.session')!)
  const page = await site.visitor()
  await page.goto(`${origin}/health`)
  await page.evaluate((kept) => localStorage.setItem('vigia.session', kept), kept)
  await page.goto(`${origin}/conta`)
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const section = page.getByRole('region', { name: 'Passkeys' })
  await section.getByLabel('Nome da nova passkey').fill('Notebook')
  await section.getByRole('button', { name: 'Cadastrar passkey' }).click()
  await shown(section.getByText(/^Cadastrada em .*, ainda não usada$/))

  await page.evaluate(() => localStorage.removeItem('vigia.session'))
  await page.goto(`${origin}/login`)
  await page.getByRole('button', { name: 'Usar passkey' }).click()
  await page.waitForURL('**/dashboard')

  await query(site.product, `update session set proved_at = now() - interval '11 minutes'`)
  await page.goto(`${origin}/conta`)
  await section.getByRole('button', { name: 'Remover Notebook' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remover' }).click()
  await page.getByRole('dialog', { name: 'Confirme que é você' }).getByRole('button', { name: 'Usar passkey' }).click()
  await shown(page.getByText(/^Passkey removida\./))

  await page.evaluate(() => localStorage.removeItem('vigia.session'))
  await page.goto(`${origin}/login`)
  await page.getByRole('button', { name: 'Usar passkey' }).click()
  await shown(page.getByText(/^Esta passkey não abre nenhuma conta daqui/))
  await devTools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  await devTools.detach()
})
