import { glob, readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** A source file; `path` is relative to the repository, with slashes. */
interface SourceFile {
  path: string
  text: string
}

export interface NpmPackage {
  /** `packages/dfe`; the repository itself is `''`. */
  folder: string
  name: string
  exports: Record<string, string>
  dependencies: string[]
}

interface Import {
  specifier: string
  typeOnly: boolean
}

// Who may import whom. A new edge is the rarest change: it comes with a decision record in docs/decisions.
const allowedImports: Record<string, string[]> = {
  'packages/xml': [],
  'packages/signalr': [],
  'packages/postgres': [],
  'packages/dfe': ['xml'],
  'packages/alerts': ['dfe'],
  'packages/reform': ['dfe'],
  'packages/freight': ['dfe'],
  'packages/contract': ['dfe'],
  'packages/print': ['dfe'],
  'packages/sefaz': ['dfe', 'xml'],
  'apps/web': ['contract', 'dfe'],
  'apps/server': ['alerts', 'contract', 'dfe', 'freight', 'reform', 'sefaz', 'print', 'signalr', 'postgres'],
  'apps/simulator': ['dfe', 'xml'],
}
const toolFolders = ['tests', 'bench', 'scripts']

// The folders of apps/server stand in one line and import only leftwards: first what every slice stands on, whose files are open to all,
// then the slices, each with one front door.
const foundation = ['platform', 'jobs', 'signer', 'print', 'http', 'mail']
const slices = [
  ...foundation,
  'audit',
  'accounts',
  'team',
  'keys',
  'notifications',
  'contact',
  'plans',
  'companies',
  'changes',
  'webhooks',
  'documents',
  'contents',
  'reports',
  'reform',
  'alerts',
  'freight',
  'suppliers',
  'letters',
  'manifestation',
  'capture',
  'deletion',
  'dashboard',
  'backup',
]
// What start.ts composes from a slice, besides its front door.
const partsForStart = [
  'routes.ts',
  'change-routes.ts',
  'worker.ts',
  'hub.ts',
  'teller.ts',
  'warnings.ts',
  'mails.ts',
  'check/check.ts',
  'check/file.ts',
  'check/hosts.ts',
  'completeness.ts',
]

// Tests that are fed with what a slice to the right makes.
const testExceptions: Record<string, string[]> = {
  // Calls of a workspace come with a session, whose type stands where calls are served.
  'apps/server/platform/testing.ts': ['http'],
  // An upgrade is judged by what people find after it.
  'apps/server/platform/schema/upgrade.test.ts': ['accounts', 'documents'],
  // A plan has room for a number of documents a month, which are counted as they arrive.
  'apps/server/plans/plans.test.ts': ['documents'],
  // What changes are documents that arrive, and that are read again.
  'apps/server/changes/changes.test.ts': ['documents'],
  'apps/server/webhooks/webhooks.test.ts': ['documents'],
  // A certificate of a test is made where events are signed with one.
  'apps/server/signer/signer.test.ts': ['manifestation'],
  // A form is printed from a document as it arrives.
  'apps/server/print/printer.test.ts': ['documents'],
  // The panel tells what manifestações left behind.
  'apps/server/documents/panel/details.test.ts': ['manifestation'],
}

// The database of the tests is made by the product's own migrations, without loading the rest of the server: see
// docs/decisions/0001-floors-and-no-build.md.
const testDatabase = {
  files: ['tests/support/postgres.ts', 'tests/support/servers/cluster.ts'],
  mayImport: ['apps/server/platform/schema/migrate.ts', 'apps/server/platform/database.ts'],
}

const browserFolders = ['packages/dfe', 'packages/contract', 'apps/web']
// The part of a package that the browser needs, where another part needs Node.
const browserFiles: Record<string, string[]> = {
  'packages/xml': ['parse.ts', 'rules.ts', 'write.ts', 'canonicalize.ts'],
}
/** One sentence for each import or export that breaks the rules: which, and what to do. */
export function checkImports(files: readonly SourceFile[], workspaces: readonly NpmPackage[]): string[] {
  const repository = new Repository(workspaces)
  return [
    ...files.flatMap((file) => [
      ...checkShape(file),
      ...importsOf(file.text).flatMap((found) =>
        [checkImport(repository, file, found)].flat().map((problem) => `${file.path}: ${found.specifier}: ${problem}`),
      ),
    ]),
    ...checkCircles(files),
  ].sort()
}

// Packages cannot import in a circle, because the allowedImports have an order: only the files of one workspace can.
function checkCircles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map(({ path: file, text }) => [
      file,
      importsOf(text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => path.posix.join(path.posix.dirname(file), specifier)),
    ]),
  )
  const problems: string[] = []
  const finished = new Set<string>()
  const visit = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file)
    if (start !== -1) {
      const circle = [...way.slice(start), file].join(' → ')
      problems.push(`${file}: these files import one another: ${circle}: move what they share to a file of its own`)
      return
    }
    if (finished.has(file)) return
    for (const target of targets.get(file) ?? []) visit(target, [...way, file])
    finished.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return problems
}

