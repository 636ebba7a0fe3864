import { launchBrowser } from './tests/support/browser.ts'
import { startProduct } from './scripts/screenshots/product.ts'
await using product = await startProduct()
const session = product.sessions.demo!
console.log('up', product.url, new Date().toISOString())
const browser = await launchBrowser()
// let contents be read
await new Promise((r) => setTimeout(r, 15000))
const errors: string[] = []
for (const [name, path, size, dark] of [
  ['sheet', '/reforma', { width: 1280, height: 1000 }, false],
  ['sheet-390', '/reforma', { width: 390, height: 900 }, false],
  ['sheet-dark', '/reforma', { width: 1280, height: 1000 }, true],
  ['list', '/notas-fiscais?reforma=com', { width: 1440, height: 900 }, false],
  ['panel', `/notas-fiscais?periodo=todos&documento=${product.facts.complete}`, { width: 1440, height: 1300 }, false],
  ['panel-390', `/notas-fiscais?periodo=todos&documento=${product.facts.complete}`, { width: 390, height: 1300 }, false],
] as const) {
  const context = await browser.newContext({ viewport: size, colorScheme: dark ? 'dark' : 'light', locale: 'pt-BR', timezoneId: 'America/Sao_Paulo' })
  await context.addInitScript((s) => {
    localStorage.setItem('vigia.session', s)
    localStorage.setItem('vigia.columns.nfe', '["+reforma"]')
  }, JSON.stringify(session))
  const page = await context.newPage()
  page.on('pageerror', (e) => errors.push(name + ' ' + String(e)))
  await page.goto(product.url + path)
  await page.waitForTimeout(5000)
  if (name.startsWith('panel')) await page.getByRole('region', { name: 'IBS, CBS e IS', exact: true }).scrollIntoViewIfNeeded().catch((e) => console.log(String(e).slice(0, 200)))
  await page.screenshot({ path: `/tmp/reform-${name}.png`, fullPage: name.startsWith('sheet') })
  if (name === 'sheet') {
    const answer = await page.evaluate(async (token) => {
      const r = await fetch('/v1/api/Reforma?Mes=2026-11', { headers: { authorization: 'Bearer ' + token } })
      const x = await fetch('/v1/api/Reforma/planilha?Mes=2026-11', { headers: { authorization: 'Bearer ' + token } })
      return [(await r.text()).slice(0, 3000), x.status, x.headers.get('content-type'), (await x.blob()).size]
    }, session.token)
    console.log(answer)
  }
  await context.close()
}
console.log('errors', errors)
await browser.close()
process.exit(0)
