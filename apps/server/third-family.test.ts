import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { familyOf } from '@vigia/dfe/families/lookup'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../../tests/support/database.ts'
import { serviceOf } from './platform/service.ts'

const file = (name: string) => fileURLToPath(new URL(`support/third-family/${name}`, import.meta.url))

// In a process of its own, because the threads of the product load the list of families by themselves.
test('a family that the product does not know is captured, found, answered, printed, exported and rebuilt', async () => {
  await using database = await createDatabase()
  const program = ['--import', file('hook.ts'), file('walk.ts'), database.url, inject('testKeys')]
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect({ code, output: (out + err).slice(-6_000) }).toEqual({ code: 0, output: '' })
})

test('a code that no family has is none of them', () => {
  expect(() => serviceOf(7)).toThrow('no family of documents has the code 7')
  expect(() => familyOf(7)).toThrow('no family of documents has the code 7')
})