class Repository {
  private readonly byFolder: Map<string, NpmPackage>
  private readonly byName: Map<string, NpmPackage>

  constructor(workspaces: readonly NpmPackage[]) {
    this.byFolder = new Map(workspaces.map((workspace) => [workspace.folder, workspace]))
    this.byName = new Map(workspaces.map((workspace) => [workspace.name, workspace]))
  }

  named(name: string): NpmPackage | undefined {
    return this.byName.get(name)
  }

  owner(file: string): NpmPackage | undefined {
    return this.byFolder.get(file.split('/').slice(0, 2).join('/')) ?? this.byFolder.get('')
  }

  declares(file: string, dependency: string): boolean {
    const own = this.owner(file)?.dependencies.includes(dependency) === true
    // Test tools are declared once, at the root.
    return own || (isTest(file) && this.byFolder.get('')?.dependencies.includes(dependency) === true)
  }
}

function checkImport(repository: Repository, file: SourceFile, { specifier, typeOnly }: Import): string | string[] {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file.path), specifier.replace(/\?.*$/, ''))
    return checkRelative(file.path, target, typeOnly)
  }
  if (specifier.startsWith('node:')) return checkNode(file.path)
  if (builtinModules.includes(specifier)) return `write node:${specifier}`
  const [scope = '', rest = '', ...deeper] = specifier.split('/')
  const name = scope.startsWith('@') ? `${scope}/${rest}` : scope
  const target = repository.named(name)
  if (target) return checkPackage(repository, file.path, target, `./${deeper.join('/')}`)
  if (repository.declares(file.path, name)) return []
  return `add ${name} to the dependencies of ${repository.owner(file.path)?.folder || 'the root'}/package.json`
}

function checkNode(file: string): string | string[] {
  if (!inBrowser(file)) return []
  return `${browserFiles[home(file)] ? file : home(file)} runs in the browser: do this without Node, or move it to where Node runs`
}

function inBrowser(file: string): boolean {
  if (isTest(file) || isConfig(file) || file.startsWith('apps/web/build/')) return false
  const folder = home(file)
  return browserFolders.includes(folder) || browserFiles[folder]?.includes(file.slice(folder.length + 1)) === true
}

function checkPackage(repository: Repository, file: string, target: NpmPackage, entry: string): string | string[] {
  const from = home(file)
  const short = path.posix.basename(target.folder)
  if (from === target.folder) return 'inside a package import by relative path'
  if (toolFolders.includes(from)) {
    if (target.folder.startsWith('apps/') && entry !== './start')
      return `from outside an app import only ${target.name}/start`
  } else {
    if (target.folder.startsWith('apps/')) return 'an app is imported by tests, bench and scripts only'
    if (!allowedImports[from]?.includes(short)) return outsideAllowed(from, short)
    if (!repository.declares(file, target.name)) return `add ${target.name} to the dependencies of ${from}/package.json`
  }
  const door = target.exports[entry]
  if (door) return checkBrowserDoor(file, path.posix.join(target.folder, door))
  const entries = Object.keys(target.exports).join(', ') || 'nothing'
  return `${target.name} exports ${entries}: use one of these, or add an entry to its exports map`
}

function checkBrowserDoor(file: string, door: string): string | string[] {
  const needsNode = browserFiles[home(door)] && !inBrowser(door)
  return inBrowser(file) && needsNode ? `${door} needs Node, and ${file} runs in the browser` : []
}

