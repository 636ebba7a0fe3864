import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkImports, type NpmPackage, readRepository, tablesOf } from './check-imports.ts'

const workspaces: NpmPackage[] = [
  { folder: '', name: 'vigia-fiscal', exports: {}, dependencies: ['vitest'] },
  workspace('packages/xml', ['parse', 'sign']),
  workspace('packages/dfe', ['chave'], ['@vigia/xml']),
  workspace('packages/contract', ['route'], ['@vigia/dfe', 'zod']),
  workspace('packages/sefaz', ['connection'], ['@vigia/dfe', '@vigia/xml']),
  workspace('apps/server', ['*'], ['@vigia/contract', '@vigia/dfe', '@vigia/sefaz', 'pg']),
  workspace('apps/simulator', ['start'], ['@vigia/dfe', '@vigia/xml']),
  workspace('apps/web', [], ['@vigia/contract', '@vigia/dfe', 'react']),
]

function workspace(folder: string, entries: string[], dependencies: string[] = []): NpmPackage {
  const exports = Object.fromEntries(entries.map((entry) => [`./${entry}`, `./${entry}.ts`]))
  return { folder, name: `@vigia/${folder.split('/')[1]}`, exports, dependencies }
}

// The files that the exports maps point to.
const doors = workspaces.flatMap(({ folder, exports }) =>
  Object.values(exports).map((target) => ({ path: `${folder}/${target.slice(2)}`, text: 'export const x = 1\n' })),
)

function problems(path: string, ...lines: string[]): string[] {
  return checkImports([...doors.filter((door) => door.path !== path), { path, text: lines.join('\n') }], workspaces)
}

function from(specifier: string, { type = '' } = {}): string {
  return `import ${type}{ x } from '${specifier}'`
}

test('the sources and workspaces of the repository are found', async () => {
  const { files, workspaces } = await readRepository(fileURLToPath(new URL('..', import.meta.url)))
  expect(files.map(({ path }) => path)).toContain('scripts/check-imports.test.ts')
  expect(files.some(({ path }) => path.includes('node_modules/'))).toBe(false)
  expect(workspaces.map(({ folder }) => folder)).toEqual(expect.arrayContaining(['', 'packages/dfe', 'apps/server']))
})

test.each([
  ['packages/dfe/read.ts', '@vigia/xml/parse'],
  ['packages/xml/sign.ts', 'node:crypto'],
  ['packages/xml/sign.ts', './parse.ts'],
  ['packages/xml/canonicalize.ts', './write.ts'],
  ['packages/xml/parse.test.ts', 'node:fs'],
  ['packages/sefaz/x.ts', '@vigia/xml/sign'],
  ['packages/contract/x.ts', '@vigia/dfe/chave'],
  ['packages/sefaz/x.ts', '@vigia/xml/parse'],
  ['apps/server/capture/x.ts', '@vigia/sefaz/connection'],
  ['apps/server/platform/db.ts', 'pg'],
  ['apps/server/platform/db.ts', 'node:fs'],
  ['apps/server/capture/x.ts', '../platform/anything.ts'],
  ['apps/server/capture/x.ts', '../documents/list/rows.ts'],
  ['apps/server/capture/x.ts', './worker.ts'],
  ['apps/server/capture/capture.test.ts', '../../../tests/support/database.ts'],
  ['apps/server/capture/capture.test.ts', 'vitest'],
  ['apps/server/capture/ingest.bench.ts', '../../../bench/measure.ts'],
  ['packages/dfe/samples.testing.ts', 'node:fs'],
  ['packages/dfe/read.test.ts', './samples.testing.ts'],
  ['apps/server/start.ts', './config.ts'],
  ['apps/server/start.ts', './capture/worker.ts'],
  ['apps/server/main.ts', './start.ts'],
  ['apps/server/config.ts', './platform/secret-file.ts'],
  ['apps/web/router.tsx', './documents/list.tsx'],
  ['apps/web/documents/list.tsx', '../ui/button.tsx'],
  ['apps/web/documents/list.tsx', '../lib/api.ts'],
  ['apps/web/shell/layout.tsx', '../ui/button.tsx'],
  ['apps/web/main.tsx', './styles.css'],
  ['apps/web/vite.config.ts', 'node:path'],
  ['apps/web/vite.config.ts', './build/chunks.ts'],
  ['apps/web/build/chunks.ts', 'node:path'],
  ['tests/journeys/x.test.ts', '@vigia/server/start'],
  ['tests/journeys/x.test.ts', '@vigia/sefaz/connection'],
  ['tests/journeys/x.test.ts', '../support/product.ts'],
  ['scripts/start.ts', '@vigia/simulator/start'],
  ['scripts/admin.ts', '@vigia/server/operations/held'],
])('%s may import %s', (path, specifier) => {
  expect(problems(path, from(specifier))).toEqual([])
})

