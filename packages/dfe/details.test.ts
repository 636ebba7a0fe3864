import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../tests/support/samples.ts'
import { runs } from '../../tests/support/seed.ts'
import { type CteDetails, contentsOf, type Fields, type NfeDetails, readDetails } from './read.ts'

const details = (xml: string) => readDetails(new TextEncoder().encode(xml))
function nfe(xml: string): NfeDetails {
  const said = details(xml)
  if (said?.type !== 'nfe') throw new Error('no NF-e')
  return said
}
function cte(xml: string): CteDetails {
  const said = details(xml)
  if (said?.type !== 'cte') throw new Error('no CT-e')
  return said
}

const folder = findSamples()
const samples = folder
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.xml'))
      .map((file) => ({ file, bytes: readFileSync(join(folder, file)) }))
  : []

// A path of local names by XPath over a tree of libxml2.
const step = (name: string) => `*[local-name()='${name}']`
function find(document: XmlDocument, path: string): string[] {
  const steps = path.replace(/([A-Za-z][A-Za-z0-9]*)/g, (name) => step(name))
  return document.find(`//${steps}`).map((node) => ('content' in node ? node.content.trim() : ''))
}
function leaves(document: XmlDocument, path: string): Fields {
  const steps = path.split('/').map(step).join('/')
  return Object.fromEntries(
    document
      .find(`(//${steps})[1]/*[not(*)]`)
      .flatMap((node) => ('content' in node && node.content.trim() ? [[localName(node), node.content.trim()]] : [])),
  )
}
const localName = (node: object) => ('name' in node ? String(node.name).replace(/^.*:/, '') : '')

describe.runIf(samples.length > 0)('every sample', () => {
  test('is read without an error, and what is no document says nothing', () => {
    const said = samples.map(({ file, bytes }) => [file, readDetails(bytes)?.type ?? null] as const)
    for (const [file, type] of said) {
      const place = file.split('/')[0]!
      const expected = { nfe: 'nfe', cte: 'cte', eventos: null, distribuicao: null }[place]
      if (expected !== undefined) expect(type, file).toBe(expected)
      if (file.startsWith('resumos/resNFe')) expect(type, file).toBe('nfe')
    }
    expect(said).toHaveLength(samples.length)
  })

  test.each(samples.filter(({ file }) => /^(nfe|invalidos\/nfe)/.test(file)))('$file, against XPath', ({ bytes }) => {
    const said = readDetails(bytes)
    if (said?.type !== 'nfe') throw new Error('no NF-e')
    using document = XmlDocument.fromBuffer(bytes)
    expect(said.ICMSTot).toEqual(leaves(document, 'total/ICMSTot'))
    expect(said.ISSQNtot).toEqual(leaves(document, 'total/ISSQNtot'))
    expect(said.IBSCBSTot.vIBS).toBe(find(document, 'IBSCBSTot/gIBS/vIBS')[0])
    expect(said.IBSCBSTot.vCBS).toBe(find(document, 'IBSCBSTot/gCBS/vCBS')[0])
    expect(said.IBSCBSTot.vIS).toBe(find(document, 'ISTot/vIS')[0])
    expect(said.IBSCBSTot.vNFTot).toBe(find(document, 'total/vNFTot')[0])
    expect(said.ide).toEqual(leaves(document, 'infNFe/ide'))
    expect(said.emit).toEqual({ ...leaves(document, 'emit/enderEmit'), ...leaves(document, 'infNFe/emit') })
    expect(said.dest).toEqual({ ...leaves(document, 'dest/enderDest'), ...leaves(document, 'infNFe/dest') })
    expect(said.det.map(({ prod }) => prod.vProd)).toEqual(find(document, 'det/prod/vProd'))
    expect(said.det.map(({ prod }) => prod.xProd)).toEqual(find(document, 'det/prod/xProd'))
    expect(said.dup.map(({ vDup }) => vDup)).toEqual(find(document, 'cobr/dup/vDup'))
    expect(said.detPag.map(({ tPag }) => tPag)).toEqual(find(document, 'tPag'))
    const named = [...find(document, 'NFref/refNFe'), ...find(document, 'NFref/refCTe')]
    expect(said.references.map(({ chave }) => chave)).toEqual(expect.arrayContaining(named))
    expect(said.infProt).toEqual(leaves(document, 'protNFe/infProt'))
  })

  test.each(samples.filter(({ file }) => file.startsWith('cte')))('$file, against XPath', ({ bytes }) => {
    const said = readDetails(bytes)
    if (said?.type !== 'cte') throw new Error('no CT-e')
    using document = XmlDocument.fromBuffer(bytes)
    expect(said.vPrest.vTPrest).toBe(find(document, 'infCte/vPrest/vTPrest|//infCte/total/vTPrest')[0])
    expect(said.Comp.map(({ vComp }) => vComp)).toEqual(find(document, 'infCte/vPrest/Comp/vComp'))
    expect(said.infCarga).toEqual(leaves(document, 'infCarga'))
    expect(said.infQ.map(({ qCarga }) => qCarga)).toEqual(find(document, 'infQ/qCarga'))
    expect(said.parties.filter(({ pays }) => pays)).toHaveLength(1)
    const names = ['emit', 'rem', 'exped', 'receb', 'dest', 'toma', 'toma4'].flatMap((group) =>
      find(document, `${group}/xNome`).slice(0, 1),
    )
    expect(said.parties.flatMap(({ fields }) => fields.xNome ?? []).sort()).toEqual(names.sort())
    const carried = find(document, 'infDoc/infNFe/chave|//det/infNFe/chNFe').filter((chave) => !/^(.)\1+$/.test(chave))
    expect(said.references.map(({ chave }) => chave)).toEqual(expect.arrayContaining(carried))
    expect(said.dup.map(({ vDup }) => vDup)).toEqual(find(document, 'cobr/dup/vDup'))
  })
})

