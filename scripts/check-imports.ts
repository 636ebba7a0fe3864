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

// Allowed imports of each package. A new edge comes with a decision record in docs/decisions.
const allowedImports: Record<string, string[]> = {
  'packages/xml': [],
  'packages/signalr': [],
  'packages/embedded-postgres': [],
  'packages/dfe': ['xml'],
  'packages/checks': ['dfe'],
  'packages/contract': ['dfe'],
  'packages/print': ['dfe'],
  'packages/sefaz': ['dfe', 'xml'],
  'apps/web': ['contract', 'dfe'],
  'apps/server': ['checks', 'contract', 'dfe', 'sefaz', 'print', 'signalr', 'embedded-postgres'],
  'apps/simulator': ['dfe', 'xml'],
}
const toolFolders = ['tests', 'bench', 'scripts']

// The floors of apps/server, from below. Imports and table names in SQL go downwards only.
const floors = [
  'platform',
  'accounts',
  'companies',
  'sefaz',
  'documents',
  'capture',
  'events',
  'insights',
  'notifications',
  'operations',
]
// The tables that each floor writes.
const tablesOfFloors: Record<string, string> = {
  platform: 'installation trouble storage_probe mail job happening throttle',
  accounts: `workspace workspace_directory account account_directory account_company membership session
    token_directory mail_link second_factor recovery_code passkey invitation api_key audit notice
    contact_message calendar_feed`,
  companies:
    'company company_family company_logo workspace_key certificate certificate_use certificate_batch certificate_file',
  sefaz: 'circuit clock_skew capture_call',
  documents: `receipt issuer_certificate supplier document document_event count_month document_export export_part saved_view
    first_view document_remark document_reliance change_position document_change document_facts
    document_cite content_sum document_words product product_sum installment
    freight_finding`,
  capture: 'capture_line capture_subscription capture_refusal capture_gap',
  events: 'outgoing_event manifestation_text answer_rule answer_setting',
  insights: `alert alert_verdict alert_known alert_setting alert_news alert_test partner partner_contact company_month
    freight_mark`,
  notifications: `announcement announcement_position announcement_reading webhook webhook_delivery letter_choice
    monthly_report`,
  operations: 'erasure installation_key',
}
// The files that put the floors together.
const rootFiles = ['start.ts', 'open.ts', 'api.ts', 'worker.ts', 'slices.ts']

const floorOfTable = new Map(
  Object.entries(tablesOfFloors).flatMap(([floor, tables]) => tables.split(/\s+/).map((table) => [table, floor])),
)

// Tests that are fed with what a floor above makes.
const testExceptions: Record<string, string[]> = {
  'apps/server/platform/signer/testing.ts': ['operations'],
}

// The database of the tests is made by the product's own migrations, without loading the rest of the server: see
// docs/decisions/0001-floors-and-no-build.md.
const testDatabase = {
  files: ['tests/support/postgres.ts', 'tests/support/servers/cluster.ts'],
  mayImport: ['apps/server/platform/schema/migrate.ts', 'apps/server/platform/database.ts'],
}

const browserFolders = ['packages/dfe', 'packages/contract', 'apps/web']
const nodeFiles = ['packages/dfe/proof.ts']
// The part of a package that the browser needs, where another part needs Node.
const browserFiles: Record<string, string[]> = {
  'packages/xml': ['parse.ts', 'rules.ts', 'write.ts', 'canonicalize.ts'],
}

