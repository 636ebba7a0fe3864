import type { Locator, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import type { Product } from '../support/product.ts'
import { type Account, bakery, market, query, type Site, shown, textOf } from './site.ts'

interface Captured {
  account: Account
  client: Client
}

const kept = new WeakMap<Product, Promise<Captured>>()

/** An account whose two companies have everything that the authority holds for them; files that share a product share it too. */
export function capturedAccount(site: Site): Promise<Captured> {
  const account = kept.get(site.product) ?? capture(site)
  kept.set(site.product, account)
  // The next file tries again.
  account.catch(() => kept.delete(site.product))
  return account
}

async function capture(site: Site): Promise<Captured> {
  const account = await site.createAccount('Ana')
  const client = await newClient(site.product, account)
  for (const { cnpj, nome } of [bakery, market]) await client.register(cnpj, nome)
  await captured(site, account, client)
  return { account, client }
}

/** Like `capturedAccount`, for files that need no worker any more: everything is read and judged, too. */
export async function settledAccount(site: Site): Promise<Captured> {
  const known = await capturedAccount(site)
  const behind = `
    select from account a join document d using (workspace_id)
     where a.email = $1 and (d.judged_at is null or not isfinite(d.judged_at)) limit 1`
  const isRead = async () => expect(await query(site.product, behind, [known.account.email])).toEqual([])
  await vi.waitFor(isRead, { timeout: 90_000, interval: 100 })
  await site.rest()
  return known
}

/** Waits until everything that the authority holds for the companies of an account is in this account. */
export async function captured(site: Site, account: Account, client: Client): Promise<void> {
  await client.captured({ timeoutMs: 60_000 })
  // With a CNPJ of another account, too, the capture may end before all documents reach this one.
  const late = `
    select l.cnpj from capture_subscription s join capture_line l on l.id = s.line_id
     where s.delivered_nsu < l.last_nsu and s.workspace_id = (select workspace_id from account where email = $1)`
  const isHere = async () => expect(await query(site.product, late, [account.email])).toEqual([])
  await vi.waitFor(isHere, { timeout: 60_000, interval: 100 })
}

/**
 * Period of a list's address with `count` of `rows`, newest or oldest, in as few days as possible:
 * a list of fifty takes long to draw and to search.
 */
export function periodOf(rows: { dataEmissao: string }[], count: number, from: 'newest' | 'oldest'): string {
  const days = rows.map(({ dataEmissao }) => dataEmissao.slice(0, 10)).toSorted()
  const some = from === 'newest' ? days.slice(-count) : days.slice(0, count)
  return `de=${some[0]}&ate=${some.at(-1)}`
}

/** The rows of the list, in whichever shape the screen has room for. */
export function rowsOf(page: Page): Locator {
  // By selector: to read the roles and names of a long list takes longer than to draw it.
  return page.locator('tr:has([data-document]), li:has([data-document])')
}

export async function countOf(count: Locator): Promise<number> {
  return Number((await textOf(count)).split(' ')[0]?.replaceAll('.', ''))
}

/** The share of the picture that is not white. */
export async function inkOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    // A copy: the browser warns of a canvas on the screen that is read often.
    const copy = new OffscreenCanvas(element.width || 1, element.height || 1).getContext('2d', {
      willReadFrequently: true,
    })!
    copy.drawImage(element, 0, 0)
    const pixels = copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data
    let dark = 0
    for (let index = 0; index < pixels.length; index += 4) if ((pixels[index] ?? 255) < 128) dark++
    return dark / (pixels.length / 4)
  })
}

export async function drawn(canvas: Locator): Promise<void> {
  await shown(canvas, 20_000)
  await expect.poll(() => inkOf(canvas.first()), { timeout: 20_000 }).toBeGreaterThan(0.01)
}

/** The accessible name of what has the focus. */
export async function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.slice(0, 100) ?? ''
  })
}
