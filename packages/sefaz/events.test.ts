import { createHash } from 'node:crypto'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { families } from '@vigia/dfe/families/all'
import { readReceived } from '@vigia/dfe/read'
import { canonicalize } from '@vigia/xml/canonicalize'
import { parseXml } from '@vigia/xml/parse'
import { verifySignature } from '@vigia/xml/verify'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasSchemas, schema, verifyWithXmlCrypto } from '../../tests/support/judges.ts'
import { runs } from '../../tests/support/seed.ts'
import {
  type CteEvent,
  cleanEventText,
  EventError,
  eventOutcome,
  type Manifestation,
  processedEvent,
  type SignedEvent,
  signCteEvent,
  signManifestation,
} from './events.ts'
import { issue, newKey } from './testing.ts'

const certificate = issue({ commonName: 'EMPRESA DESTINATARIA LTDA:44555666000181', key: newKey() })

const nfe = '35260811222333000181550010000123451876543214'
const cte = '41260877888999000181570010000098761135724684'
const withLetters = (chave: string, cnpj: string) => {
  const body = chave.slice(0, 6) + cnpj + chave.slice(20, 43)
  return body + chaveCheckDigit(body)
}

const head = { tpAmb: 2, cnpj: '44555666000181', nSeqEvento: 1 } as const
const ciencia: Manifestation = { ...head, chave: nfe, tpEvento: 210210, at: new Date('2026-08-11T11:30:00.999Z') }
const at = new Date('2026-08-12T12:00:00Z')
const desacordo: CteEvent = {
  ...head,
  chave: cte,
  at,
  tpEvento: 610110,
  xObs: 'Valor do frete cobrado diverge da tabela contratada',
}
const correcao: CteEvent = {
  ...head,
  cnpj: '77888999000181',
  chave: cte,
  at,
  tpEvento: 110110,
  corrections: [
    { grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado: 'ENTREGA SOMENTE COM AGENDAMENTO PREVIO' },
  ],
}
const cancelamento: CteEvent = {
  ...correcao,
  tpEvento: 110111,
  nProt: '141260000765432',
  xJust: 'Servico de transporte nao foi iniciado',
}
const cancelamentoDoDesacordo: CteEvent = { ...desacordo, tpEvento: 610111, nProtEvPrestDes: '141260000799999' }

const unsigned = (event: SignedEvent) => event.xml.replace(/<Signature .*<\/Signature>/, '')

describe('the examples of the dossier', () => {
  const infEvento =
    '<infEvento Id="ID2102103526081122233300018155001000012345187654321401"><cOrgao>91</cOrgao><tpAmb>2</tpAmb><CNPJ>44555666000181</CNPJ><chNFe>35260811222333000181550010000123451876543214</chNFe><dhEvento>2026-08-11T08:30:00-03:00</dhEvento><tpEvento>210210</tpEvento><nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>Ciencia da Operacao</descEvento></detEvento></infEvento>'

  test('the ciência, its canonical form and its digest', () => {
    const signed = signManifestation(ciencia, certificate)
    expect(signed).toMatchObject({
      id: 'ID2102103526081122233300018155001000012345187654321401',
      tpEvento: 210210,
      chave: nfe,
      nSeqEvento: 1,
    })
    expect(unsigned(signed)).toBe(
      `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">${infEvento}</evento>`,
    )
    const canonical = canonicalize(parseXml(signed.xml).children[0]!, {
      '': 'http://www.portalfiscal.inf.br/nfe',
    })
    expect(canonical).toBe(
      infEvento.replace('<infEvento Id', '<infEvento xmlns="http://www.portalfiscal.inf.br/nfe" Id'),
    )
    expect(canonical).toHaveLength(454)
    expect(createHash('sha1').update(canonical).digest('base64')).toBe('btSc1rfb02C7X7kdbKcFUDUrmRo=')
    expect(signed.xml).toContain('<DigestValue>btSc1rfb02C7X7kdbKcFUDUrmRo=</DigestValue>')
  })

  test('the desacordo and the carta de correção', () => {
    const signed = signCteEvent(desacordo, certificate)
    expect(signed.id).toBe('ID61011041260877888999000181570010000098761135724684001')
    expect(unsigned(signed)).toBe(
      '<eventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento Id="ID61011041260877888999000181570010000098761135724684001"><cOrgao>41</cOrgao><tpAmb>2</tpAmb><CNPJ>44555666000181</CNPJ><chCTe>41260877888999000181570010000098761135724684</chCTe><dhEvento>2026-08-12T09:00:00-03:00</dhEvento><tpEvento>610110</tpEvento><nSeqEvento>1</nSeqEvento><detEvento versaoEvento="4.00"><evPrestDesacordo><descEvento>Prestacao do Servico em Desacordo</descEvento><indDesacordoOper>1</indDesacordoOper><xObs>Valor do frete cobrado diverge da tabela contratada</xObs></evPrestDesacordo></detEvento></infEvento></eventoCTe>',
    )
    expect(signed.xml).toContain('<DigestValue>bW7ErL8F3pq0UIrGn4X+qtbJIwU=</DigestValue>')
    expect(signCteEvent(correcao, certificate).xml).toContain('<DigestValue>oUmjaI9wlc0zKpIzh6N0MthoOE8=</DigestValue>')
  })

  test('the specific groups of the other events', () => {
    expect(signCteEvent(cancelamento, certificate).xml).toContain(
      '<detEvento versaoEvento="4.00"><evCancCTe><descEvento>Cancelamento</descEvento><nProt>141260000765432</nProt><xJust>Servico de transporte nao foi iniciado</xJust></evCancCTe></detEvento>',
    )
    expect(signCteEvent(cancelamentoDoDesacordo, certificate).xml).toContain(
      '<evCancPrestDesacordo><descEvento>Cancelamento Prestacao do Servico em Desacordo</descEvento><nProtEvPrestDes>141260000799999</nProtEvPrestDes></evCancPrestDesacordo>',
    )
  })
})

