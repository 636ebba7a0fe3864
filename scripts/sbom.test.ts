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