test.each([
  ['packages/xml/x.ts', '@vigia/dfe/chave', 'may import nothing of ours'],
  ['packages/dfe/x.ts', '@vigia/sefaz/connection', 'may import only xml'],
  ['packages/dfe/x.ts', 'node:fs', 'runs in the browser'],
  ['packages/dfe/x.ts', './proof.ts', 'packages/dfe/proof.ts needs Node'],
  ['packages/contract/x.ts', 'node:crypto', 'runs in the browser'],
  ['packages/xml/parse.ts', 'node:fs', 'packages/xml/parse.ts runs in the browser'],
  ['packages/xml/rules.ts', 'node:crypto', 'runs in the browser'],
  ['packages/xml/write.ts', 'node:buffer', 'runs in the browser'],
  ['packages/xml/canonicalize.ts', './sign.ts', 'packages/xml/sign.ts needs Node'],
  ['packages/dfe/x.ts', '@vigia/xml/sign', 'packages/xml/sign.ts needs Node'],
  ['packages/dfe/x.ts', '@vigia/xml/secret', 'exports ./parse'],
  ['packages/dfe/x.ts', '@vigia/dfe/chave', 'relative path'],
  ['packages/dfe/x.ts', '../xml/parse.ts', 'package name'],
  ['packages/contract/x.ts', '@vigia/xml/parse', 'may import only dfe'],
  ['packages/contract/x.ts', 'lodash', 'add lodash to the dependencies of packages/contract'],
  ['packages/contract/x.ts', 'vitest', 'add vitest'],
  ['packages/sefaz/x.ts', 'fs', 'write node:fs'],
  ['packages/sefaz/x.ts', '@vigia/server/start', 'an app is imported by'],
  ['packages/unknown/x.ts', '@vigia/dfe/chave', 'is not in allowedImports'],
  ['apps/simulator/x.ts', '@vigia/sefaz/connection', 'may import only dfe, xml'],
  ['apps/web/x.tsx', '@vigia/sefaz/connection', 'may import only contract, dfe'],
  ['apps/web/lib/x.ts', 'node:fs', 'runs in the browser'],
  ['apps/server/documents/x.ts', '../capture/capture.ts', 'downwards only'],
  ['apps/server/platform/x.ts', '../accounts/accounts.ts', 'downwards only'],
  ['apps/server/accounts/x.ts', '../start.ts', 'stands above'],
  ['apps/server/accounts/x.ts', '../config.ts', 'only its types'],
  ['apps/server/invoices/x.ts', '../platform/db.ts', 'is not a floor'],
  ['apps/server/config.ts', './accounts/accounts.ts', 'imports only platform'],
  ['apps/web/documents/x.tsx', '../companies/form.tsx', 'never imports a slice'],
  ['apps/web/documents/x.tsx', '../shell/layout.tsx', 'not shell'],
  ['apps/web/documents/x.tsx', '../router.tsx', 'only the entry page'],
  ['apps/web/ui/x.tsx', '../documents/list.tsx', 'not slice'],
  ['apps/web/lib/x.ts', '../ui/button.tsx', 'not ui'],
  ['apps/web/main.tsx', './build/chunks.ts', 'only vite.config.ts'],
  ['apps/web/build/x.ts', '../lib/api.ts', 'no part of it'],
  ['apps/server/capture/x.ts', '../../../tests/support/database.ts', 'package name'],
  ['tests/journeys/x.test.ts', '../../apps/server/start.ts', 'package name'],
  ['packages/sefaz/x.ts', './testing.ts', 'by tests only'],
  ['packages/print/x.ts', './support/scan.ts', 'by tests only'],
  ['packages/print/x.ts', './support/conformance/fonts.ts', 'by tests only'],
  ['packages/print/x.ts', '../../bench/measure.ts', 'package name'],
  ['scripts/x.ts', 'lodash', 'the root/package.json'],
])('%s may not import %s', (path, specifier, reason) => {
  expect(problems(path, from(specifier))).toEqual([expect.stringContaining(reason)])
})

test('a test may not use more of an app than its start', () => {
  const [problem] = problems('tests/x.ts', from('@vigia/server/config'))
  expect(problem).toContain('only @vigia/server/start')
})

test.each([
  ['../companies/testing.ts', 'stands above'],
  ['../platform/http/http.ts', null],
  ['../start.ts', null],
])('whether a test of accounts may import %s', (specifier, reason) => {
  const expected = reason === null ? [] : [expect.stringContaining(reason)]
  expect(problems('apps/server/accounts/x.test.ts', from(specifier))).toEqual(expected)
})