const xJust = 'Devolução: "peça" <errada> & avariada'
const lettered = { cnpj: '12ABC34501DE35', chave: withLetters(nfe, '12ABC34501DE35') }
const manifestations: [string, Manifestation][] = [
  ['210210', ciencia],
  ['210200, the second time', { ...ciencia, tpEvento: 210200, nSeqEvento: 2 }],
  ['210220', { ...ciencia, tpEvento: 210220 }],
  ['210220 with a justification', { ...ciencia, tpEvento: 210220, xJust }],
  ['210240', { ...ciencia, tpEvento: 210240, xJust }],
  ['210240 with letters', { ...ciencia, ...lettered, tpEvento: 210240, xJust }],
]
const cteLettered = { cnpj: '12ABC34501DE35', chave: withLetters(cte, '12ABC34501DE35') }
const structured: CteEvent = {
  ...correcao,
  nSeqEvento: 20,
  corrections: [
    { grupoAlterado: 'Comp', campoAlterado: 'xNome', valorAlterado: 'TAXA', nroItemAlterado: 99 },
    { grupoAlterado: 'ide', campoAlterado: 'CFOP', valorAlterado: '6353' },
  ],
}
const cteEvents: [string, CteEvent][] = [
  ['110111', cancelamento],
  ['110110', correcao],
  ['110110 with items', structured],
  ['610110', desacordo],
  ['610111', cancelamentoDoDesacordo],
  ['110111 with letters', { ...cancelamento, ...cteLettered }],
]
const all: [string, SignedEvent][] = [
  ...manifestations.map(([name, event]): [string, SignedEvent] => [name, signManifestation(event, certificate)]),
  ...cteEvents.map(([name, event]): [string, SignedEvent] => [name, signCteEvent(event, certificate)]),
]

describe('a signed event', () => {
  test.each(all)('%s verifies here and with xml-crypto, alone and in what is sent', (_, { xml, id }) => {
    expect(verifySignature(xml)).toMatchObject({ valid: true, id })
    expect(verifyWithXmlCrypto(xml)).toBe(true)
    expect(verifyWithXmlCrypto(xml.replace('<tpAmb>2', '<tpAmb>1'))).toBe(false)
    expect(verifySignature(`<e xmlns:x="y">${xml}</e>`)).toMatchObject({ valid: true, id })
    expect(xml).not.toMatch(/>\s|\s<|<\?/)
  })

  test('is the same bytes every time, from the same certificate or another copy of it', () => {
    const again = signManifestation(ciencia, { key: certificate.key, certificate: certificate.certificate })
    expect(again).toEqual(signManifestation(ciencia, certificate))
  })

  test.each([
    ['the end of the day', '2026-01-01T02:59:59.999Z', '2025-12-31T23:59:59-03:00'],
    ['midnight', '2026-01-01T03:00:00.000Z', '2026-01-01T00:00:00-03:00'],
    ['a leap day', '2028-03-01T01:00:00.500Z', '2028-02-29T22:00:00-03:00'],
  ])('tells the time of Brasília: %s', (_, at, dhEvento) => {
    expect(signManifestation({ ...ciencia, at: new Date(at) }, certificate).xml).toContain(
      `<dhEvento>${dhEvento}</dhEvento>`,
    )
  })

  test.each(all)('%s is read by our own reader', (_, { xml, chave, tpEvento, nSeqEvento }) => {
    const kept = processedEvent({ xml }, { xml: '<x/>' })
    expect(readReceived(Buffer.from(kept)).facts).toMatchObject({ kind: 'event', chave, tpEvento, nSeqEvento })
  })
})

