import { expect, test } from 'vitest'
import { launchBrowser } from './browser.ts'

test('a real Chromium shows a page', async () => {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.setContent('<h1>Notas fiscais</h1>')
    expect(await page.textContent('h1')).toBe('Notas fiscais')
    expect((await page.locator('h1').boundingBox())?.width).toBeGreaterThan(100)
  } finally {
    await browser.close()
  }
})
