import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchive } from '@vigia/checks/alerts/archive'
import { type AlertFacts, alertFacts, baseOf } from '@vigia/checks/alerts/facts'
import { judge } from '@vigia/checks/alerts/judge'
import { defaultSettings } from '@vigia/checks/alerts/settings'
import { type DocumentFacts, type EventFacts, readDetails, readReceived } from '@vigia/dfe/read'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { type Simulator, start } from '@vigia/simulator/start'
import { expect, test, vi } from 'vitest'
import { alertEvents } from '../support/alert-events.ts'
import { askForAll, control, order } from '../support/authority.ts'
import { withTestKeys } from '../support/keys.ts'

// Each first start signs two thousand documents and events.
vi.setConfig({ testTimeout: 120_000 })

const clients = [
  { cnpj: '12ABC34501DE35', nome: 'MERCADO BOA VISTA LTDA', uf: 'PR' },
  { cnpj: '99234567000190', nome: 'PADARIA AURORA LTDA', uf: 'SP' },
  { cnpj: '99456789000157', nome: 'TRANSPORTES SERRA AZUL LTDA', uf: 'MG' },
  { cnpj: '99678901000102', nome: 'MÓVEIS IPÊ AMARELO LTDA', uf: 'RS' },
]

async function inFolder(instant: string, work: (directory: string) => Promise<void>) {
  const directory = withTestKeys(mkdtempSync(join(tmpdir(), 'story-')))
  const offsetMs = Date.parse(instant) - Date.now()
  writeFileSync(join(directory, 'state.jsonl'), `${JSON.stringify(['clock', '', offsetMs])}\n`)
  try {
    await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const open = (directory: string) => start({ port: 0, directory, story: true })

async function alertsOf(simulator: Simulator, booked: string, now: number): Promise<string[]> {
  const all: AlertFacts[] = []
  for (const client of clients) all.push(...(await factsOf(simulator, client, booked, now)))
  const archive = createArchive(all)
  const settings = { ...defaultSettings, asOf: now }
  return all
    .map((facts) => ({ facts, ...judge(facts, archive.history(facts), settings) }))
    .filter(({ score }) => score > 0)
    .map(({ facts, band, fired }) => {
      // S09 adds to others when a day was a holiday.
      const rules = fired.filter(({ id, learning }) => !learning && id !== 'S09').map(({ id }) => id)
      return `${band} ${rules.join(' ')}: ${facts.issuer.name}`
    })
    .sort()
}

async function factsOf(simulator: Simulator, client: (typeof clients)[number], booked: string, now: number) {
  const { cnpj, nome, uf } = client
  const documents = new Map<string, { facts: DocumentFacts; xml: Uint8Array }>()
  const events: EventFacts[] = []
  for (const { content } of await askForAll(simulator, client)) {
    const xml = unzipDocument(content)
    const { facts } = readReceived(xml)
    if (facts.kind === 'document') documents.set(facts.chave, { facts, xml })
    else if (facts.kind === 'event') events.push(facts)
  }
  const byChave = Map.groupBy(events, ({ chave }) => chave)
  const since = new Date(now).toISOString()
  return [...documents.values()].map(({ facts, xml }) =>
    alertFacts(facts, readDetails(xml), alertEvents(byChave.get(facts.chave) ?? []), {
      company: {
        base: baseOf(cnpj),
        tpAmb: '1',
        establishments: [{ taxId: cnpj, names: [nome], ies: [], uf, since }],
        captures: { nfe: true, cte: true },
      },
      marks: facts.chave === booked ? [{ kind: 'booked', at: new Date(now - 90_000).toISOString() }] : [],
    }),
  )
}

test.each(['2026-10-01T07:10:00-03:00', '2026-10-16T14:20:00-03:00', '2026-10-31T23:50:00-03:00'])(
  'the story of %s raises its alerts and no other',
  async (at) => {
    await inFolder(at, async (directory) => {
      await using simulator = await open(directory)
      const { surprise } = await control<{ surprise: string }>(simulator, 'story')
      await order(simulator, 'story')
      expect(await alertsOf(simulator, surprise, Date.parse(at))).toMatchInlineSnapshot(`
        [
          "alto S03 S29 S04 S37: CARNES MINUANO S.A.",
          "alto S10: HORIZONTE ATACADO DE ALIMENTOS S.A.",
          "alto S41 S43: TRANSPORTES CATARINENSE S.A.",
          "alto S43 S03 S42: FRIGORÍFICA SERRANA TRANSPORTES LTDA",
          "alto S46 S01 S13 S08: LATICÍNIOS MANTIQUERA LTDA",
          "crítico S36 S38: HIGIENE E LIMPEZA VALE VERDE LTDA",
          "crítico S46 S17 S01 S13 S04 S22 S08: LATICÍNIOS MANTIQUERA LTDA",
          "crítico S46 S17 S01 S13 S22 S08: LATICÍNIOS MANTIQUERA LTDA",
          "médio S01 S28: PAULISTANA ELETRÔNICOS LTDA",
          "médio S20: FERMENTOS NOVA ERA LTDA",
          "médio S29: CAFÉ TRÊS IRMÃOS LTDA",
          "médio S39 S40: FERRAGENS BANDEIRANTE LTDA",
          "médio S43: TRANSPORTES CATARINENSE S.A.",
          "médio S44: GUANABARA LOGÍSTICA LTDA",
        ]
      `)
    })
  },
)

test('a later start adds the days since the last, and each number is used once', async () => {
  await inFolder('2026-11-24T18:00:00-03:00', async (directory) => {
    const documentsOf = async (advanceMs: number) => {
      await using simulator = await open(directory)
      await order(simulator, 'clock', { advanceMs })
      const told = await Promise.all(
        clients.map(({ cnpj }) =>
          control<{ documents: { chave: string; at: string }[] }>(simulator, `truth?cnpj=${cnpj}`),
        ),
      )
      return told.flatMap(({ documents }) => documents)
    }
    const first = await documentsOf(3 * 86_400_000)
    const second = await documentsOf(0)
    expect(second.slice(0, 1)).toEqual(first.slice(0, 1))
    expect(second.length - first.length).toBeGreaterThan(30)
    expect(second.length - first.length).toBeLessThan(200)
    const chaves = [...new Set(second.map(({ chave }) => chave))]
    expect(new Set(chaves.map((chave) => chave.slice(6, 34))).size).toBe(chaves.length)
  })
})