describe.runIf(hasSchemas)('the official schemas accept', () => {
  const lote = ({ xml }: SignedEvent) =>
    `<envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>1</idLote>${xml}</envEvento>`

  test.each(manifestations)('%s', (_, event) => {
    const letters = /[A-Z]/.test(event.cnpj)
    const folder = letters ? 'nfe/Eventos_PL_010_V1.30' : 'nfe/Evento_ConfRecebto'
    const validate = schema(folder, 'envConfRecebto_v1.00.xsd', letters)
    const xml = lote(signManifestation(event, certificate))
    expect(validate(xml)).toEqual([])
    expect(validate(xml.replace('<cOrgao>91', '<cOrgao>99'))).not.toEqual([])
    const det = /<detEvento.*<\/detEvento>/.exec(xml)?.[0] ?? ''
    const inner = det.replace('<detEvento', '<detEvento xmlns="http://www.portalfiscal.inf.br/nfe"')
    // The schema of each code allows only fields of the NT; that of the lote allows xJust for all.
    if (event.tpEvento !== 210220) expect(schema(folder, `e${event.tpEvento}_v1.00.xsd`)(inner)).toEqual([])
  })

  test.each(cteEvents)('%s', (_, event) => {
    for (const folder of ['cte/PL_CTe_400_NT2026.002_RTC_1.00', 'cte/PL_CTe_400']) {
      const letters = /[A-Z]/.test(event.cnpj)
      if (letters && folder.endsWith('_400')) continue
      const { xml } = signCteEvent(event, certificate)
      expect(schema(folder, 'eventoCTe_v4.00.xsd')(xml)).toEqual([])
      const [, name = '', content] = /<detEvento versaoEvento="4.00"><(\w+)>(.*)<\/detEvento>/.exec(xml) ?? []
      const inner = `<${name} xmlns="http://www.portalfiscal.inf.br/cte">${content}`
      const validate = schema(folder, `${name}_v4.00.xsd`)
      expect(validate(inner)).toEqual([])
      expect(validate(inner.replace('<descEvento>', '<descEvento>.'))).not.toEqual([])
    }
  })
})

