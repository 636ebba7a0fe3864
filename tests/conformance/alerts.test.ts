import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createArchive } from '@vigia/checks/alerts/archive'
import { type AlertFacts, alertFacts, baseOf } from '@vigia/checks/alerts/facts'
import { judge } from '@vigia/checks/alerts/judge'
import { defaultSettings } from '@vigia/checks/alerts/settings'
import { proofOf } from '@vigia/dfe/proof'
import { type DocumentFacts, type EventFacts, readDetails, readReceived } from '@vigia/dfe/read'
import { parseReceived } from '@vigia/xml/parse'
import { describe, expect, test } from 'vitest'
import { alertEvents } from '../support/alert-events.ts'
import { findSamples } from '../support/samples.ts'

const samples = findSamples()

// Every alert here was reviewed as sensible. New suppliers say nothing, because all are new.
describe.skipIf(samples === null)('the sample documents', () => {
  test('raise the alerts that a person understands, as if each were of production and its company known', () => {
    const found = alertsOf(['nfe', 'cte', 'resumos'], true)
    expect(found).toMatchInlineSnapshot(`
      {
        "cte/procCTe-4.00-aquaviario.xml": "S44 S09",
        "cte/procCTe-4.00-cnpj-alfanumerico.xml": "S44",
        "cte/procCTe-4.00-contingencia-svc-tpemis7.xml": "S44",
        "cte/procCTe-4.00-ibscbs-infnf.xml": "S42",
        "cte/procCTe-4.00-ibscbs.xml": "S44",
        "cte/procCTe-4.00-multimodal.xml": "S41 S44 S09",
        "cte/procCTe-4.00-rodoviario-toma-remetente.xml": "S41 S44",
        "cte/procCTe-4.00-rodoviario-toma4.xml": "S44",
        "cte/procCTe-4.00-textos-longos.xml": "S44",
        "cte/procCTe-4.00-toma-expedidor.xml": "S44",
        "cte/procCTe-v2.00.xml": "S44 S09",
        "cte/procCTe-v3.00-homologacao.xml": "S44",
        "nfe/procNFe-11-itens-veiculo-compra.xml": "S15",
        "nfe/procNFe-120-itens.xml": "S03",
        "nfe/procNFe-29-itens-textos-longos.xml": "S23 S09",
        "nfe/procNFe-autorizada-fora-de-prazo-150.xml": "S10",
        "nfe/procNFe-cnpj-alfanumerico-emitente.xml": "S19 S09",
        "nfe/procNFe-combustivel-anp-rastro.xml": "S09",
        "nfe/procNFe-contingencia-svc-an-tpemis6.xml": "S10 S11",
        "nfe/procNFe-contingencia-svc-rs-tpemis7.xml": "S10",
        "nfe/procNFe-emitente-mei.xml": "S23",
        "nfe/procNFe-gas-veiculo.xml": "S22",
        "nfe/procNFe-ibscbs-nota-credito-recusa.xml": "S35",
        "nfe/procNFe-ibscbs-nota-debito-pag-antecipado.xml": "S35",
        "nfe/procNFe-ibscbs-nota-debito.xml": "S35",
        "nfe/procNFe-ibscbs-venda-governo.xml": "S35",
        "nfe/procNFe-local-retirada.xml": "S19",
        "nfe/procNFe-producao-dest-cpf-rastro.xml": "S10 S09",
        "nfe/procNFe-simples-homologacao.xml": "S19",
        "nfe/procNFe-v3.10-epec-tpemis4.xml": "S22 S09",
        "resumos/resNFe-2020-01.xml": "S15",
        "resumos/resNFe-cnpj-alfanumerico.xml": "S09",
      }
    `)
  })

  test('are test documents where they say so, and not to be trusted where they were altered', () => {
    const found = Object.entries(alertsOf(['nfe', 'cte', 'resumos', 'invalidos'], false))
    const critical = (id: string) => found.filter(([, ids]) => ids.includes(id)).map(([file]) => file)
    expect(critical('S24')).toMatchInlineSnapshot(`
      [
        "invalidos/cte-digest-nao-confere.xml",
        "invalidos/nfe-2.00-sem-namespace.xml",
        "invalidos/nfe-assinatura-nao-confere.xml",
        "invalidos/nfe-digest-nao-confere.xml",
        "invalidos/nfe-dv-da-chave-errado.xml",
        "invalidos/nfe-protocolo-de-outra-chave.xml",
        "invalidos/nfe-sem-protocolo.xml",
      ]
    `)
    expect(critical('S25').length).toBe(72)
  })
})

// The alerts on each document, as its own recipient or tomador receives it.
function alertsOf(folders: readonly string[], asProduction: boolean): Record<string, string> {
  const documents: { file: string; facts: DocumentFacts; xml: Uint8Array }[] = []
  const events: EventFacts[] = []
  for (const folder of [...folders, 'eventos'])
    for (const name of readdirSync(join(samples!, folder)).sort()) {
      const xml = readFileSync(join(samples!, folder, name))
      const { facts } = readReceived(xml)
      if (facts.kind === 'document') documents.push({ file: `${folder}/${name}`, facts, xml })
      else if (facts.kind === 'event') events.push(facts)
    }
  const all = documents.map(({ file, facts, xml }) => ({ file, facts: received(facts, xml, events, asProduction) }))
  const complete = new Set(all.filter((one) => one.facts.complete).map((one) => one.facts.chave))
  const archive = createArchive(
    all.map((one) => one.facts).filter((facts) => facts.complete || !complete.has(facts.chave)),
  )
  return Object.fromEntries(
    all.flatMap(({ file, facts }) => {
      const history = { ...archive.history(facts), learnedAt: asProduction ? 0 : null }
      const { fired } = judge(facts, history, { ...defaultSettings, asOf: Date.parse('2026-11-25T12:00:00Z') })
      const ids = fired.map(({ id }) => id).filter((id) => id !== 'S01' && id !== 'S02')
      return ids.length > 0 ? [[file, ids.join(' ')]] : []
    }),
  )
}

function received(facts: DocumentFacts, xml: Uint8Array, events: EventFacts[], asProduction: boolean): AlertFacts {
  const receiver = facts.parties.find(({ role }) => role === (facts.type === 'nfe' ? 1 : 7))
  const taxId = receiver?.taxId ?? '99164852000181'
  const own = alertEvents(events.filter(({ chave }) => chave === facts.chave))
  return alertFacts(asProduction ? { ...facts, tpAmb: '1' } : facts, readDetails(xml), own, {
    company: {
      base: baseOf(taxId),
      tpAmb: asProduction ? '2' : '1',
      establishments: [{ taxId, names: receiver?.name ? [receiver.name] : [], ies: [] }],
      captures: { nfe: true, cte: true },
    },
    marks: [],
    proof: facts.complete ? (proofOf(parseReceived(xml)) ?? undefined) : undefined,
  })
}
