import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { bakery, registerCompany, shown, textOf, useSite } from './site.ts'

const site = useSite({ simulator: { companies: [bakery] } })

test('the dashboard counts what the lists count', async () => {
  const page = await site.enter(await site.createAccount('Daniel'))
  await registerCompany(page, site.product, bakery)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  for (const title of ['Documentos por Empresa', 'Atividade Recente', 'Status do Sistema']) {
    await shown(page.getByRole('heading', { name: title }))
  }
  await shown(page.getByRole('row', { name: /^PADARIA ESTRELA DO NORTE LTDA/ }))
  const card = page.getByRole('listitem').filter({ hasText: 'Notas Fiscais (Mês)' })
  await expect.poll(() => countOnServer(page), { timeout: 60_000 }).toBeGreaterThan(0)
  const agrees = async () => (await textOf(card)).replace(/^.* /, '') === String(await countOnServer(page, thisMonth()))
  await expect.poll(agrees, { timeout: 60_000 }).toBe(true)
})

/** How many notes the list itself counts. */
async function countOnServer(page: Page, dates = ''): Promise<number> {
  return page.evaluate(async (dates) => {
    const { token } = JSON.parse(localStorage.getItem('vigia.session') ?? '')
    const headers = { Authorization: `Bearer ${token}` }
    const response = await fetch(`/v1/api/DocumentosFiscais?TipoDFe=0${dates}`, { headers })
    return (await response.json()).data.totalDeItens
  }, dates)
}

function thisMonth(): string {
  const month = new Intl.DateTimeFormat('sv', { timeZone: 'America/Sao_Paulo' }).format(new Date()).slice(0, 7)
  return `&DataDe=${month}-01T00:00:00`
}