describe('what a person asks for and cannot have', () => {
  const refusal = (make: () => unknown) => {
    expect(make).toThrow(EventError)
    try {
      make()
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  const manifest = (change: Partial<Manifestation>) => () => signManifestation({ ...ciencia, ...change }, certificate)
  const correct = (change: object) => () =>
    signCteEvent({ ...correcao, corrections: [{ ...correcao.corrections[0]!, ...change }] }, certificate)

  test.each([
    [manifest({ tpEvento: 210240 }), 'A justificativa precisa ter de 15 a 255 caracteres, e tem 0.'],
    [
      manifest({ tpEvento: 210240, xJust: `  curta${' '.repeat(20)}` }),
      'A justificativa precisa ter de 15 a 255 caracteres, e tem 5.',
    ],
    [
      manifest({ tpEvento: 210240, xJust: 'ç'.repeat(256) }),
      'A justificativa precisa ter de 15 a 255 caracteres, e tem 256.',
    ],
    [manifest({ tpEvento: 210220, xJust: 'curta' }), 'A justificativa precisa ter de 15 a 255 caracteres, e tem 5.'],
    [manifest({ tpEvento: 210200, xJust }), 'Esta manifestação não leva justificativa.'],
    [manifest({ xJust }), 'Esta manifestação não leva justificativa.'],
    [
      () => signCteEvent({ ...desacordo, xObs: 'curta' }, certificate),
      'A observação precisa ter de 15 a 255 caracteres, e tem 5.',
    ],
    [correct({ valorAlterado: ' ' }), 'O novo valor precisa ter de 1 a 500 caracteres, e tem 0.'],
    [correct({ valorAlterado: 'x'.repeat(501) }), 'O novo valor precisa ter de 1 a 500 caracteres, e tem 501.'],
    [correct({ grupoAlterado: 'x'.repeat(21) }), 'O grupo corrigido precisa ter de 1 a 20 caracteres, e tem 21.'],
    [correct({ campoAlterado: '' }), 'O campo corrigido precisa ter de 1 a 20 caracteres, e tem 0.'],
    [correct({ nroItemAlterado: 0 }), 'O número do item corrigido vai de 1 a 99.'],
    [correct({ nroItemAlterado: 1.5 }), 'O número do item corrigido vai de 1 a 99.'],
    [
      () => signCteEvent({ ...correcao, corrections: [] }, certificate),
      'A carta de correção precisa de pelo menos uma correção.',
    ],
    [
      () => signManifestation(ciencia, issue({ commonName: 'X', key: newKey('ec') })),
      'Este certificado não serve para assinar eventos: a chave dele não é RSA.',
    ],
  ])('%#', (make, message) => {
    expect(refusal(make)).toBe(message)
  })

  test('the limits themselves pass', () => {
    expect(manifest({ tpEvento: 210240, xJust: '&'.repeat(255) })).not.toThrow()
    expect(manifest({ tpEvento: 210240, xJust: ` ${'x'.repeat(15)}\n` })).not.toThrow()
    expect(manifest({ xJust: ' ' })().xml).not.toContain('xJust')
    expect(correct({ valorAlterado: 'x'.repeat(500), nroItemAlterado: 99 })).not.toThrow()
  })

  test.each([
    ['chave', { chave: nfe.replace(/4$/, '5') }],
    ['chave', { chave: `${nfe}<` }],
    ['CNPJ', { cnpj: '44.555.666/0001-81' }],
    ['CNPJ', { cnpj: '44555666000180' }],
    ['nSeqEvento', { nSeqEvento: 0 }],
    ['nSeqEvento', { nSeqEvento: 100 }],
  ])('a wrong %s is a bug of the caller: %j', (name, change) => {
    expect(manifest(change)).toThrow(new RegExp(`^not an? ${name}`))
  })

  test.each(['', '12345', '1412600007654321', '14126000076543x'])('so is the protocol %j', (nProt) => {
    expect(() => signCteEvent({ ...cancelamento, nProt }, certificate)).toThrow(TypeError)
    expect(() => signCteEvent({ ...cancelamentoDoDesacordo, nProtEvPrestDes: nProt }, certificate)).toThrow(TypeError)
  })
})

describe('text', () => {
  test.each([
    ['  aparado \t', 'aparado'],
    ['uma\r\n  duas\n\ntrês\u2028quatro', 'uma duas três quatro'],
    ['tab\te\u00a0fixo', 'tab e fixo'],
    ['dois  espaços', 'dois  espaços'],
    ['“aspas” ‘simples’ – travessão — e… −1', '"aspas" \'simples\' - travessão - e... -1'],
    ['decomposto: a\u0301 c\u0327', 'decomposto: á ç'],
    ['in\u200bvis\ufeffível', 'invisível'],
    ['ÿ § º ª «ok» ½', 'ÿ § º ª «ok» ½'],
    ['', ''],
  ])('%j becomes %j', (text, clean) => {
    expect(cleanEventText(text)).toBe(clean)
  })

  test.each([
    ['custa € 10', 'A SEFAZ não aceita estes caracteres: €.'],
    ['Ω e 😀, e de novo 😀', 'A SEFAZ não aceita estes caracteres: Ω, 😀.'],
    ['a\u0000b\u0007c\u0080d\ud800', 'A SEFAZ não aceita estes caracteres: U+0000, U+0007, U+0080, U+D800.'],
    ['αβγδεζ', 'A SEFAZ não aceita estes caracteres: α, β, γ, δ, ε e outros.'],
  ])('%j is refused by name', (text, message) => {
    expect(() => cleanEventText(text)).toThrow(new EventError(message))
  })

  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...' \t\r\n\u0085\u00a0\u200b\u2028“”’–…−é́ÿĀ€<&>]\u0000\u007f'), maxLength: 40 }),
  )
  const cleaned = (text: string) => {
    try {
      return cleanEventText(text)
    } catch (error) {
      if (error instanceof EventError) return null
      throw error
    }
  }

  test('that passes has the pattern of the schemas, and stays what it is', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const clean = cleaned(text)
        if (clean === null || clean === '') return
        expect(clean).toMatch(/^(?:[!-ÿ][ -ÿ]*[!-ÿ]|[!-ÿ])$/)
        expect(clean).not.toMatch(/[\r\n\t\u007f-\u00a0]/)
        expect(cleanEventText(clean)).toBe(clean)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('outcomes', () => {
  const by = (type: 'nfe' | 'cte') =>
    Object.groupBy(
      Array.from({ length: 1000 }, (_, cStat) => cStat),
      (cStat) => eventOutcome(type, cStat),
    )

  test('of the NF-e', () => {
    const { rejected, ...rest } = by('nfe')
    expect(rest).toEqual({
      registered: [134, 135, 136, 155],
      'already-registered': [573, 655],
      retry: [108, 109, 656, 678, 999],
    })
    expect(rejected).toContain(631)
  })

  test('of the CT-e, where the same numbers may mean something else', () => {
    const { rejected, ...rest } = by('cte')
    expect(rest).toEqual({
      registered: [134, 135, 136, 155],
      'already-registered': [631],
      retry: [108, 109, 656, 678, 999],
    })
    expect(rejected).toEqual(expect.arrayContaining([573, 655, 218, 220, 787]))
  })

  test('every code that is sent is one of the table of events', () => {
    const known = families.flatMap(({ events }) => [...events.keys()])
    for (const [, { tpEvento }] of all) expect(known).toContain(tpEvento)
  })
})
