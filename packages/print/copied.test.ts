import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { child, children, openDocument, value } from '@vigia/dfe/document'
import { expect, test } from 'vitest'
import { danfe } from './danfe.ts'
import { money, quantity } from './formats.ts'
import { writeNfe } from './support/nfe.ts'

// pdfinfo (poppler-utils) reads the table independently of our code; skipped where it is missing.
const hasPdfinfo = spawnSync('pdfinfo', ['-v']).status === 0

test.skipIf(!hasPdfinfo)(
  'another program reads the items of a DANFE over two sheets as rows and columns of one table',
  () => {
    const bytes = writeNfe({ items: 40 })
    const folder = mkdtempSync(path.join(tmpdir(), 'danfe-'))
    const file = path.join(folder, 'danfe.pdf')
    writeFileSync(file, danfe(bytes))
    const { stdout } = spawnSync('pdfinfo', ['-struct-text', file], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    const tables = stdout.split(/^ *Table \(block\)$/m).slice(1)
    expect(tables).toHaveLength(1)
    const [, heading, ...rows] = tables[0]!
      .split(/^ *(?:H\d|P|Sect).*$/m)[0]!
      .split(/^ *TR *$/m)
      .map((row) => [...row.matchAll(/^ *"(.*)" *$/gm)].map(([, text]) => text))
    expect(heading!.slice(0, 5)).toEqual(['CÓDIGO', 'DESCRIÇÃO DO PRODUTO / SERVIÇO', 'NCM/SH', 'O/ CST', 'CFOP'])
    const expected = children(child(openDocument(bytes), 'NFe/infNFe'), 'det').map((det) => {
      const prod = child(det, 'prod')
      const own = (name: string) => value(prod, name)
      return [
        own('cProd'),
        own('xProd'),
        own('NCM'),
        '000',
        own('CFOP'),
        own('uCom'),
        quantity(own('qCom')),
        '10,00',
        money(own('vProd')),
      ]
    })
    expect(rows.map((row) => row.slice(0, 9))).toEqual(expected)
  },
)
