import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type XmlAttribute, XmlDocument, type XmlElement } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../tests/support/samples.ts'
import type { DocumentFacts, EventFacts, Party } from './facts.ts'
import { eventKind } from './families/lookup.ts'
import { readReceived } from './read.ts'

interface Sample {
  file: string
  root: string | null
  modelo: string | null
  chave: string | null
  cStat?: string
}

const folder = findSamples()
const samples: Sample[] = folder ? JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) : []
const bytesOf = (sample: Sample) => readFileSync(join(folder ?? '', sample.file))

const inFolder = (...folders: string[]) => samples.filter(({ file }) => folders.includes(file.split('/')[0] ?? ''))
const factsOf = (sample: Sample) => readReceived(bytesOf(sample))

describe.runIf(samples.length > 0)('every sample, against XPath', () => {
  test.each(
    inFolder('nfe', 'cte', 'invalidos', 'resumos').filter(({ root }) => /^(nfe|NFe|cte|CTe|resNFe)/.test(root ?? '')),
  )('$file', (sample) => {
    const { facts } = factsOf(sample)
    if (facts.kind !== 'document') throw new Error(facts.kind)
    const expected = independent(sample, documentFacts)
    expect(pick({ ...facts, parties: sorted(facts.parties) }, expected)).toEqual(expected)
  })

  test.each(inFolder('eventos', 'resumos').filter(({ root }) => /vento/.test(root ?? '')))('$file', (sample) => {
    const { facts, problems } = factsOf(sample)
    if (facts.kind !== 'event') throw new Error(facts.kind)
    const expected = independent(sample, eventFacts)
    expect(pick(facts, expected)).toEqual(expected)
    expect(problems).toEqual([])
    expect(eventKind(facts.type, facts.tpEvento)).toBeDefined()
  })

  test.each(inFolder('distribuicao'))('$file is no document', (sample) => {
    expect(factsOf(sample).facts).toMatchObject({ kind: 'unknown', root: sample.root })
  })

  test('none that is good has a problem', () => {
    const good = inFolder('nfe', 'cte', 'eventos', 'resumos').filter(({ file }) => !file.includes('nfce-65'))
    expect(good.filter((sample) => factsOf(sample).problems.length > 0).map(({ file }) => file)).toEqual([])
  })

  test('the index agrees on chave, model and cStat', () => {
    for (const sample of inFolder('nfe', 'cte')) {
      expect(factsOf(sample).facts).toMatchObject({ chave: sample.chave, mod: sample.modelo, cStat: sample.cStat })
    }
  })
})

type Find = (path: string) => string | undefined
type FindAll = (path: string) => string[]

// The same facts by XPath over a tree of libxml2: '//emit/CNPJ' stands for any prefix and any place.
function independent<T>(sample: Sample, make: (find: Find, findAll: FindAll, root: string) => T): T {
  const document = XmlDocument.fromBuffer(bytesOf(sample))
  try {
    const findAll = (path: string) =>
      path.split('|').flatMap((one) =>
        document.find(one.replace(/(\/)([A-Za-z0-9]+)/g, "$1*[local-name()='$2']")).flatMap((node) => {
          const text = (node as XmlElement | XmlAttribute).content.trim()
          return text === '' ? [] : [text]
        }),
      )
    return make((path) => findAll(path)[0], findAll, document.root.name)
  } finally {
    document.dispose()
  }
}