test('a floor may know the type of the configuration', () => {
  expect(problems('apps/server/accounts/x.ts', from('../config.ts', { type: 'type ' }))).toEqual([])
})

test.each([
  ["import '@vigia/sefaz/connection'"],
  ["export { x } from '@vigia/sefaz/connection'\nexport const y = 1"],
  ["export type { X } from '@vigia/sefaz/connection'\nexport const y = 1"],
  ["import type { X } from '@vigia/sefaz/connection'"],
  ["import {\n  a,\n  type B,\n} from '@vigia/sefaz/connection'"],
  ["import x, { y } from '@vigia/sefaz/connection'"],
  ["import * as x from '@vigia/sefaz/connection'"],
  ["const x = await import('@vigia/sefaz/connection')"],
  ["let x: typeof import('@vigia/sefaz/connection')"],
])('%s is seen', (line) => {
  expect(problems('packages/dfe/x.ts', line)).toHaveLength(1)
})

test.each([
  ['sql`select 1 from document where id = 1`', ['document']],
  ["db.insertInto('happening').values(x)", ['happening']],
  [
    'sql`update capture_line l set a = 1 from company c join supplier s on true`',
    ['capture_line', 'company', 'supplier'],
  ],
  ['// from document', []],
])('the tables of %s', (text, tables) => {
  expect(tablesOf(text)).toEqual(tables)
})

test('SQL names tables of its own floor and of those below', () => {
  const tables = (path: string) => problems(path, 'const q = sql`select 1 from capture_line`')
  expect(tables('apps/server/documents/x.ts')).toEqual([expect.stringContaining('belongs to capture, above documents')])
  expect(tables('apps/server/events/x.ts')).toEqual([])
})

test('comments are not imports', () => {
  expect(problems('packages/dfe/x.ts', "// import x from '@vigia/sefaz/connection'", '/*', from('pg'), '*/')).toEqual(
    [],
  )
})

test('files that import one another in a circle', () => {
  const circle = (...links: [path: string, to: string][]) =>
    checkImports(
      [...doors, ...links.map(([path, to]) => ({ path, text: from(`./${to}.ts`, { type: 'type ' }) }))],
      workspaces,
    )
  expect(
    circle(
      ['packages/dfe/a.ts', 'b'],
      ['packages/dfe/b.ts', 'c'],
      ['packages/dfe/c.ts', 'b'],
      ['packages/dfe/d.ts', 'a'],
    ),
  ).toEqual([expect.stringContaining('packages/dfe/b.ts → packages/dfe/c.ts → packages/dfe/b.ts')])
  expect(circle(['packages/dfe/a.ts', 'b'], ['packages/dfe/c.ts', 'b'])).toEqual([])
})

test('no barrels', () => {
  expect(problems('packages/dfe/index.ts', 'export const a = 1')).toEqual([expect.stringContaining('no barrels')])
  expect(problems('packages/dfe/all.ts', "export * from './chave.ts'")).toEqual([expect.stringContaining('no barrels')])
  expect(problems('packages/dfe/all.ts', "export { x } from './chave.ts'")).toHaveLength(1)
})

test('default exports only where a tool demands one', () => {
  expect(problems('packages/dfe/x.ts', 'export default 1')).toEqual([expect.stringContaining('named exports')])
  expect(problems('apps/web/vite.config.ts', 'export default {}')).toEqual([])
})

test('only main programs read the environment', () => {
  const line = 'const port = process.env.PORT'
  expect(problems('apps/server/platform/x.ts', line)).toEqual([expect.stringContaining('reads the environment')])
  for (const path of ['scripts/x.ts', 'bench/x.ts', 'apps/simulator/main.ts']) expect(problems(path, line)).toEqual([])
})

test('families and statuses are decided in packages/dfe/families alone', () => {
  const decisions = [
    "const isNote = type === 'nfe'",
    'const isNote = type === 0',
    'sql`where d.type = 2`',
    'sql`where d.status in (2, 6)`',
    'sql`where base_status <> 3`',
  ]
  for (const line of decisions) {
    for (const path of ['apps/server/documents/x.ts', 'apps/web/lib/x.ts', 'packages/contract/x.ts'])
      expect(problems(path, line)).toEqual([expect.stringContaining('packages/dfe/families')])
    for (const path of ['packages/dfe/x.ts', 'apps/server/documents/x.test.ts', 'apps/simulator/x.ts'])
      expect(problems(path, line)).toEqual([])
  }
  expect(problems('apps/server/documents/x.ts', 'if (status === 404 || type === nfe.code) return')).toEqual([])
})
