import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { goldenFolder, goldenForms } from './golden.ts'

// Keeps the forms as they are printed now. Run by hand after a look at the new ones, which a failing test leaves in test-results.
await mkdir(goldenFolder, { recursive: true })
for (const file of await readdir(goldenFolder)) {
  if (!(file.replace(/\.pdf$/, '') in goldenForms)) await rm(new URL(file, goldenFolder))
}
for (const [name, print] of Object.entries(goldenForms)) {
  await writeFile(new URL(`${name}.pdf`, goldenFolder), print())
}
