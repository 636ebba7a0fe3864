import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

// One process for all pages of a context, however often they navigate: to start one costs more than most pages.
const fewProcesses = ['--renderer-process-limit=1', '--disable-site-isolation-trials']

// Optimised code did not repay its compilation in journeys; one compiler off makes the other do more.
const plainCode = '--js-flags=--no-maglev --no-opt'

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/usr/lib/chromium/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** A real Chromium: that of CHROMIUM_PATH, else an installed one, else the one that npm brought. Never skips: it throws. */
export async function launchBrowser(): Promise<Browser> {
  return launch((options) => chromium.launch({ ...options, args: [...args, ...fewProcesses, plainCode] }))
}

/** The same as one person has it, with its data in `folder`, and the port where other tools join in. */
export async function launchProfile(folder: string): Promise<{ browser: BrowserContext; port: number }> {
  const browser = await launch((options) =>
    chromium.launchPersistentContext(folder, { ...options, args: [...args, '--remote-debugging-port=0'] }),
  )
  const [port] = (await readFile(join(folder, 'DevToolsActivePort'), 'utf8')).split('\n')
  return { browser, port: Number(port) }
}

async function launch<T>(start: (options: LaunchOptions) => Promise<T>): Promise<T> {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen) return start({ executablePath: chosen, args })

  const failures: string[] = []
  for (const executablePath of usualPaths.filter((path) => existsSync(path))) {
    try {
      return await start({ executablePath, args })
    } catch (error) {
      failures.push(`${executablePath}: ${firstLine(error)}`)
    }
  }
  try {
    return await launchPackaged(start)
  } catch (error) {
    failures.push(`@sparticuz/chromium: ${firstLine(error)}`)
  }
  throw new Error(
    `The journeys need a Chromium, and none starts here. Install Chromium or Chrome, or set CHROMIUM_PATH to its executable.\n${failures.join('\n')}`,
  )
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''
}

async function launchPackaged<T>(start: (options: LaunchOptions) => Promise<T>): Promise<T> {
  const folder = await unpack()
  const executablePath = join(folder, 'chromium')
  // A machine with no fonts at all draws no text; the package brings one.
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') }
  try {
    return await start({ executablePath, args, env: { ...process.env, ...fonts } })
  } catch {
    // A small machine lacks NSS; the package brings it for Amazon Linux, and it runs elsewhere too.
    const LD_LIBRARY_PATH = join(folder, 'al2023', 'lib')
    return await start({ executablePath, args, env: { ...process.env, ...fonts, LD_LIBRARY_PATH } })
  }
}

// The package unpacks into the temporary folder of its process, and trusts what it finds there. So it runs in a process
// whose temporary folder is ours and new; a rename publishes the result, also when two test files come here at once.
async function unpack(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  const manifest = await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder

  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    const code = 'const { default: chromium } = await import(process.argv[1]); await chromium.executablePath()'
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code, entry], {
      env: { ...process.env, TMPDIR: unfinished, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' },
    })
    await writeFile(join(unfinished, 'fonts', 'fonts.conf'), fontsConfiguration(folder))
    await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return folder
}

function fontsConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir></fontconfig>
`
}