function outsideAllowed(from: string, short: string): string {
  const allowed = allowedImports[from]
  if (!allowed)
    return `${from || 'this file'} is not in allowedImports: add it to scripts/check-imports.ts with a decision record`
  const list = allowed.length > 0 ? `only ${allowed.join(', ')}` : 'nothing of ours'
  return `${from} may import ${list}, not ${short}: move the code, or write a decision record for the new edge`
}

function checkRelative(file: string, target: string, typeOnly: boolean): string | string[] {
  const [from, to] = [home(file), home(target)]
  if (isTestSupport(target) && !isTest(file)) return 'what supports the tests is imported by tests only'
  if (from !== to) {
    if (toolFolders.includes(from) && toolFolders.includes(to)) return []
    if (isTest(file) && (target.startsWith('tests/support/') || target === 'bench/measure.ts')) return []
    if (testDatabase.files.includes(file) && testDatabase.mayImport.includes(target)) return []
    return 'leave a workspace only by package name (@vigia/…)'
  }
  if (from === 'apps/server') return checkSlice(file, target, typeOnly)
  if (from === 'apps/web') return checkWeb(file, target)
  return checkBrowserDoor(file, target)
}

function checkSlice(file: string, target: string, typeOnly: boolean): string | string[] {
  const [, , from = ''] = file.split('/')
  const [, , to = '', ...rest] = target.split('/')
  const part = rest.join('/')
  if (from === to) return []
  if (isTest(file)) return checkTestOfSlice(file, from, to)
  if (from === 'main.ts') return []
  if (to === 'config.ts')
    return typeOnly || from === 'start.ts' ? [] : 'the configuration comes in the context: import only its types'
  if (to === 'start.ts' || to === 'main.ts') return `${to} stands above everything: take what you need as an argument`
  const [own, other] = [slices.indexOf(from), slices.indexOf(to)]
  if (other < 0) return `${to} is not a slice: add it to the line in scripts/check-imports.ts and in docs`
  if (from === 'config.ts') return foundation.includes(to) ? [] : `config.ts imports only ${foundation.join(', ')}`
  // The context carries the types of things that slices further right make.
  if (file === 'apps/server/platform/context.ts' && typeOnly) return []
  const frontDoor = part === `${to}.ts` || foundation.includes(to)
  if (from === 'start.ts')
    return frontDoor || partsForStart.includes(part)
      ? []
      : `start.ts takes ${to}/${to}.ts or ${partsForStart.join(', ')}`
  if (own < 0) return `${from} is not a slice: add it to the line in scripts/check-imports.ts and in docs`
  if (other > own)
    return `slices import leftwards only, and ${to} stands to the right of ${from}: move the code to ${to}`
  return frontDoor ? [] : `use the front door ${to}/${to}.ts`
}

// A test may look into its own slice and those to the left of it; who needs the whole server starts it.
function checkTestOfSlice(file: string, from: string, to: string): string | string[] {
  const isSlice = slices.includes(from) && slices.includes(to)
  if (!isSlice || slices.indexOf(to) < slices.indexOf(from) || isBench(file)) return []
  if (testExceptions[file]?.includes(to)) return []
  return `a test of ${from} imports its own slice and those to the left, and ${to} stands to the right: move the test to ${to}`
}

function checkWeb(file: string, target: string): string | string[] {
  const layer = (name: string) => {
    const [, , folder = '', rest] = name.split('/')
    if (rest === undefined) return 'router'
    return ['build', 'ui', 'lib', 'shell'].includes(folder) ? folder : 'slice'
  }
  const [from, to] = [layer(file), layer(target)]
  if (to === 'build' && from !== 'build')
    return isConfig(file) ? [] : 'build/ makes the site: only vite.config.ts imports it'
  if (from === 'router' || (to === 'lib' && from !== 'build') || /\.(css|svg|png|woff2)$/.test(target)) return []
  if (from === to && (from !== 'slice' || file.split('/')[2] === target.split('/')[2])) return []
  if (from === 'slice' && to === 'slice') return 'a slice never imports a slice: move what both need to ui or lib'
  if (to === 'router') return 'only the entry page imports the router: pass what you need as a property'
  if (from === 'build') return 'build/ makes the site and is no part of it: let Vite load what it needs'
  if (to === 'ui' && from !== 'lib') return []
  return `${from} may import ${from === 'lib' || from === 'ui' ? 'lib' : 'ui and lib'}, not ${to}`
}

