import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { shown, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })

/** Directives of the policy that stop injected content. */
async function stopped(page: Page): Promise<string[]> {
  // A separate page, because the browser's complaints are expected here.
  const own = await page.context().newPage()
  // Without the scripts of the page, only its policy is tested.
  await own.route('**/*.js', (route) => route.abort())
  await own.goto(page.url())
  const directives = await own.evaluate(async () => {
    const seen = new Set<string>()
    document.addEventListener('securitypolicyviolation', (event) =>
      seen.add(event.effectiveDirective.replace(/-(elem|attr)$/, '')),
    )
    const part = document.createElement('div')
    part.innerHTML = `<p style="color: red" onclick="1">x</p>
      <img src="https://elsewhere.example/x.png"><iframe src="https://elsewhere.example/"></iframe>`
    document.body.append(part)
    const script = document.createElement('script')
    script.textContent = 'document.title = "injected"'
    document.body.append(script)
    await fetch('https://elsewhere.example/').catch(() => {})
    // The browser tells of a frame when it gets to it; a script would have run by then.
    for (let turn = 0; turn < 100 && !seen.has('frame-src'); turn++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return [...seen, document.title === 'injected' ? 'injected' : ''].sort().filter(Boolean)
  })
  await own.close()
  return directives
}

const everything = ['connect-src', 'frame-src', 'img-src', 'script-src', 'style-src']

test('the application runs under its policy, which stops what is not of it', async () => {
  const page = await site.visit('/login')
  const { headers, status } = await page.evaluate(async () => {
    const response = await fetch(location.href)
    return { status: response.status, headers: Object.fromEntries(response.headers) }
  })
  expect(status).toBe(200)
  expect(headers['content-security-policy']).toContain("script-src 'self';")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  // Toasts and dialogs bring styles of their own, and are shown with them.
  await page.getByRole('button', { name: 'Esqueceu sua senha?' }).click()
  await shown(page.getByRole('dialog'))
  expect(await stopped(page)).toEqual(everything)
})

test('the description of the API can be browsed, under a policy of its own', async () => {
  const page = await site.visit('/docs')
  await shown(page.getByRole('heading', { name: /API do Vigia Fiscal/ }))
  const open = (tag: string) => page.locator(`#operations-tag-${tag}`).click()
  await open('DocumentosFiscais')
  await page.getByRole('button', { name: /get \/v1\/api\/DocumentosFiscais$/i }).click()
  await shown(page.getByText('1 Resumo, 2 Autorizada', { exact: false }))
  expect(await textOf(page.locator('.opblock.is-open .parameters'))).toContain('TipoDFe')
  // Try it out sends a real request.
  await open('health')
  await page.getByRole('button', { name: /get \/health$/i }).click()
  const health = page.locator('#operations-health-getHealth')
  await health.getByRole('button', { name: 'Try it out' }).click()
  await health.getByRole('button', { name: 'Execute' }).click()
  await shown(health.locator('.live-responses-table').getByText('"versao"'))
  expect(await stopped(page)).toEqual(everything)
})

test('nothing of programs is a page of the application', async () => {
  for (const path of ['/v1/nada', '/docs/nada', '/metrics', '/health/nada', '/index.html', '/assets/nada.js']) {
    const response = await fetch(site.product.url + path)
    expect(response.status, path).toBe(404)
    expect(response.headers.get('content-type'), path).toContain('json')
    expect(response.headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'")
  }
})
