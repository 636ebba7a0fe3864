import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from './lifetime.ts'

/** Builds the web app into `apps/web/dist`, unless the build there is of the same sources. */
export async function buildWeb(root: string, say: (text: string) => void): Promise<void> {
  const stamp = path.join(root, 'apps/web/dist/.stamp')
  const sources = await hashSources(root)
  if ((await readFile(stamp, 'utf8').catch(() => '')) === sources) return

  say('Montando o site (só quando ele muda)…')
  try {
    // An interrupted build leaves no stamp, so that the next start builds again.
    await rm(stamp, { force: true })
    await build(root)
    await writeFile(stamp, sources)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))))
      throw error
    throw new StartError(
      `Sem permissão para montar o site em ${path.dirname(stamp)}. Dê acesso ao usuário que roda o programa.`,
    )
  }
}

async function build(root: string): Promise<void> {
  const vite = path.join(root, 'node_modules/vite/bin/vite.js')
  const child = spawn(process.execPath, [vite, 'build', 'apps/web', '--logLevel', 'warn', '--emptyOutDir'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Vitest sets NODE_ENV to "test", with which Vite would build React for development: the tests run what ships.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new StartError(`O site não pôde ser montado:\n${Buffer.concat(output).toString().trim()}`)
}

/** One hash of everything the build reads: the web app, the packages it takes from, the locked dependencies, this file. */
async function hashSources(root: string): Promise<string> {
  const exclude = (name: string) => /(^|\/)(node_modules|dist)$|\.test\.tsx?$/.test(name)
  const files: string[] = []
  const sources = ['apps/web/**/*.*', 'packages/{contract,dfe,xml}/**/*.*', 'package-lock.json', 'scripts/web-build.ts']
  for await (const file of glob(sources, { cwd: root, exclude })) files.push(file)
  const hash = createHash('sha256')
  for (const file of files.sort()) {
    const content = await readFile(path.join(root, file)).catch(() => null)
    if (content) hash.update(`${file}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

if (import.meta.main) await buildWeb(path.join(import.meta.dirname, '..'), console.log)