const mayReadEnvironment =
  /^(scripts|tests|bench)\/|^apps\/(server|simulator)\/main\.ts$|\.config\.ts$|\.(test|bench)\.tsx?$/

function checkShape({ path: file, text }: SourceFile): string[] {
  const problems: string[] = []
  if (/(^|\/)index\.tsx?$/.test(file)) problems.push('no barrels: name the file after what it holds')
  else if (/^export \* from/m.test(text) || onlyReExports(text))
    problems.push('no barrels: import from the file that defines the name')
  if (/^export default\b/m.test(text) && !isConfig(file)) problems.push('named exports only')
  if (/\bprocess\.env\b/.test(text) && !mayReadEnvironment.test(file))
    problems.push('only the main program reads the environment: take the value from the configuration')
  return problems.map((problem) => `${file}: ${problem}`)
}

function onlyReExports(text: string): boolean {
  const rest = withoutComments(text).replace(/^export (type )?\{[^}]*\} from '[^']*'$/gm, '')
  return rest.trim() === '' && /^export /m.test(text)
}

// The formatter guarantees the shape: statements at the start of a line, single quotes.
const statement = /^(?:import|export)\b(\s+type\b)?(?:[^'"`;()]*?\bfrom\s+|\s+)'([^'\n]+)'/gm
const call = /(typeof\s+)?\bimport\(\s*'([^'\n]+)'/g

/** What a source file imports. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text)
  return [...code.matchAll(statement), ...code.matchAll(call)].map(([, type, specifier = '']) => ({
    specifier,
    typeOnly: type !== undefined,
  }))
}

function withoutComments(text: string): string {
  return text.replace(/^\s*\/\/.*$/gm, '').replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
}

function home(file: string): string {
  const [top = '', second = '', ...rest] = file.split('/')
  if (top === 'apps' || top === 'packages') return `${top}/${second}`
  return second || rest.length > 0 ? top : ''
}

function isTest(file: string): boolean {
  return /\.(test|bench)\.tsx?$/.test(file) || isTestSupport(file)
}

function isBench(file: string): boolean {
  return /\.bench\.ts$/.test(file)
}

function isTestSupport(file: string): boolean {
  return /^(apps|packages)\/.*([/.]testing\.tsx?|\/support\/.+\.tsx?)$/.test(file)
}

function isConfig(file: string): boolean {
  return /\.config\.ts$/.test(file)
}

/** The sources and workspaces of the repository at `root`. */
export async function readRepository(root: string): Promise<{ files: SourceFile[]; workspaces: NpmPackage[] }> {
  const exclude = (name: string) => /(^|\/)(node_modules|dist)$/.test(name)
  const files: SourceFile[] = []
  const sources = ['*.ts', '{apps,packages,tests,bench,scripts}/**/*.{ts,tsx,css}']
  for await (const file of glob(sources, { cwd: root, exclude }))
    files.push({ path: file.split(path.sep).join('/'), text: await readFile(path.join(root, file), 'utf8') })

  const workspaces: NpmPackage[] = []
  for await (const file of glob(['package.json', '{apps,packages}/*/package.json'], { cwd: root, exclude })) {
    const manifest: {
      name: string
      exports?: Record<string, string>
      dependencies?: Record<string, string>
      devDependencies?: Record<string, string>
    } = JSON.parse(await readFile(path.join(root, file), 'utf8'))
    const folder = path.dirname(file).split(path.sep).join('/')
    workspaces.push({
      folder: folder === '.' ? '' : folder,
      name: manifest.name,
      exports: manifest.exports ?? {},
      dependencies: Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }),
    })
  }
  return { files, workspaces }
}

if (import.meta.main) {
  const { files, workspaces } = await readRepository(fileURLToPath(new URL('..', import.meta.url)))
  const problems = checkImports(files, workspaces)
  for (const problem of problems) console.error(problem)
  console.log(`${files.length} files, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
