import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alertFacts, apart } from '@vigia/alerts/facts'
import { readDetails, readReceived } from '@vigia/dfe/read'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { start } from '@vigia/simulator/start'
import { askForAll, weeksAgo } from '../tests/support/authority.ts'

// Makes a dictionary for received bytes (decision 0062), or for what alerts know of documents, from generated documents alone:
// `node scripts/train-dictionary.ts FILE [facts]`. It needs the program zstd. Each run gives another file: one that documents were packed with is never made anew, a new one gets the next number.

const seeds = 10
const dictionaryBytes = 16 * 1024
const [file, kind] = process.argv.slice(2)
if (!file) throw new Error('Say where to write the dictionary.')
const companies = [
  { cnpj: '44555666000181', nome: 'EMPRESA DESTINATARIA LTDA', uf: 'SC' },
  { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFANUMERICA LTDA', uf: 'SP' },
]

function factsText(xml: Buffer, { cnpj, nome, uf }: (typeof companies)[number]): string | null {
  const { facts } = readReceived(xml)
  if (facts.kind !== 'document') return null
  const establishments = [{ taxId: cnpj, names: [nome], ies: [], uf, since: new Date().toISOString() }]
  const company = { base: cnpj.slice(0, 8), tpAmb: '1' as const, establishments, captures: { nfe: true, cte: true } }
  return apart(alertFacts(facts, readDetails(xml), [], { company, marks: [], proof: 'proved' }))
}

const directory = await mkdtemp(join(tmpdir(), 'vigia-dictionary-'))
try {
  const samples: string[] = []
  for (let seed = 1; seed <= seeds; seed++) {
    const options = { port: 0, directory: join(directory, String(seed)), seed, since: weeksAgo(), companies }
    await using simulator = await start(options)
    for (const company of companies)
      for (const { content } of await askForAll(simulator, company)) {
        // As it is packed: without the certificate of the signer.
        const xml = unzipDocument(content)
          .toString()
          .replace(/(<X509Certificate>)[^<]+/, '$1')
        const text = kind === 'facts' ? factsText(unzipDocument(content), company) : xml
        if (text === null) continue
        const sample = join(directory, `${samples.length}.sample`)
        await writeFile(sample, text)
        samples.push(sample)
      }
  }
  const { status, stderr } = spawnSync(
    'zstd',
    ['-q', '--train-fastcover=accel=1', ...samples, `--maxdict=${dictionaryBytes}`, '-o', file],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`zstd made no dictionary: ${stderr}`)
} finally {
  await rm(directory, { recursive: true, force: true })
}
