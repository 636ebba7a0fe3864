import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'

// Every regular expression of the server and of the packages is attacked with long repetitions of the characters that it names. One that begins
// anew at each of them takes a hundred times longer than the limit; what reads a text once stays far below it.

const root = fileURLToPath(new URL('../../', import.meta.url))
const lengthMax = 8_192
const msMax = 5
// A text four times as long takes four times as long to read once, on whatever machine; sixteen times to begin anew at every character.
const growthMax = 8

// Each sees only texts of ours.
const harmless = new Set(['apps/server/config.ts /\\/+$/', 'packages/print/pdf/cff.ts /^0|0+$/g'])

interface Found {
  file: string
  pattern: string
  flags: string
}

async function findAll(): Promise<Found[]> {
  const found: Found[] = []
  for await (const file of glob(['apps/server/**/*.ts', 'packages/**/*.ts'], { cwd: root })) {
    if (/node_modules|print\/support|\.(test|testing|bench)\.ts$|\/testing/.test(file)) continue
    const visit = (node: unknown): void => {
      if (node === null || typeof node !== 'object') return
      if ('regex' in node) found.push({ file, ...(node.regex as Omit<Found, 'file'>) })
      else for (const value of Object.values(node)) visit(value)
    }
    visit(parseAst(await readFile(root + file, 'utf8'), { lang: 'ts' }).body)
  }
  return found
}

const common = [' ', '\t', '\n', '0', '1', 'a', 'A', '.', '-', ',', '<', '/', '@', '=']

// Characters and words that the expression names, alone, in pairs and after each of its words.
function* attacksOn(pattern: string): Generator<(length: number) => string> {
  const named = pattern.replace(/\\[a-zA-Z]/g, '').replace(/[()[\]{}|^$?*+\\]/g, '')
  const atoms = [...new Set([...named, ...common])]
  const words = (pattern.match(/[A-Za-z<:_-]{2,}/g) ?? []).slice(0, 3)
  const pairs = atoms.slice(0, 5).flatMap((one) => atoms.slice(0, 5).map((other) => one + other))
  for (const head of ['', ...words])
    for (const pump of [...atoms, ...pairs, ...words])
      yield (length) => `${head}${pump.repeat(length / pump.length)}\n\u0001`
}

function msOf({ pattern, flags }: Found, text: string): number {
  const expression = new RegExp(pattern, flags)
  const began = performance.now()
  text.replace(expression, '')
  return performance.now() - began
}

// The quickest of many, both lengths in turns: what another process takes away is not the expression's.
function growsTooFast(one: Found, attack: (length: number) => string): boolean {
  let [whole, quarter] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let time = 0; time < 20; time++) {
    whole = Math.min(whole, msOf(one, attack(lengthMax)))
    if (whole <= msMax) return false
    quarter = Math.min(quarter, msOf(one, attack(lengthMax / 4)))
  }
  return whole > growthMax * quarter
}

test('no regular expression that meets foreign text begins anew at every character', async () => {
  const slow: string[] = []
  const all = await findAll()
  for (const one of all) {
    const name = `${one.file} /${one.pattern}/${one.flags}`
    if (harmless.has(name)) continue
    for (const attack of attacksOn(one.pattern)) {
      const ms = msOf(one, attack(lengthMax))
      if (ms <= msMax || !growsTooFast(one, attack)) continue
      slow.push(`${name}: ${Math.round(ms)} ms for ${JSON.stringify(attack(20))}…`)
      break
    }
  }
  expect(all.length).toBeGreaterThan(250)
  expect(slow).toEqual([])
}, 60_000)
