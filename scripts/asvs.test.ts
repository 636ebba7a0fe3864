import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${root}docs/asvs.md`, 'utf8')
const chapters = page.slice(page.indexOf('## V1 '))

// The requirements of Levels 1 and 2: for each section of ASVS 5.0.0 those of its numbers.
const sections = {
  1: ['1-2', '1-9', '1-11', '1-3', '1-2'],
  2: ['1-3', '1-3', '1-4', '1-1'],
  3: ['', '1-2', '1-4', '1-6', '1-5', '', '1-2'],
  4: ['1-3', '1-1', '1-2', '1-4'],
  5: ['1-1', '1-3', '1-2', '1-3'],
  6: ['1-3', '1-12', '1-4', '1-4', '1-5', '1-3', '', '1-4'],
  7: ['1-3', '1-4', '1-2', '1-5', '1-2', '1-2'],
  8: ['1-2', '1-3', '1-1', '1-1'],
  9: ['1-3', '1-4'],
  10: ['1-2', '1-2', '1-4', '1-11', '1-5', '1-2', '1-3'],
  11: ['1-2', '1-3', '1-3', '1-4', '1-1', '1-1'],
  12: ['1-3', '1-2', '1-4'],
  13: ['1-1', '1-5', '1-2', '1-5'],
  14: ['1-2', '1-4', '1-3'],
  15: ['1-3', '1-3', '1-7'],
  16: ['1-1', '1-5', '1-4', '1-3', '1-3'],
  17: ['1-1', '1-4', '1-2'],
}

function range(prefix: string, text: string): string[] {
  const [from = 1, to = 0] = text.split('-').map(Number)
  return Array.from({ length: to - from + 1 }, (_, index) => `${prefix}.${from + index}`)
}

test('every requirement of Levels 1 and 2 is judged once', () => {
  const wanted = Object.entries(sections).flatMap(([chapter, numbers]) =>
    numbers.flatMap((text, index) => (text ? range(`${chapter}.${index + 1}`, text) : [])),
  )
  expect(wanted).toHaveLength(253)
  const judged = [...chapters.matchAll(/^\| ([^|]*\d[^|]*) \| (yes|part|no|operator|n\/a) \|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/\b(\d+\.\d+)\.(\d+)(?:–(\d+))?/g)].flatMap(([, section, from, to]) =>
      range(section!, `${from}-${to ?? from}`),
    ),
  )
  expect(judged.toSorted()).toEqual(wanted.toSorted())
})

test('every file that is named exists', () => {
  const named = [...page.matchAll(/`([\w./-]+\/[\w.-]+\.tsx?)`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(50)
  const missing = named.filter((path) => !existsSync(`${root}${path}`) && !existsSync(`${root}apps/server/${path}`))
  expect(missing).toEqual([])
})
