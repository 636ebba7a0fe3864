import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { chaveCheckDigit } from './chave.ts'
import { type DocumentFacts, type EventFacts, findOwnKey, readDetails, readReceived } from './read.ts'

const emitente = '11222333000181'
const empresa = '44555666000181'
const transportador = '77888999000181'

const key = (first43: string) => first43 + chaveCheckDigit(first43)
const chNFe = key(`352608${emitente}55001000012345187654321`)
const chCTe = key(`412608${transportador}57001000009876113572468`)

function read(xml: string, schema?: string) {
  const { facts, problems } = readReceived(new TextEncoder().encode(xml), schema)
  return { facts, problems }
}
const codes = (xml: string) => read(xml).problems.map(({ code }) => code)

function document(xml: string): DocumentFacts {
  const { facts } = read(xml)
  if (facts.kind !== 'document') throw new Error(JSON.stringify(facts))
  return facts
}

function event(xml: string): EventFacts {
  const { facts } = read(xml)
  if (facts.kind !== 'event') throw new Error(JSON.stringify(facts))
  return facts
}

const ideNFe =
  '<ide><mod>55</mod><serie>1</serie><nNF>12345</nNF><dhEmi>2026-08-10T09:15:00-03:00</dhEmi><tpNF>1</tpNF><tpAmb>1</tpAmb></ide>'
const emit = `<emit><CNPJ>${emitente}</CNPJ><xNome>FORNECEDOR &amp; CIA</xNome><enderEmit><UF>SP</UF></enderEmit><IE>111222333444</IE></emit>`
const dest = `<dest><CNPJ>${empresa}</CNPJ><xNome>EMPRESA</xNome></dest>`
const total = '<total><ICMSTot><vNF>1500.00</vNF></ICMSTot></total>'
const protNFe = (cStat = '100', chave = chNFe) =>
  `<protNFe><infProt><chNFe>${chave}</chNFe><dhRecbto>2026-08-10T09:15:07-03:00</dhRecbto><nProt>135260001234567</nProt><digVal>WB7j=</digVal><cStat>${cStat}</cStat></infProt></protNFe>`
const nfe = (inside = ideNFe + emit + dest + total, chave = chNFe) =>
  `<NFe xmlns="http://www.portalfiscal.inf.br/nfe"><infNFe versao="4.00" Id="NFe${chave}">${inside}</infNFe></NFe>`
const nfeProc = (inside?: string, after = protNFe()) =>
  `<nfeProc versao="4.00" xmlns="http://www.portalfiscal.inf.br/nfe">${nfe(inside)}${after}</nfeProc>`

