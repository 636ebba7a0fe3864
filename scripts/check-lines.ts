import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

// Ceilings, so that the house stays small enough for a stranger. A commit that raises one says why.
const ceilings: Record<string, number> = {
  'lines of server': 40_748,
  'lines of packages': 25_343,
  'lines of scripts': 3_779,
  'lines of web': 32_409,
  'lines of tests and benches': 71_981,
  settings: 37,
  decisions: 53,
}

const root = path.join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))
const isTest = (file: string) =>
  /\.(test|bench)\.tsx?$|(^|[./])testing\.tsx?$|(^|\/)(support|tests|bench)\/|chaos|^scripts\/record\.ts$/.test(file)

function kindOf(file: string): string | null {
  if (/^docs\/decisions\//.test(file)) return 'decisions'
  if (!/\.tsx?$|^scripts\/.*\.js$/.test(file)) return null
  if (isTest(file)) return 'lines of tests and benches'
  const place = /^(?:apps\/)?(server|packages|scripts|web)\//.exec(file)?.[1]
  return place ? `lines of ${place}` : null
}

const counts = Object.fromEntries(Object.keys(ceilings).map((kind) => [kind, 0]))
counts.settings = read('.env.example').match(/^#? ?[A-Z][A-Z_]*=/gm)?.length ?? 0
for (const file of files) {
  const kind = kindOf(file)
  if (kind === 'decisions') counts.decisions! += 1
  else if (kind) {
    const text = read(file)
    if (!text.startsWith('// Generated')) counts[kind]! += text.split('\n').length - 1
  }
}
for (const [kind, ceiling] of Object.entries(ceilings)) {
  const isOver = counts[kind]! > ceiling
  console.log(
    `${kind}: ${counts[kind]} of ${ceiling}${isOver ? ': remove some, or raise the ceiling and say why' : ''}`,
  )
  if (isOver) process.exitCode = 1
}
