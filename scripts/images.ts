import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { launchBrowser } from '../tests/support/browser.ts'

const web = path.join(import.meta.dirname, '../apps/web')
const logo = 'public/favicon.svg'
const images = [
  { from: logo, to: 'public/apple-touch-icon.png', width: 180, height: 180 },
  { from: logo, to: 'public/icon-192.png', width: 192, height: 192, rounded: true },
  { from: logo, to: 'public/icon-512.png', width: 512, height: 512, rounded: true },
  // A circle of four fifths is all that every telephone leaves of it (W3C, Web Application Manifest: icon masks).
  { from: logo, to: 'public/icon-maskable-512.png', width: 512, height: 512, scale: 0.8 },
  { from: 'images/og.svg', to: 'public/og.jpg', width: 1200, height: 630 },
]

// Draws the images that telephones and messengers want as pixels. Their drawings change rarely: it is run by hand, and the results are kept.
const browser = await launchBrowser()
const page = await browser.newPage()
for (const { from, to, width, height, rounded = false, scale = 1 } of images) {
  const drawing = await readFile(path.join(web, from), 'utf8')
  await page.setViewportSize({ width, height })
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: 100vw }</style>${drawing}`)
  if (!rounded) await page.evaluate(fillCorners, scale)
  const format = to.endsWith('.jpg') ? ({ type: 'jpeg', quality: 85 } as const) : { omitBackground: rounded }
  await writeFile(path.join(web, to), await page.screenshot(format))
}
await browser.close()

// A telephone rounds the corners itself.
function fillCorners(scale: number) {
  const ground = document.querySelector('rect')
  const drawing = document.querySelector('svg')
  ground?.removeAttribute('rx')
  document.body.style.background = ground?.getAttribute('fill') ?? ''
  drawing?.setAttribute('transform', `scale(${scale})`)
}