function documentFacts(find: Find, findAll: FindAll, root: string): Partial<DocumentFacts> {
  const summary = root === 'resNFe'
  const type = /^(cte|CTe|GTVe)/.test(root) ? 'cte' : 'nfe'
  const tax = (group: string) => find(`/${group}/CNPJ|/${group}/CPF`)?.replace(/^0+$/, '') || undefined
  const chave = find('//infNFe/@Id|//infCte/@Id')?.slice(3) ?? find('/resNFe/chNFe')!
  const toma = find('//toma3/toma|//toma03/toma')
  const named = toma === undefined ? '/toma4' : `/infCte/${['rem', 'exped', 'receb', 'dest'][Number(toma)]}`
  const groups: [string, number][] = [
    ['resNFe', 0],
    ['/emit', 0],
    ['/infNFe/dest', 1],
    ['/transp/transporta', 2],
    [named, 7],
    ['/infCte/toma', 7],
    ['/infCte/rem', 4],
    ['/infCte/dest', 1],
    ['/infCte/exped', 5],
    ['/infCte/receb', 6],
  ]
  const parties = groups.flatMap(([group, role]) => {
    const taxId = tax(group)
    return taxId ? [{ role, taxId, name: find(`/${group}/xNome`) }] : []
  })
  for (const taxId of findAll('//autXML/CNPJ|//autXML/CPF')) parties.push({ role: 3, taxId, name: undefined })
  return {
    type,
    root,
    complete: !summary,
    chave,
    mod: find('//ide/mod') ?? chave.slice(20, 22),
    serie: Number(find('//ide/serie') ?? chave.slice(22, 25)),
    numero: Number(find('//ide/nNF|//ide/nCT') ?? chave.slice(25, 34)),
    issuedAt: find('//ide/dhEmi|//ide/dEmi|/resNFe/dhEmi'),
    issuerTaxId: tax(summary ? 'resNFe' : '/emit'),
    issuerName: find('//emit/xNome|/resNFe/xNome'),
    issuerIe: find('//emit/IE|/resNFe/IE'),
    recipientTaxId: tax(type === 'nfe' ? '/infNFe/dest' : '/infCte/dest'),
    recipientName: find('//infNFe/dest/xNome|//infCte/dest/xNome'),
    amount: find('//ICMSTot/vNF|//vPrest/vTPrest|//total/vTPrest|/resNFe/vNF'),
    tpAmb: find('//ide/tpAmb') ?? '',
    tpNF: find('//ide/tpNF|/resNFe/tpNF'),
    parties: sorted(parties),
  }
}

function eventFacts(find: Find, findAll: FindAll, root: string): Partial<EventFacts> {
  const summary = root === 'resEvento'
  const answered = (name: string) =>
    find(`//retEvento/infEvento/${name}|//retEventoCTe/infEvento/${name}|/procEventoCTe/infEvento/${name}`)
  const list = findAll('//infCorrecao/grupoAlterado').map(
    (group, index) =>
      `${group}/${findAll('//infCorrecao/campoAlterado')[index]}: ${findAll('//infCorrecao/valorAlterado')[index]}`,
  )
  return {
    root,
    summary,
    chave: find('//detEvento/../chNFe|//detEvento/../chCTe|/resEvento/chNFe'),
    tpEvento: Number(find('//detEvento/../tpEvento|/resEvento/tpEvento')),
    nSeqEvento: Number(find('//detEvento/../nSeqEvento|/resEvento/nSeqEvento')),
    authorTaxId: find('//detEvento/../CNPJ|//detEvento/../CPF|/resEvento/CNPJ|/resEvento/CPF'),
    dhEvento: find('//detEvento/../dhEvento|/resEvento/dhEvento'),
    registeredAt: summary ? find('/resEvento/dhRecbto') : answered('dhRegEvento'),
    protocol: summary ? find('/resEvento/nProt') : answered('nProt'),
    cStat: summary ? undefined : answered('cStat'),
    description: find('//descEvento|//xEvento'),
    justification:
      list.length > 0 ? list.join('; ') : find('//detEvento//xJust|//detEvento//xCorrecao|//detEvento//xObs'),
  }
}

function sorted(parties: Party[]): Party[] {
  return parties.toSorted((a, b) => a.role - b.role || a.taxId.localeCompare(b.taxId))
}

function pick<T extends object>(facts: T, like: Partial<T>): Partial<T> {
  const keys = Object.keys(like) as (keyof T)[]
  return Object.fromEntries(keys.map((key) => [key, facts[key]])) as Partial<T>
}
