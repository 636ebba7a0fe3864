import { spawnSync } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// Loading all of the server would cost a thread a second and 80 MB before its first document.
test('the threads load neither the database, nor the server, nor the contract', async () => {
  const server = fileURLToPath(new URL('..', import.meta.url))
  const files: string[] = []
  for await (const file of glob('**/*-worker.ts', { cwd: server })) files.push(file)
  expect(files.length).toBeGreaterThan(3)
  const program = `
    const { registerHooks } = await import('node:module')
    const loaded = new Set()
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) })
    for (const file of process.argv.slice(1)) await import(${JSON.stringify(new URL('..', import.meta.url).href)} + file)
    console.log(JSON.stringify([...loaded]))
    process.exit()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program, ...files], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const loaded: string[] = JSON.parse(stdout)
  expect(loaded.filter((url) => url.endsWith('-worker.ts'))).toHaveLength(files.length)
  expect(loaded.filter((url) => /node_modules\/(kysely|pg|fastify|zod)\//.test(url))).toEqual([])
})
