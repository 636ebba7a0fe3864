import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vigia/embedded-postgres/port'
import { beforeAll, expect, test } from 'vitest'
import { importsOf, readRepository } from './check-imports.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// Entry points of a container: the program, its worker and its commands, and by name the signer,
// the simulator and the threads.
const entries = [
  ...['scripts/start.ts', 'scripts/worker-child.ts', 'scripts/admin.ts', 'scripts/sefaz.ts'],
  ...['apps/server/main.ts', 'apps/simulator/main.ts'],
]

let repository: Awaited<ReturnType<typeof readRepository>>
beforeAll(async () => {
  repository = await readRepository(root)
})

/** The lines of .dockerignore, as far as they are used: "*" is out, "!name" is in, and below that names that are out. */
async function isCopied(): Promise<(file: string) => boolean> {
  const lines = (await readFile(path.join(root, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
  const within = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const without = lines.filter((line) => !/^[!*]$|^!/.test(line))
  return (file) =>
    within.some((name) => file === name || file.startsWith(`${name}/`)) &&
    !without.some((pattern) => path.matchesGlob(file, pattern) || file.startsWith(`${pattern}/`))
}

test('a container has each file that the program imports, and each library of them that is no tool of development', async () => {
  const { files, workspaces } = repository
  const texts = new Map(files.map((file) => [file.path, file.text]))
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string> }>
  }
  const copied = await isCopied()
  const owner = (file: string) => file.split('/').slice(0, 2).join('/')
  const missing = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    const text = texts.get(file)
    if (text === undefined || !copied(file)) return void missing.add(file)
    const threads = [...text.matchAll(/new URL\('(\.[^']*-worker\.ts)'/g)].map(([, specifier = '']) => specifier)
    const imported = importsOf(text).flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : specifier))
    for (const specifier of [...imported, ...threads]) {
      if (specifier.startsWith('node:')) continue
      if (specifier.startsWith('.')) {
        visit(path.posix.join(path.posix.dirname(file), specifier.replace(/\?.*$/, '')))
        continue
      }
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      const own = workspaces.find((workspace) => workspace.name === name)
      const entry = specifier.slice(name.length + 1)
      const target = own?.exports[`./${entry}`] ?? own?.exports['./*']?.replace('*', entry)
      if (own && target) visit(path.posix.join(own.folder, target))
      // The root has tools only, and they stay outside.
      else if (!lock.packages[owner(file)]?.dependencies?.[name]) missing.add(`${name} of ${file}`)
    }
  }
  for (const entry of entries) visit(entry)
  expect([...missing]).toEqual([])
  expect(seen.size).toBeGreaterThan(300)
  for await (const file of glob('apps/server/migrations/*.sql', { cwd: root })) expect(copied(file), file).toBe(true)
  for (const file of [
    'tests/support/product.ts',
    'apps/server/start.test.ts',
    '.env',
    'data/master.key',
    '.git/config',
  ])
    expect(copied(file), file).toBe(false)
})

test('the workspaces of the container are all but that of the pages', async () => {
  const source = await readFile(path.join(root, 'deploy/Containerfile'), 'utf8')
  const wanted = [...source.matchAll(/'workspaces\[\]=([^']+)'/g)].map(([, pattern = '']) => pattern)
  const { workspaces } = repository
  const left = workspaces.filter(({ folder }) => folder && !wanted.some((one) => path.matchesGlob(folder, one)))
  expect(left.map(({ folder }) => folder)).toEqual(['apps/web'])
})

// PODMAN: the program and its options, PODMAN_BUILD and PODMAN_RUN: what a machine needs besides. The images of FROM must be there: nothing is fetched.
const words = (text = '') => text.split(' ').filter(Boolean)
const podman = words(process.env.PODMAN ?? 'podman')
const call = (...args: string[]) =>
  spawnSync(podman[0]!, [...podman.slice(1), ...args], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
const bases = ['docker.io/library/node:24-bookworm-slim', 'docker.io/library/debian:bookworm-slim']
const isThere = process.env.RUNS === 'full' && bases.every((image) => call('image', 'exists', image).status === 0)
if (process.env.RUNS === 'full' && !isThere)
  console.log('there is no podman with the base images on this machine: deploy/Containerfile is not built')

test.runIf(isThere)(
  'the image is small, runs as nobody in particular without writing to itself, is ready, and ends in order',
  async () => {
    const image = 'vigia-test'
    const built = call(
      'build',
      ...words(process.env.PODMAN_BUILD),
      '--pull=never',
      '--format',
      'docker',
      '-f',
      'deploy/Containerfile',
      '-t',
      image,
      '.',
    )
    expect(built.status, built.stderr).toBe(0)
    expect(Number(call('image', 'inspect', image, '--format', '{{.Size}}').stdout)).toBeLessThan(400_000_000)
    expect(call('image', 'inspect', image, '--format', '{{.Config.User}}').stdout.trim()).toBe('vigia')
    const [port, simulatorPort, probePort] = [await freePort(), await freePort(), await freePort()]
    const settings = { PORT: port, SIMULATOR_PORT: simulatorPort, PROBE_PORT: probePort, LISTEN_HOST: '127.0.0.1' }
    const name = `vigia-test-${port}`
    const options = [
      ...['run', '--name', name, '--rm', '--no-healthcheck', '--network', 'host', '--read-only'],
      ...['--tmpfs', '/tmp:rw,noexec,nosuid,size=256m', '-v', `${name}:/data`],
      ...['--cap-drop', 'all', '--security-opt', 'no-new-privileges', ...words(process.env.PODMAN_RUN)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
    ]
    const child = spawn(podman[0]!, [...podman.slice(1), ...options, image], { cwd: root, stdio: 'pipe' })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    const ended = once(child, 'close')
    try {
      await expect
        .poll(() => (child.exitCode === null ? said : `${said}\nPronto em nada`), { timeout: 300_000 })
        .toMatch(/Pronto em/)
      expect(child.exitCode, said).toBeNull()
      expect((await fetch(`http://127.0.0.1:${probePort}/ready`)).status).toBe(200)
      expect(await (await fetch(`http://localhost:${port}/`)).text()).toContain('Vigia Fiscal')
      const inside = (...command: string[]) => call('exec', name, ...command)
      expect(inside('id', '-u').stdout.trim()).toBe('10001')
      expect(inside('touch', '/program/x').stderr).toContain('Read-only')
      for (const tool of ['cc', 'gcc', 'make', 'python3', 'npm']) expect(inside('which', tool).status, tool).not.toBe(0)
    } finally {
      call('stop', '-t', '150', name)
    }
    expect((await ended)[0], said).toBe(0)
    call('volume', 'rm', '-f', name)
    call('image', 'rm', '-f', image)
  },
  1_800_000,
)