describe('an NF-e', () => {
  const note = (inside: string) => `<nfeProc><NFe><infNFe Id="NFe1">${inside}</infNFe></NFe></nfeProc>`

  test('leaves out what it does not say', () => {
    const said = nfe(note('<ide><natOp> Venda </natOp><NFref/><verProc></verProc></ide><emit><CNPJ/></emit>'))
    expect(said.ide).toEqual({ natOp: 'Venda' })
    expect([said.emit, said.dest, said.ICMSTot, said.det, said.references]).toEqual([{}, {}, {}, [], []])
  })

  test('names documents wherever its layout puts them, each once', () => {
    const [one, other] = [`35${'1'.repeat(41)}0`, `3511111AB${'1'.repeat(35)}`]
    const said = nfe(
      note(
        `<ide><NFref><refNFe>${one}</refNFe></NFref><NFref><refCTe>${other}</refCTe></NFref></ide><det><DFeReferenciado><chaveAcesso>${one}</chaveAcesso></DFeReferenciado></det><novo><chave>${'9'.repeat(44)}</chave></novo>`,
      ),
    )
    expect(said.references).toEqual([
      { by: 'NFref/refNFe', chave: one },
      { by: 'NFref/refCTe', chave: other },
    ])
  })

  test('has the taxes of an item by the group of its situation, whatever its name', () => {
    const said = nfe(
      note(
        '<det nItem="7"><prod><xProd>LÁPIS</xProd></prod><imposto><ICMS><ICMSSN999><CSOSN>999</CSOSN></ICMSSN999></ICMS><IBSCBS><CST>000</CST><gIBSCBS><vIBS>1.00</vIBS><gCBS><vCBS>2.00</vCBS></gCBS></gIBSCBS></IBSCBS></imposto></det>',
      ),
    )
    expect(said.det).toMatchObject([
      {
        nItem: '7',
        prod: { xProd: 'LÁPIS' },
        infAdProd: undefined,
        ICMS: { CSOSN: '999' },
        IPI: {},
        IBSCBS: { CST: '000', vIBS: '1.00', vCBS: '2.00' },
      },
    ])
  })

  test('names that every object has are nothing special', () => {
    const said = nfe(note('<ide><constructor>x</constructor><__proto__>y</__proto__></ide>'))
    expect(Object.entries(said.ide)).toEqual([
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ])
  })

  test('a summary has the same names without groups', () => {
    const said = nfe(
      '<resNFe><chNFe>1</chNFe><CNPJ>12ABC34501DE35</CNPJ><xNome>SOL</xNome><vNF>9.90</vNF><nProt>1</nProt></resNFe>',
    )
    expect(said).toMatchObject({ emit: { CNPJ: '12ABC34501DE35', xNome: 'SOL' }, ICMSTot: { vNF: '9.90' }, det: [] })
  })
})

