import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A number that is worth a place in docs/numbers.md. */
export interface Line {
  what: string
  number: string
  against: string
  goal: string
}

const file = fileURLToPath(new URL('../docs/numbers.md', import.meta.url))
const head = `# Numbers

\`npm run bench\` writes this table; \`npm run bench -- read ingest\` measures those programs only and leaves the other lines alone. Speeds belong to
the machine that stands in the last column, so read what they are compared with. Each program measures its own work and the other in turn, after a
round that is not counted, and takes medians. Git keeps older numbers.

| Program | What | Number | Against | Goal | Measured |
|---|---|---|---|---|---|
`

/** Replaces the lines of these programs in docs/numbers.md; `measured` says when and on which machine. */
export function writeNumbers(programs: ReadonlyMap<string, readonly Line[]>, measured: string): void {
  const rows = new Map<string, string[]>()
  for (const [, row = '', program = ''] of existing().matchAll(/^(\| (\w+) \|.*)$/gm))
    if (program !== 'Program' && !programs.has(program)) rows.set(program, [...(rows.get(program) ?? []), row])
  for (const [program, lines] of programs)
    rows.set(
      program,
      lines.map(
        ({ what, number, against, goal }) => `| ${[program, what, number, against, goal, measured].join(' | ')} |`,
      ),
    )
  const sorted = [...rows].sort(([one], [other]) => one.localeCompare(other))
  writeFileSync(file, `${head}${sorted.flatMap(([, own]) => own).join('\n')}\n`)
}

function existing(): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
