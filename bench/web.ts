import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lighthouse, { type Result } from 'lighthouse'
import type { Page } from 'playwright-core'
import { fillOffice } from '../tests/journeys/office.ts'
import { launchProfile } from '../tests/support/browser.ts'
import { createAccount, registerCompany, type StoredSession, startStage } from '../tests/support/stage.ts'
import { median, report } from './measure.ts'

// The pages that people wait for, in a real browser with an empty cache, as Lighthouse sees them from a telephone on a slow line: the median
// of its scores, and what travels until the page is at rest. What costs points is named. Beside each score stands the benchmark index of its
// run: how quick Lighthouse found the machine, so that a score from a busy one is not mistaken for that of a slow page. Then a list of notes, page
// after page, and three hundred companies are scrolled from top to bottom, on the machine as it is: what keeps the page busy longer than 50 ms.
const runs = 3
const goal = {
  performance: 95,
  accessibility: 100,
  scriptKB: { landing: 90, list: 180 },
}
const routes = { landing: '/', login: '/login', dashboard: '/dashboard', list: '/notas-fiscais' }
const ofVisitors = ['landing', 'login']
const client = { cnpj: '11222333000181', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
const companies = 300

await using stage = await startStage([client])
const folder = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const { browser, port } = await launchProfile(folder)
try {
  const page = await browser.newPage()
  await page.goto(`${stage.url}/theme.js`)
  const measured: Record<string, ReturnType<typeof summary>> = {}
  for (const [name, path] of Object.entries(routes)) {
    if (!ofVisitors.includes(name))
      await page.evaluate((session) => localStorage.setItem('vigia.session', session), JSON.stringify(stage.session))
    const results: Result[] = []
    for (let run = 0; run < runs; run++) results.push(await look(stage.url + path))
    measured[name] = summary(results)
  }
  const office = await createAccount(stage, 'contato@escritorio.example')
  await registerCompany(stage, office, client)
  await fillOffice(stage.databaseUrl, office, companies)
  const scrolled = {
    notes: await scroll(page, stage.session, '/notas-fiscais?periodo=todos'),
    companies: await scroll(page, office, '/empresas'),
  }
  report('web', { runs, goal, ...measured, scrolled }, [
    ...Object.entries(measured).map(([name, { performance, accessibility, scriptKB, eachRun }]) => ({
      what: `${name} by Lighthouse, telephone on a slow line, median of ${runs}`,
      number: `performance ${performance}, accessibility ${accessibility}, ${scriptKB} kB of script`,
      against: `benchmarkIndex ${eachRun.map(({ benchmarkIndex }) => benchmarkIndex).join(', ')}`,
      goal: `≥ ${goal.performance}, ${goal.accessibility}${name in goal.scriptKB ? `, ${goal.scriptKB[name as keyof typeof goal.scriptKB]} kB` : ''}`,
    })),
    ...Object.entries(scrolled).map(([name, { rows, longMs }]) => ({
      what: `${rows} rows of ${name} scrolled`,
      number: `${longMs.length} tasks above 50 ms, the longest ${Math.max(0, ...longMs)} ms`,
      against: '',
      goal: 'none',
    })),
  ])
} finally {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
}

async function scroll(page: Page, session: StoredSession, path: string) {
  await page.evaluate((text) => localStorage.setItem('vigia.session', text), JSON.stringify(session))
  await page.goto(stage.url + path)
  const next = page.getByRole('button', { name: 'Próxima' })
  const found: { rows: number; longMs: number[] } = { rows: 0, longMs: [] }
  for (;;) {
    await page.locator('tbody tr input').first().waitFor()
    await page.waitForLoadState('networkidle')
    const { rows, longMs } = await page.evaluate(scrollThrough)
    found.rows += rows
    found.longMs.push(...longMs)
    if (!(await next.isVisible()) || (await next.isDisabled())) return found
    await next.click()
    await page.waitForLoadState('networkidle')
  }
}

// In the page.
async function scrollThrough(): Promise<{ rows: number; longMs: number[] }> {
  const longMs: number[] = []
  const observer = new PerformanceObserver((list) => {
    longMs.push(...list.getEntries().map(({ duration }) => Math.round(duration)))
  })
  observer.observe({ type: 'longtask' })
  const rows = new Set<string>()
  for (let top = 0; top < document.documentElement.scrollHeight; top += 300) {
    scrollTo(0, top)
    await new Promise(requestAnimationFrame)
    for (const row of document.querySelectorAll('tbody tr')) rows.add(row.textContent)
  }
  // The observer reports its last entries a moment later.
  await new Promise((resolve) => setTimeout(resolve, 200))
  observer.disconnect()
  return { rows: rows.size, longMs }
}

async function look(url: string): Promise<Result> {
  const seen = await lighthouse(url, { port, logLevel: 'silent' })
  if (!seen) throw new Error(`Lighthouse says nothing about ${url}`)
  const { runtimeError, finalDisplayedUrl } = seen.lhr
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`)
  if (finalDisplayedUrl !== url) throw new Error(`${url} led to ${finalDisplayedUrl}`)
  return seen.lhr
}

function summary(results: readonly Result[]) {
  const scoreOf = ({ categories }: Result, category: string) => Math.round(100 * (categories[category]?.score ?? 0))
  const score = (category: string) => median(results.map((one) => scoreOf(one, category)))
  const value = (audit: string) => median(results.map(({ audits }) => audits[audit]?.numericValue ?? Number.NaN))
  const kilobytes = (type: string) => Number((median(results.map((one) => bytesOf(one, type))) / 1000).toFixed(1))
  return {
    performance: score('performance'),
    eachRun: results.map((one) => ({
      performance: scoreOf(one, 'performance'),
      benchmarkIndex: Math.round(one.environment.benchmarkIndex),
    })),
    accessibility: score('accessibility'),
    bestPractices: score('best-practices'),
    seo: score('seo'),
    firstPaintMs: Math.round(value('first-contentful-paint')),
    largestPaintMs: Math.round(value('largest-contentful-paint')),
    blockedMs: Math.round(value('total-blocking-time')),
    shift: Number(value('cumulative-layout-shift').toFixed(3)),
    scriptKB: kilobytes('Script'),
    cssKB: kilobytes('Stylesheet'),
    fontKB: kilobytes('Font'),
    htmlKB: kilobytes('Document'),
    costs: [...new Set(results.flatMap(costs))],
  }
}

interface NetworkRequest {
  resourceType?: string
  transferSize: number
}

// As sent, headers included.
function bytesOf({ audits }: Result, type: string): number {
  const { details } = audits['network-requests'] ?? {}
  if (details?.type !== 'table') throw new Error('Lighthouse does not say what was loaded')
  const requests = details.items as unknown[] as NetworkRequest[]
  return requests.reduce((sum, one) => (one.resourceType === type ? sum + one.transferSize : sum), 0)
}

function costs({ categories, audits }: Result): string[] {
  return Object.values(categories).flatMap(({ auditRefs }) =>
    auditRefs.flatMap(({ id, weight }) => {
      const { score } = audits[id] ?? {}
      return weight > 0 && typeof score === 'number' && score < 0.9 ? [id] : []
    }),
  )
}