describe('a CT-e', () => {
  const proc = (root: string, inside: string) =>
    `<${root.replace('CT', 'ct')}Proc><${root}><infCte>${inside}</infCte></${root}></${root.replace('CT', 'ct')}Proc>`
  const payer = (said: CteDetails) => said.parties.filter(({ pays }) => pays).map(({ group }) => group)
  const parties = ['emit', 'rem', 'exped', 'receb', 'dest']
    .map((name) => `<${name}><xNome>${name}</xNome></${name}>`)
    .join('')

  test.each([
    ['CTe', '<ide><toma3><toma>1</toma></toma3></ide>', 'exped'],
    ['CTe', '<ide><toma03><toma>3</toma></toma03></ide>', 'dest'],
    ['CTe', '<ide><toma4><toma>4</toma><xNome>X</xNome></toma4></ide>', 'toma'],
    ['CTeOS', '<toma><xNome>X</xNome></toma>', 'toma'],
    ['GTVe', '<ide><toma><toma>1</toma></toma></ide>', 'dest'],
  ])('%s %s: who pays is %s', (root, ide, group) => {
    expect(payer(cte(proc(root, ide + parties)))).toEqual([group])
  })

  test('without a tomador no party pays', () => {
    expect(payer(cte(proc('CTe', parties)))).toEqual([])
  })

  test('tells when it is to be delivered, however it says so', () => {
    const said = (entrega: string, more = '') =>
      cte(proc('CTe', `<compl><Entrega>${entrega}</Entrega></compl>${more}`)).Entrega
    expect(said('<comData><tpPer>1</tpPer><dProg>2026-11-20</dProg></comData>')).toEqual({
      tpPer: '1',
      dProg: '2026-11-20',
    })
    const rodo = '<infCTeNorm><infModal><rodo><dPrev>2026-11-21</dPrev></rodo></infModal></infCTeNorm>'
    expect(said('', rodo)).toEqual({ dPrev: '2026-11-21' })
  })
})

test.each([
  '',
  '<',
  'not xml',
  '<a/>',
  '<procEventoNFe/>',
  '<nfeProc/>',
  '<cteProc><CTe/></cteProc>',
  '<NFe><b/></NFe>',
])('what is no document says nothing: %s', (xml) => {
  expect(details(xml)).toBeNull()
})

// Names of the layouts in any order and depth.
const names =
  'ide emit dest enderEmit det prod imposto ICMS IPI IBSCBS gIBSCBS gIBSUF gRed IS vBC rastro total ICMSTot cobr fat dup transp vol pag detPag tPag toma toma3 toma4 rem exped infCTeNorm infCarga infQ vPrest Comp compl Entrega ObsCont NFref refNFe chave vNF xNome CNPJ detGTV infEspecie __proto__ toString'.split(
    ' ',
  )
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom('', ' ', '1.00', 'x', '2026-02-30', '9'.repeat(44), `35${'1'.repeat(42)}`),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie('tree')), { maxLength: 5 })
      .map((inside) => inside.map(([name, xml]) => `<${name}>${xml}</${name}>`).join('')),
  ),
}))

test('no content makes reading throw', () => {
  fc.assert(
    fc.property(tree, fc.constantFrom('NFe', 'CTe', 'CTeOS', 'CTeSimp', 'GTVe', 'resNFe'), (inside, root) => {
      const group = root === 'NFe' ? 'infNFe' : 'infCte'
      const xml = root === 'resNFe' ? `<resNFe>${inside}</resNFe>` : `<${root}><${group}>${inside}</${group}></${root}>`
      const said = details(xml)
      expect(said).toMatchObject({ root })
      expect(contentsOf(said!) === null).toBe(root === 'resNFe')
    }),
    { numRuns: runs(500) },
  )
})
