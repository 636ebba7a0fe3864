import { expect, test } from 'vitest'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { mergeForms } from './merge.ts'
import { conformanceFaults } from './support/conformance.ts'
import { writeCte } from './support/cte.ts'
import { goldenForms } from './support/golden.ts'
import { writeNfe } from './support/nfe.ts'
import { png } from './support/png.ts'
import { readParts } from './support/spoken.ts'

// A note of one item with this description.
function named(description: string): Uint8Array {
  const xml = Buffer.from(writeNfe({ items: 1 })).toString()
  return Buffer.from(xml.replace(/<xProd>[^<]*/, `<xProd>${description.trim()}`))
}

const forms: [string, () => Uint8Array][] = [
  ...Object.entries(goldenForms),
  ['several sheets', () => danfe(writeNfe({ items: 60, infCpl: 'Resistência de 10 kΩ, 中文. '.repeat(200) }))],
  ['a row taller than a sheet', () => danfe(named('Descrição muito longa do produto. '.repeat(900)))],
  ['documents over several sheets', () => dacte(writeCte({ documents: 120 }))],
  ['every sign of WinAnsi that is no letter of ours', () => danfe(named('€‚ƒ„…†‡ˆ‰Š‹Œ Ž ‘’“”•–—˜™š›œ žŸ'))],
  ['a logo', () => danfe(writeNfe(), { logo: png(200, 100) })],
]

test.each(forms)('%s keeps the clauses of PDF/A-2a and PDF/UA-1 that are checked', (_, print) => {
  expect(conformanceFaults(print())).toEqual([])
})

test('a merged file keeps them too', async () => {
  async function* each() {
    yield { title: 'NF-e 1', pdf: danfe(writeNfe({ items: 60 })) }
    yield { title: 'NF-e 2 · 中文 (9 0 R)', pdf: danfe(writeNfe(), { logo: png(200, 100) }) }
    yield { title: 'CT-e', pdf: dacte(writeCte()) }
  }
  const parts: Uint8Array[] = []
  for await (const part of mergeForms('Notas de março', each())) parts.push(part)
  expect(conformanceFaults(Buffer.concat(parts))).toEqual([])
})

test('a DANFE is read in the order of its sense: what it is, chave, parties, totals, items, texts, and the canhoto last', () => {
  const parts = readParts(danfe(writeNfe({ items: 60, infCpl: 'Pedido 4711.' })))
  const said = parts.map(({ role, text }) => `${role} ${text}`)
  const order = [
    /^H1 DANFE$/,
    /^P Emitente Comércio Ltda Rua das Flores, 100/,
    /^Figure Código de barras da chave de acesso \d{44}$/,
    /^P CHAVE DE ACESSO (\d{4} ?){11}$/,
    /^P PROTOCOLO DE AUTORIZAÇÃO DE USO \d+/,
    /^H2 DESTINATÁRIO \/ REMETENTE$/,
    /^P CNPJ \/ CPF \d\d\.\d{3}/,
    /^H2 CÁLCULO DO IMPOSTO$/,
    /^P VALOR TOTAL DA NOTA [\d.]+,\d\d$/,
    /^H2 TRANSPORTADOR/,
    /^H2 DADOS DOS PRODUTOS/,
    /^TH CÓDIGO$/,
    /^TD P-1$|^TD \S+$/,
    /^H2 DADOS ADICIONAIS$/,
    /^P INFORMAÇÕES COMPLEMENTARES .*Pedido 4711\./,
    /^P RECEBEMOS DE Emitente/,
  ]
  let at = 0
  for (const one of order) {
    const next = said.findIndex((text, i) => i >= at && one.test(text))
    expect([String(one), next]).toEqual([String(one), expect.any(Number)])
    expect(next, String(one)).toBeGreaterThanOrEqual(0)
    at = next + 1
  }
  // Title, headings and the number of the sheet are repeated for the eye alone.
  expect(said.filter((text) => text === 'H1 DANFE')).toHaveLength(1)
  expect(said.filter((text) => text === 'TH CÓDIGO')).toHaveLength(1)
  expect(said.join('\n')).not.toContain('FOLHA')
})

test('a table has columns for a spreadsheet, in one piece over all sheets', () => {
  const rows = readParts(danfe(writeNfe({ items: 60 }))).filter(({ role }) => role === 'TH' || role === 'TD')
  const columns = rows.findIndex(({ role }) => role === 'TD')
  expect(rows.length).toBe(columns * 61)
  const cells = (row: number) => rows.slice(row * columns, (row + 1) * columns).map(({ text }) => text)
  expect(cells(0).slice(0, 3)).toEqual(['CÓDIGO', 'DESCRIÇÃO DO PRODUTO / SERVIÇO', 'NCM/SH'])
  for (const row of [1, 30, 60]) expect(cells(row).every((text) => text !== '')).toBe(true)
})

test('a word that was broken over lines is one word, and words of two lines are two', () => {
  const code = 'ABCDEFGHIJ'.repeat(6)
  const parts = readParts(danfe(named(`Parafuso ${code} zincado com arruela lisa e porca sextavada`)))
  expect(parts.map(({ text }) => text).join('\n')).toContain(
    `Parafuso ${code} zincado com arruela lisa e porca sextavada`,
  )
})