describe('NF-e', () => {
  test('all facts of an authorised one', () => {
    const inside = `${ideNFe}${emit}${dest}<autXML><CNPJ>33444555000181</CNPJ></autXML><autXML><CPF>11144477735</CPF></autXML>${total}<transp><transporta><CNPJ>${transportador}</CNPJ><xNome>TRANSPORTES</xNome></transporta></transp>`
    expect(read(nfeProc(inside))).toEqual({
      problems: [],
      facts: {
        kind: 'document',
        type: 'nfe',
        root: 'nfeProc',
        complete: true,
        chave: chNFe,
        mod: '55',
        serie: 1,
        numero: 12345,
        issuedAt: '2026-08-10T09:15:00-03:00',
        authorizedAt: '2026-08-10T09:15:07-03:00',
        protocol: '135260001234567',
        issuerTaxId: emitente,
        issuerName: 'FORNECEDOR & CIA',
        issuerIe: '111222333444',
        issuerUf: 'SP',
        recipientTaxId: empresa,
        recipientName: 'EMPRESA',
        amount: '1500.00',
        parties: [
          { role: 0, taxId: emitente, name: 'FORNECEDOR & CIA' },
          { role: 1, taxId: empresa, name: 'EMPRESA' },
          { role: 2, taxId: transportador, name: 'TRANSPORTES' },
          { role: 3, taxId: '33444555000181' },
          { role: 3, taxId: '11144477735' },
        ],
        tpAmb: '1',
        tpNF: '1',
        situation: 'authorized',
        cStat: '100',
        digest: 'WB7j=',
      },
    })
  })

  test.each([
    ['150', 'authorized', []],
    ['302', 'denied', []],
    ['101', 'cancelled', []],
    ['204', 'no-protocol', ['protocol-status']],
    ['constructor', 'no-protocol', ['protocol-status']],
  ])('cStat %s means %s', (cStat, situation, problems) => {
    const xml = nfeProc(undefined, protNFe(cStat))
    expect(document(xml).situation).toBe(situation)
    expect(codes(xml)).toEqual(problems)
  })

  test('without protocol it proves nothing', () => {
    expect(document(nfe())).toMatchObject({ root: 'NFe', situation: 'no-protocol' })
    expect(document(nfe()).protocol).toBe(undefined)
  })

  test('with the protocol of another chave neither', () => {
    const xml = nfeProc(undefined, protNFe('100', chCTe))
    expect(document(xml).situation).toBe('no-protocol')
    expect(document(xml).protocol).toBe(undefined)
    expect(codes(xml)).toEqual(['protocol-of-another-chave'])
  })

  test.each([
    ['135', chNFe, 'cancelled'],
    ['155', chNFe, 'cancelled'],
    ['573', chNFe, 'authorized'],
    ['135', chCTe, 'authorized'],
  ])('with an attached retEvento of cStat %s of chave %s it is %s', (cStat, chave, situation) => {
    const retEvento = `<retEvento><infEvento><cStat>${cStat}</cStat><chNFe>${chave}</chNFe><tpEvento>110111</tpEvento></infEvento></retEvento>`
    expect(document(nfeProc(undefined, protNFe() + retEvento)).situation).toBe(situation)
  })

  test('an old layout: dEmi, no namespace, a prefix', () => {
    const old = nfeProc(ideNFe.replace(/dhEmi>[^<]*<\/dhEmi/, 'dEmi>2013-02-22</dEmi') + emit + dest + total)
    expect(document(old.replace(/ xmlns="[^"]*"/g, '')).issuedAt).toBe('2013-02-22')
    const prefixed = old.replace(/<(\/?)/g, '<$1n:').replace(' xmlns=', ' xmlns:n=')
    expect(document(prefixed)).toMatchObject({ issuedAt: '2013-02-22', issuerTaxId: emitente, amount: '1500.00' })
  })

  test.each([
    ['an empty CNPJ', '<dest><CNPJ/><xNome>FOREIGN CO</xNome></dest>'],
    ['zeros', '<dest><CNPJ>00000000000000</CNPJ><xNome>FOREIGN CO</xNome></dest>'],
    ['idEstrangeiro', '<dest><idEstrangeiro>ABC123</idEstrangeiro><xNome>FOREIGN CO</xNome></dest>'],
    ['something that is no CNPJ', '<dest><CNPJ>123</CNPJ><xNome>FOREIGN CO</xNome></dest>'],
  ])('a destinatário with %s has no tax id', (_, group) => {
    const facts = document(nfeProc(ideNFe + emit + group + total))
    expect(facts).toMatchObject({ recipientTaxId: undefined, recipientName: 'FOREIGN CO' })
    expect(facts.parties).toHaveLength(1)
  })

  test('people have a CPF', () => {
    const group = '<dest><CNPJ/><CPF>11144477735</CPF><xNome>FULANO</xNome></dest>'
    expect(document(nfeProc(ideNFe + emit + group + total)).recipientTaxId).toBe('11144477735')
  })

  test('the emitente of an avulsa is in emit, not in the chave', () => {
    const avulsa = key(`312008${transportador}55890024455398156910061`)
    const xml = nfe(ideNFe + emit.replace(emitente, '33444555000181') + dest + total, avulsa)
    expect(document(xml).issuerTaxId).toBe('33444555000181')
  })

  test('the emitente of the chave stands in for one without number', () => {
    const nobody = emit.replace(/<CNPJ>.*<\/CNPJ>/, '')
    expect(document(nfeProc(ideNFe + nobody + total))).toMatchObject({ issuerTaxId: emitente, parties: [] })
    expect(codes(nfeProc(ideNFe + nobody + total))).toEqual(['issuer-missing'])
    const person = key('43180900011144477735559210000092111000010305'.slice(0, 43))
    expect(document(nfe(total, person)).issuerTaxId).toBe('11144477735')
  })

  test.each([
    ['a model 65', ideNFe.replace('<mod>55', '<mod>65') + emit + total, ['model-65']],
    ['another model', ideNFe.replace('<mod>55', '<mod>99') + emit + total, ['model']],
    ['no date', ideNFe.replace(/<dhEmi>.*<\/dhEmi>/, '') + emit + total, ['date-missing']],
    ['a date that does not exist', ideNFe.replace('2026-08-10', '2026-02-30') + emit + total, ['date-invalid']],
    ['no amount', ideNFe + emit, ['amount']],
    ['an amount with comma', ideNFe + emit + total.replace('.', ','), ['amount']],
  ])('%s is a problem, not an obstacle', (_, inside, problems) => {
    expect(read(nfeProc(inside)).facts.kind).toBe('document')
    expect(codes(nfeProc(inside))).toEqual(problems)
  })

  test('what is no date is left out, so that every date that is there is one', () => {
    for (const date of [
      '2026-02-30T00:00:00-03:00',
      '0000-01-01',
      '2026-08-10T24:00:00',
      '2026-08-10T09:15:07+99:00',
      'x',
    ]) {
      const xml = nfeProc().replaceAll(/(dhEmi|dhRecbto)>[^<]*</g, `$1>${date}<`)
      expect(codes(xml)).toEqual(['date-invalid', 'date-invalid'])
      expect(document(xml).issuedAt).toBe('')
      expect(document(xml).authorizedAt).toBe(undefined)
    }
  })

  test('a wrong check digit is a problem; what is no chave is no document', () => {
    const wrong = chNFe.slice(0, 43) + ((Number(chNFe[43]) + 1) % 10)
    expect(read(nfe(undefined, wrong))).toMatchObject({
      facts: { chave: wrong },
      problems: [{ code: 'chave-check-digit' }],
    })
    expect(read(nfe(undefined, 'X')).facts).toMatchObject({ kind: 'unknown', root: 'NFe' })
  })

  test('the chave comes from the protocol when the Id is missing', () => {
    expect(document(nfeProc().replace(/ Id="[^"]*"/, '')).chave).toBe(chNFe)
  })

  test('ISO-8859-1', () => {
    const xml = `<?xml version="1.0" encoding="ISO-8859-1"?>${nfeProc().replace('FORNECEDOR', 'AÇÚCAR')}`
    const { facts } = readReceived(Uint8Array.from(xml, (c) => c.charCodeAt(0)))
    expect(facts).toMatchObject({ issuerName: 'AÇÚCAR & CIA' })
  })

  test('bytes that are not UTF-8 and entities that nobody declared are read, and told', () => {
    const xml = nfeProc()
      .replace('FORNECEDOR', 'AÇÚCAR')
      .replace('</infProt>', '</infProt><Signature>&null;</Signature>')
    const { facts, problems } = readReceived(Buffer.from(xml, 'latin1'))
    expect(facts).toMatchObject({ issuerName: 'AÇÚCAR & CIA', situation: 'authorized' })
    expect(problems.map(({ code }) => code)).toEqual(['xml-encoding', 'xml-entity'])
    expect(readDetails(Buffer.from(xml, 'latin1'))?.problems).toEqual(problems)
  })
})

describe('resNFe', () => {
  const resNFe = (cSitNFe: string) =>
    `<resNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><chNFe>${chNFe}</chNFe><CNPJ>${emitente}</CNPJ><xNome>FORNECEDOR</xNome><IE/><dhEmi>2026-08-10T09:15:00-03:00</dhEmi><tpNF>1</tpNF><vNF>1500</vNF><digVal>WB7j=</digVal><dhRecbto>2026-08-10T09:15:07-03:00</dhRecbto><nProt>135260001234567</nProt><cSitNFe>${cSitNFe}</cSitNFe></resNFe>`

  test('has número, série and model from the chave', () => {
    expect(read(resNFe('1'), 'resNFe_v1.01.xsd')).toEqual({
      problems: [],
      facts: {
        kind: 'document',
        type: 'nfe',
        root: 'resNFe',
        complete: false,
        chave: chNFe,
        mod: '55',
        serie: 1,
        numero: 12345,
        issuedAt: '2026-08-10T09:15:00-03:00',
        authorizedAt: '2026-08-10T09:15:07-03:00',
        protocol: '135260001234567',
        issuerTaxId: emitente,
        issuerName: 'FORNECEDOR',
        issuerUf: 'SP',
        amount: '1500',
        parties: [{ role: 0, taxId: emitente, name: 'FORNECEDOR' }],
        tpAmb: '',
        tpNF: '1',
        situation: 'authorized',
        digest: 'WB7j=',
      },
    })
  })

  test('has its situation from cSitNFe', () => {
    expect(['1', '2', '3'].map((cSit) => document(resNFe(cSit)).situation)).toEqual([
      'authorized',
      'denied',
      'cancelled',
    ])
  })
})

describe('CT-e', () => {
  const party = (name: string, cnpj: string) =>
    `<${name}><CNPJ>${cnpj}</CNPJ><xNome>${name.toUpperCase()}</xNome></${name}>`
  const rem = party('rem', '11222333000181')
  const exped = party('exped', '33444555000181')
  const receb = party('receb', '00000000000191')
  const destCTe = party('dest', empresa)
  const ide = (toma: string, mod = '57') =>
    `<ide><mod>${mod}</mod><serie>1</serie><nCT>9876</nCT><dhEmi>2026-08-11T13:50:00-03:00</dhEmi><tpAmb>1</tpAmb>${toma}</ide>`
  const issuer = `<emit><CNPJ>${transportador}</CNPJ><IE>1</IE><xNome>TRANSPORTES</xNome><enderEmit><UF>PR</UF></enderEmit></emit>`
  const vPrest = '<vPrest><vTPrest>221.19</vTPrest></vPrest>'
  const protCTe = `<protCTe><infProt><chCTe>${chCTe}</chCTe><dhRecbto>2026-08-11T13:50:04-03:00</dhRecbto><nProt>141260000765432</nProt><cStat>100</cStat></infProt></protCTe>`
  const proc = (inside: string, [root, name] = ['cteProc', 'CTe']) =>
    `<${root} xmlns="http://www.portalfiscal.inf.br/cte"><${name}><infCte Id="CTe${chCTe}">${inside}</infCte></${name}>${protCTe}</${root}>`
  const tomador = (inside: string, names?: [string, string]) =>
    document(proc(inside, names)).parties.find(({ role }) => role === 7)?.taxId

  test('its facts', () => {
    const facts = document(proc(ide('<toma3><toma>3</toma></toma3>') + issuer + rem + exped + receb + destCTe + vPrest))
    expect(facts).toMatchObject({
      type: 'cte',
      root: 'cteProc',
      mod: '57',
      numero: 9876,
      issuerTaxId: transportador,
      issuerUf: 'PR',
      recipientTaxId: empresa,
      recipientName: 'DEST',
      amount: '221.19',
      situation: 'authorized',
      protocol: '141260000765432',
    })
    expect(facts.parties.map(({ role, taxId }) => `${role} ${taxId}`)).toEqual([
      `0 ${transportador}`,
      `7 ${empresa}`,
      '4 11222333000181',
      `1 ${empresa}`,
      '5 33444555000181',
      '6 00000000000191',
    ])
  })

  test.each([
    ['toma3', '0', '11222333000181'],
    ['toma3', '1', '33444555000181'],
    ['toma03', '2', '00000000000191'],
    ['toma03', '3', empresa],
    ['toma3', '9', undefined],
    ['toma3', 'constructor', undefined],
  ])('tomador of %s %s', (group, code, taxId) => {
    const inside = ide(`<${group}><toma>${code}</toma></${group}>`) + issuer + rem + exped + receb + destCTe + vPrest
    expect(tomador(inside)).toBe(taxId)
  })

  test('tomador of toma4 is the one written there', () => {
    const inside = ide(`<toma4><toma>4</toma><CPF>11144477735</CPF><xNome>X</xNome></toma4>`) + issuer + rem + vPrest
    expect(tomador(inside)).toBe('11144477735')
  })

  test('tomador is unknown when the party pointed at is absent or abroad', () => {
    expect(tomador(ide('<toma3><toma>1</toma></toma3>') + issuer + rem + vPrest)).toBe(undefined)
    expect(tomador(`${ide('<toma3><toma>3</toma></toma3>') + issuer}<dest><CNPJ/></dest>${vPrest}`)).toBe(undefined)
  })

  test('CT-e OS: the group toma, no recipient', () => {
    const inside = `${ide('', '67') + issuer}<toma><CNPJ>${empresa}</CNPJ><xNome>X</xNome></toma>${vPrest}`
    expect(tomador(inside, ['cteOSProc', 'CTeOS'])).toBe(empresa)
    expect(document(proc(inside, ['cteOSProc', 'CTeOS']))).toMatchObject({
      mod: '67',
      recipientTaxId: undefined,
      amount: '221.19',
    })
  })

  test.each(['cteSimpProc', 'cteProcSimp'])('CT-e Simplificado in %s: its own tomador, its own total', (root) => {
    const names: [string, string] = [root, 'CTeSimp']
    const inside = `${ide('') + issuer}<toma><toma>0</toma><CNPJ>${empresa}</CNPJ></toma><total><vTPrest>10.5</vTPrest></total>`
    expect(tomador(inside, names)).toBe(empresa)
    expect(read(proc(inside, names), 'procCTeSimp_v4.00.xsd')).toMatchObject({
      facts: { root, amount: '10.5', situation: 'authorized' },
      problems: [],
    })
  })

  test('GTV-e: its own scale of tomador, no amount', () => {
    const names: [string, string] = ['GTVeProc', 'GTVe']
    const inside = (toma: string) => ide(toma, '64') + issuer + rem + destCTe
    expect(tomador(inside('<toma><toma>0</toma></toma>'), names)).toBe('11222333000181')
    expect(tomador(inside('<toma><toma>1</toma></toma>'), names)).toBe(empresa)
    const third = `<tomaTerceiro><toma>4</toma><CNPJ>33444555000181</CNPJ></tomaTerceiro>`
    expect(tomador(inside(third), names)).toBe('33444555000181')
    expect(read(proc(inside(third), names))).toMatchObject({ facts: { mod: '64', amount: '0' }, problems: [] })
  })

  test('a CTe without protocol', () => {
    const bare = `<CTe><infCte Id="CTe${chCTe}">${ide('') + issuer + vPrest}</infCte></CTe>`
    expect(document(bare)).toMatchObject({ root: 'CTe', situation: 'no-protocol' })
  })
})

describe('events', () => {
  const nfeEvent = (tpEvento: string, detEvento: string, answer?: string) =>
    `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento Id="ID${tpEvento}${chNFe}01"><cOrgao>91</cOrgao><tpAmb>1</tpAmb><CNPJ>${empresa}</CNPJ><chNFe>${chNFe}</chNFe><dhEvento>2026-08-11T08:30:00-03:00</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00">${detEvento}</detEvento></infEvento></evento>${answer ?? '<retEvento><infEvento><cOrgao>91</cOrgao><cStat>135</cStat><xEvento>Registrado</xEvento><dhRegEvento>2026-08-11T08:30:04-03:00</dhRegEvento><nProt>891260000054321</nProt></infEvento></retEvento>'}</procEventoNFe>`
  const cteEvent = (group: string) =>
    `<procEventoCTe versao="4.00"><eventoCTe xmlns="http://www.portalfiscal.inf.br/cte"><infEvento Id="ID1"><cOrgao>41</cOrgao><CNPJ>${empresa}</CNPJ><chCTe>${chCTe}</chCTe><dhEvento>2026-08-12T09:00:00-03:00</dhEvento><tpEvento>610110</tpEvento><nSeqEvento>001</nSeqEvento><detEvento versaoEvento="4.00">${group}</detEvento></infEvento></eventoCTe><retEventoCTe><infEvento><cStat>134</cStat><xEvento>Desacordo</xEvento></infEvento></retEventoCTe></procEventoCTe>`

  test('of an NF-e', () => {
    const xml = nfeEvent('210240', '<descEvento>Operacao nao Realizada</descEvento><xJust>MERCADORIA RECUSADA</xJust>')
    expect(read(xml, 'procEventoNFe_v1.00.xsd')).toEqual({
      problems: [],
      facts: {
        kind: 'event',
        type: 'nfe',
        root: 'procEventoNFe',
        summary: false,
        registration: 'registered',
        chave: chNFe,
        tpEvento: 210240,
        nSeqEvento: 1,
        cOrgao: '91',
        authorTaxId: empresa,
        dhEvento: '2026-08-11T08:30:00-03:00',
        registeredAt: '2026-08-11T08:30:04-03:00',
        protocol: '891260000054321',
        cStat: '135',
        description: 'Operacao nao Realizada',
        justification: 'MERCADORIA RECUSADA',
      },
    })
  })

  test('of a CT-e: the description and the reason inside the specific group', () => {
    const xml = cteEvent(
      '<evPrestDesacordo><descEvento>Prestacao do Servico em Desacordo</descEvento><xObs>FRETE DIVERGE</xObs></evPrestDesacordo>',
    )
    expect(event(xml)).toMatchObject({
      type: 'cte',
      chave: chCTe,
      nSeqEvento: 1,
      cStat: '134',
      description: 'Prestacao do Servico em Desacordo',
      justification: 'FRETE DIVERGE',
    })
  })

  test('a carta de correção of an NF-e is text, of a CT-e a list', () => {
    expect(
      event(nfeEvent('110110', '<xCorrecao>CORRIGIR O PESO</xCorrecao><xCondUso>A</xCondUso>')).justification,
    ).toBe('CORRIGIR O PESO')
    const correction = (field: string, item = '') =>
      `<infCorrecao><grupoAlterado>ide</grupoAlterado><campoAlterado>${field}</campoAlterado><valorAlterado>V ${field}</valorAlterado>${item}</infCorrecao>`
    const list = correction('cfop') + correction('natOp', '<nroItemAlterado>2</nroItemAlterado>')
    expect(event(cteEvent(`<evCCeCTe>${list}<xCondUso>A</xCondUso></evCCeCTe>`)).justification).toBe(
      'ide/cfop: V cfop; ide/natOp[2]: V natOp',
    )
  })

  test('the description falls back to xEvento, then to the table', () => {
    expect(event(cteEvent('<evNovo/>')).description).toBe('Desacordo')
    expect(event(nfeEvent('610600', '', '')).description).toBe('CT-e Autorizado')
    expect(event(nfeEvent('999999', '', '')).description).toBe('')
  })

  test('without registration, or with a refusal, there is a problem', () => {
    expect(codes(nfeEvent('210210', '', ''))).toEqual(['event-not-registered'])
    const refused = '<retEvento><infEvento><cStat>594</cStat></infEvento></retEvento>'
    expect(codes(nfeEvent('210210', '', refused))).toEqual(['event-not-registered'])
    expect(event(nfeEvent('210210', '', refused))).toMatchObject({ cStat: '594', registration: 'none' })
  })

  test('a statement of duplicity tells that the event is registered, and in brackets when and how', () => {
    const stated = (xMotivo: string) =>
      nfeEvent(
        '210210',
        '',
        `<retEvento><infEvento><cStat>573</cStat><xMotivo>${xMotivo}</xMotivo><dhRegEvento>2026-08-20T10:00:00-03:00</dhRegEvento></infEvento></retEvento>`,
      )
    const told = stated(
      'Rejeicao: Duplicidade de evento [nProt:891260000054321][dhRegEvento: 2026-08-11T08:30:04-03:00]',
    )
    expect(codes(told)).toEqual([])
    expect(event(told)).toMatchObject({
      registration: 'duplicate',
      protocol: '891260000054321',
      registeredAt: '2026-08-11T08:30:04-03:00',
    })
    expect(event(stated('Rejeicao: Duplicidade de evento'))).toMatchObject({
      registration: 'duplicate',
      protocol: undefined,
      registeredAt: undefined,
    })
    expect(codes(stated('Duplicidade [dhRegEvento:11/08/2026]'))).toEqual([])
    const ofCte = cteEvent('').replace(
      '<cStat>134</cStat>',
      '<cStat>631</cStat><xMotivo>[nProt:141260000799999]</xMotivo>',
    )
    expect(event(ofCte)).toMatchObject({ registration: 'duplicate', protocol: '141260000799999' })
  })

  test.each([
    [
      '110001',
      '<tpEventoAut>211110</tpEventoAut><nProtEvento>135260000000001</nProtEvento>',
      211110,
      '135260000000001',
    ],
    ['110001', '<x:nProtEvento xmlns:x="y">135260000000001</x:nProtEvento>', undefined, '135260000000001'],
    ['110001', '', undefined, undefined],
    ['110131', '<nProtEvento>135260000000001</nProtEvento>', 110130, '135260000000001'],
    ['111502', '<idPedidoCancelado>ID</idPedidoCancelado><nProt>135260000000001</nProt>', 111500, '135260000000001'],
    // Here it is the protocol of the CT-e that was delivered.
    ['610131', '<nProtCTeCanc>135260000000001</nProtCTeCanc>', 610130, undefined],
  ])('%s with %s says what it takes back', (tpEvento, detEvento, code, protocol) => {
    expect(event(nfeEvent(tpEvento, detEvento)).undoes).toEqual({ tpEvento: code, protocol })
  })

  test.each([
    ['610111', '<evCancPrestDesacordo><nProtEvPrestDes>1</nProtEvPrestDes></evCancPrestDesacordo>', 610110],
    ['110181', '<evCancCECTe><nProt>9</nProt><nProtCE>1</nProtCE></evCancCECTe>', 110180],
    ['110191', '<evCancIECTe><nProt>9</nProt><nProtIE>1</nProtIE></evCancIECTe>', 110190],
    ['110301', '<evCancVincPgto><nProt>9</nProt><nProtVincPgto>1</nProtVincPgto></evCancVincPgto>', 110300],
  ])('%s of a CT-e names the protocol inside its group', (tpEvento, group, code) => {
    const xml = cteEvent(group).replace('<tpEvento>610110', `<tpEvento>${tpEvento}`)
    expect(event(xml).undoes).toEqual({ tpEvento: code, protocol: '1' })
  })

  test('an event that undoes nothing says so', () => {
    expect(event(nfeEvent('110111', '<nProt>135260000000001</nProt>')).undoes).toBe(undefined)
  })

  test('a registration without retEventoCTe around it, as in CT-e 2.00', () => {
    const xml = cteEvent('<evCCeCTe/>').replace(/<\/?retEventoCTe>/g, '')
    expect(event(xml)).toMatchObject({ cStat: '134', dhEvento: '2026-08-12T09:00:00-03:00' })
  })

  test('resEvento', () => {
    const xml = `<resEvento versao="1.01" xmlns="http://www.portalfiscal.inf.br/nfe"><cOrgao>91</cOrgao><CNPJ>33683111000107</CNPJ><chNFe>${chNFe}</chNFe><dhEvento>2026-08-11T14:02:10-03:00</dhEvento><tpEvento>610600</tpEvento><nSeqEvento>1</nSeqEvento><xEvento>Registro de Autoriza&#231;&#227;o de CT-e</xEvento><dhRecbto>2026-08-11T14:02:15-03:00</dhRecbto><nProt>891260000012345</nProt></resEvento>`
    expect(read(xml)).toEqual({
      problems: [],
      facts: {
        kind: 'event',
        type: 'nfe',
        root: 'resEvento',
        summary: true,
        registration: 'registered',
        chave: chNFe,
        tpEvento: 610600,
        nSeqEvento: 1,
        cOrgao: '91',
        authorTaxId: '33683111000107',
        dhEvento: '2026-08-11T14:02:10-03:00',
        registeredAt: '2026-08-11T14:02:15-03:00',
        protocol: '891260000012345',
        description: 'Registro de Autorização de CT-e',
      },
    })
  })

  test.each([
    ['no infEvento', '<procEventoNFe/>'],
    ['no chave', '<evento><infEvento><tpEvento>1</tpEvento></infEvento></evento>'],
    ['no tpEvento', `<resEvento><chNFe>${chNFe}</chNFe></resEvento>`],
  ])('with %s are unknown', (_, xml) => {
    expect(read(xml).facts).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(/\.$/) })
  })
})

describe('anything else', () => {
  test.each([
    ['another document', '<mdfeProc/>', 'O arquivo é um MDF-e.'],
    ['a new document', '<xyzProc/>', 'O arquivo começa por <xyzProc>, que não é NF-e, CT-e nem evento deles.'],
    [
      'a name of Object.prototype',
      '<constructor/>',
      'O arquivo começa por <constructor>, que não é NF-e, CT-e nem evento deles.',
    ],
    ['an empty nfeProc', '<nfeProc/>', 'O arquivo não traz a NF-e (grupo infNFe).'],
    ['an empty cteProc', '<cteProc/>', 'O arquivo não traz o CT-e (grupo infCte).'],
  ])('%s is unknown', (_, xml, reason) => {
    expect(read(xml).facts).toEqual({ kind: 'unknown', root: xml.slice(1, -2), reason })
  })

  test('namespace and root decide together, the root alone without a namespace', () => {
    const infEvento = `<infEvento><chNFe>${chNFe}</chNFe><tpEvento>110111</tpEvento></infEvento>`
    const evento = (namespace: string) => read(`<evento${namespace}>${infEvento}</evento>`).facts
    expect(evento('')).toMatchObject({ kind: 'event', type: 'nfe', tpEvento: 110111 })
    expect(evento(' xmlns=""')).toMatchObject({ kind: 'event', type: 'nfe' })
    expect(evento(' xmlns="http://www.portalfiscal.inf.br/nfe"')).toMatchObject({ kind: 'event', type: 'nfe' })
    expect(evento(' xmlns="http://www.sped.fazenda.gov.br/nfse"')).toEqual({
      kind: 'unknown',
      root: 'evento',
      reason: 'O arquivo é um evento de NFS-e.',
    })
    const strange = `<n:nfeProc xmlns:n="http://www.portalfiscal.inf.br/cte">${nfe()}</n:nfeProc>`
    expect(read(strange).facts).toMatchObject({
      kind: 'unknown',
      reason: 'O arquivo começa por <nfeProc>, mas o seu namespace é de outro tipo de documento.',
    })
    // The NF-e inside a CT-e must not be read.
    const both = `<cteProc xmlns="http://www.portalfiscal.inf.br/cte">${nfe()}<CTe><infCte/></CTe></cteProc>`
    expect(readDetails(new TextEncoder().encode(both))?.type).toBe('cte')
  })

  test('what is not XML is unknown', () => {
    for (const xml of ['', 'PK\u0003\u0004', '<nfeProc>', '<!DOCTYPE a><a/>', nfeProc().slice(0, -20)]) {
      expect(read(xml).facts).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('XML bem formado') })
    }
  })

  test('its own chave is found in the bytes, never a wrong or a foreign one', () => {
    expect(findOwnKey(nfeProc().slice(0, 200))).toBe(chNFe)
    expect(findOwnKey(`<x:chCTe>${chCTe}</x:chCTe>`)).toBe(chCTe)
    const wrong = chNFe.replace(/.$/, (digit) => String((Number(digit) + 1) % 10))
    expect(findOwnKey(`<a Id="NFe${wrong}"/><chNFe>${chNFe}</chNFe>`)).toBe(chNFe)
    for (const xml of [`<refNFe>${chNFe}</refNFe>`, `Id="NFe${chNFe}1"`, `<chNFe>${wrong}`])
      expect(findOwnKey(xml)).toBeNull()
  })

  test('what is too large is unknown', () => {
    expect(readReceived(new Uint8Array(20_000_001)).facts).toEqual({
      kind: 'unknown',
      reason: 'O arquivo tem mais de 20 MB.',
    })
  })

  test('a schema that announces something else is a problem', () => {
    expect(read(nfeProc(), 'procNFe_v4.00.xsd').problems).toEqual([])
    expect(read(nfeProc(), 'procXyz_v1.00.xsd').problems).toEqual([])
    expect(read(nfeProc(), 'resNFe_v1.01.xsd').problems).toMatchObject([{ code: 'schema-differs' }])
  })

  test('no bytes make it throw', () => {
    const xml = nfeProc()
    fc.assert(
      fc.property(fc.nat({ max: xml.length }), fc.nat({ max: 40 }), fc.string({ maxLength: 10 }), (at, cut, piece) => {
        expect(read(xml.slice(0, at) + piece + xml.slice(at + cut)).facts.kind).toMatch(/document|unknown/)
      }),
      { numRuns: runs(500) },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readReceived(bytes)))
  })
})
