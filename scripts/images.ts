import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { launchBrowser } from '../tests/support/browser.ts'

const web = path.join(import.meta.dirname, '../apps/web')
const images = [
  { from: 'public/favicon.svg', to: 'public/apple-touch-icon.png', width: 180, height: 180 },
  { from: 'images/og.svg', to: 'public/og.jpg', width: 1200, height: 630 },
]

// Draws the images that telephones and messengers want as pixels. Their drawings change rarely: it is run by hand, and the results are kept.
const browser = await launchBrowser()
const page = await browser.newPage()
for (const { from, to, width, height } of images) {
  const drawing = await readFile(path.join(web, from), 'utf8')
  await page.setViewportSize({ width, height })
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: 100vw }</style>${drawing}`)
  // A telephone rounds the corners itself.
  await page.evaluate(() => document.querySelector('rect')?.removeAttribute('rx'))
  await writeFile(path.join(web, to), await page.screenshot(to.endsWith('.jpg') ? { type: 'jpeg', quality: 85 } : {}))
}
await browser.close()
