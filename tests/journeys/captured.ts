import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Account, type Site, shown, textOf } from './site.ts'

export const bakery = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
export const market = { cnpj: '11222333000181', nome: 'MERCADO BOM PRECO LTDA', uf: 'RJ' }

/** An account whose two companies have everything that the authority holds for them. */
export async function capturedAccount(site: Site, name: string): Promise<{ account: Account; client: Client }> {
  const account = await site.createAccount(name)
  const client = await newClient(site.product, account)
  for (const { cnpj, nome } of [bakery, market]) await client.register(cnpj, nome)
  await client.captured({ timeoutMs: 60_000 })
  return { account, client }
}

/** The rows of the list, in whichever shape the screen has room for. */
export function rowsOf(page: Page): Locator {
  const box = page.getByLabel(/^Selecionar (NF-e|CT-e)/)
  return page
    .getByRole('row')
    .filter({ has: box })
    .or(page.getByRole('listitem').filter({ has: box }))
}

export async function countOf(count: Locator): Promise<number> {
  return Number((await textOf(count)).split(' ')[0]?.replaceAll('.', ''))
}

/** The share of the picture that is not white. */
export async function inkOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const pixels = element.getContext('2d')?.getImageData(0, 0, element.width, element.height).data ?? []
    let dark = 0
    for (let index = 0; index < pixels.length; index += 4) if ((pixels[index] ?? 255) < 128) dark++
    return dark / (pixels.length / 4)
  })
}

export async function drawn(canvas: Locator): Promise<void> {
  await shown(canvas, 20_000)
  await expect.poll(() => inkOf(canvas.first()), { timeout: 20_000 }).toBeGreaterThan(0.01)
}

/** What has the focus, by its name for who does not see it. */
export async function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.slice(0, 100) ?? ''
  })
}