// Decisions between families belong to packages/dfe/families. These files may name one, or have another `type` or `status`.
const familiesNamed: Record<string, string> = {
  'apps/server/capture/sources.ts': 'the distribution of each family, as packages/sefaz calls it',
  'apps/web/account/plan-request.tsx': 'the type of a plan',
}
const decidesFamily =
  /['"`](?:nfe|cte)['"`]|\b(?:type|tipoDFe|TipoDFe|service|family)\b\s+(?:[!=]==?|=|<>|(?:not )?in \()\s*\d\b|\b(?:base_)?status\b\s+(?:[!=]==?|=|<>|(?:not )?in \()\s*[1-9]\d?\b/g

/** One sentence for each import or export that breaks the rules: which, and what to do. */
export function checkImports(files: readonly SourceFile[], workspaces: readonly NpmPackage[]): string[] {
  const repository = new Repository(workspaces)
  return [
    ...files.flatMap((file) => [
      ...checkShape(file),
      ...checkTables(file),
      ...checkFamilies(file),
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
  if (nodeFiles.includes(file)) return false
  return browserFolders.includes(folder) || browserFiles[folder]?.includes(file.slice(folder.length + 1)) === true
}

function checkPackage(repository: Repository, file: string, target: NpmPackage, entry: string): string | string[] {
  const from = home(file)
  const short = path.posix.basename(target.folder)
  if (from === target.folder) return 'inside a package import by relative path'
  if (toolFolders.includes(from)) {
    if (target.folder.startsWith('apps/') && entry !== './start' && (from !== 'scripts' || isTest(file)))
      return `from outside an app import only ${target.name}/start`
  } else {
    if (target.folder.startsWith('apps/')) return 'an app is imported by tests, bench and scripts only'
    if (!allowedImports[from]?.includes(short)) return outsideAllowed(from, short)
    if (!repository.declares(file, target.name)) return `add ${target.name} to the dependencies of ${from}/package.json`
  }
  const door = target.exports[entry] ?? target.exports['./*']?.replace('*', entry.slice(2))
  if (door) return checkBrowserDoor(file, path.posix.join(target.folder, door))
  const entries = Object.keys(target.exports).join(', ') || 'nothing'
  return `${target.name} exports ${entries}: use one of these, or add an entry to its exports map`
}

function checkBrowserDoor(file: string, door: string): string | string[] {
  const needsNode = (browserFiles[home(door)] || nodeFiles.includes(door)) && !inBrowser(door)
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
  if (from === 'apps/server') return checkFloor(file, target, typeOnly)
  if (from === 'apps/web') return checkWeb(file, target)
  return checkBrowserDoor(file, target)
}

function checkFloor(file: string, target: string, typeOnly: boolean): string | string[] {
  const [, , from = ''] = file.split('/')
  const [, , to = ''] = target.split('/')
  if (from === to || from === 'main.ts' || to === 'slice.ts' || isBench(file)) return []
  if (to === 'config.ts')
    return typeOnly || rootFiles.includes(from) || isTest(file)
      ? []
      : 'the configuration comes in the context: import only its types'
  if (rootFiles.includes(to) || to === 'main.ts')
    return isTest(file) || rootFiles.includes(from)
      ? []
      : `${to} stands above everything: take what you need as an argument`
  // The context carries the types of things that floors above make.
  if (file === 'apps/server/platform/context.ts' && typeOnly) return []
  if (!floors.includes(to)) return `${to} is not a floor: see docs/architecture.md`
  if (rootFiles.includes(from) || (from === 'slice.ts' && typeOnly)) return []
  if (from === 'config.ts') return to === 'platform' ? [] : 'config.ts imports only platform'
  if (!floors.includes(from)) return isTest(file) ? [] : `${from} is not a floor: see docs/architecture.md`
  if (floors.indexOf(to) < floors.indexOf(from)) return []
  if (isTest(file)) {
    if (testExceptions[file]?.includes(to)) return []
    return `a test of ${from} imports its own floor and those below, and ${to} stands above: move the test to ${to}`
  }
  return `imports go downwards only, and ${to} stands above ${from}: move the code to ${to}`
}

const tableInSql =
  /(?:\b(?:from|join|into|update|using)\s+|\b(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|innerJoin|leftJoin)\(\s*')([a-z_]+)\b/g

/** The tables that the SQL of a source file names. */
export function tablesOf(text: string): string[] {
  return [...new Set([...withoutComments(text).matchAll(tableInSql)].map(([, table = '']) => table))]
}

function checkTables({ path: file, text }: SourceFile): string[] {
  const [app, , floor = ''] = file.split('/')
  const own = floors.indexOf(floor)
  if (app !== 'apps' || own < 0 || isTest(file)) return []
  return tablesOf(text).flatMap((table) => {
    const owner = floorOfTable.get(table)
    if (!owner || floors.indexOf(owner) <= own) return []
    return [
      `${file}: table ${table} belongs to ${owner}, above ${floor}: ask a function of ${owner}, or write a column`,
    ]
  })
}

function checkFamilies({ path: file, text }: SourceFile): string[] {
  const isChecked = /^(apps\/(server|web)|packages\/(contract|checks))\//.test(file) && !isTest(file)
  if (!isChecked || file in familiesNamed) return []
  return [...withoutComments(text).matchAll(decidesFamily)].map(
    ([found]) =>
      `${file}: ${found}: ask the family, or name it (packages/dfe/families), or list the file in familiesNamed`,
  )
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
