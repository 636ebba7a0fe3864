import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CteDetails, type NfeDetails, readDetails } from '@vigia/dfe/read'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../../../tests/support/samples.ts'
import { runs } from '../../../../tests/support/seed.ts'
import { cteItems, cteSections } from './cte-texts.ts'
import { nfeItems, nfeSections } from './nfe-texts.ts'
import { reformOf } from './reform-texts.ts'
import type { Section } from './texts.ts'

const read = (xml: string) => readDetails(new TextEncoder().encode(xml))!
const sectionsOf = (said: NfeDetails | CteDetails) => (said.type === 'nfe' ? nfeSections(said) : cteSections(said))
const itemsOf = (said: NfeDetails | CteDetails) => (said.type === 'nfe' ? nfeItems(said) : cteItems(said))
/** Section by section, "label: value". */
const told = (sections: Section[]) =>
  Object.fromEntries(
    sections.map(({ titulo, campos }) => [
      titulo,
      campos.map(({ rotulo, valor }) => `${rotulo}: ${valor.replace(/\u00a0/g, ' ')}`),
    ]),
  )

const folder = findSamples()
const samples = folder
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.xml'))
  : []

function expectReadable(said: NfeDetails | CteDetails, about: string): void {
  const sections = sectionsOf(said)
  expect(new Set(sections.map(({ titulo }) => titulo)).size, about).toBe(sections.length)
  for (const { rotulo, valor } of sections.flatMap(({ campos }) => campos)) {
    expect(rotulo, about).toMatch(/\S/)
    expect(valor, about).toMatch(/\S/)
    expect(`${rotulo} ${valor}`, about).not.toMatch(/\bundefined\b|\bNaN\b|\bnull\b/)
  }
  for (const item of itemsOf(said)) expect(Object.values(item).join(), about).not.toMatch(/\bundefined\b|\bNaN\b/)
  expect(JSON.stringify(reformOf(said)), about).not.toMatch(/\bundefined\b|\bNaN\b|: ?,|, ?,/)
}

describe.runIf(samples.length > 0)('every sample', () => {
  test('is told in whole words', () => {
    for (const file of samples) {
      const said = readDetails(readFileSync(join(folder!, file)))
      if (said) expectReadable(said, file)
    }
  })

  test('an NF-e with duplicatas', () => {
    const said = told(sectionsOf(readDetails(readFileSync(join(folder!, 'nfe/procNFe-nfref-duplicatas.xml')))!))
    expect(said).toMatchObject({
      Identificação: expect.arrayContaining(['Número: 6.256', 'Emissão: 20/08/2020 08:10', 'Tipo: Saída']),
      Emitente: expect.arrayContaining([
        'CNPJ ou CPF: 99.339.921/0001-40',
        'Endereço: Rua Ficticia 149, S/N, Bairro Ficticio, URUBICI/SC, 88650-000',
      ]),
      Totais: [
        'Produtos: R$ 701,11',
        'Frete: R$ 0,00',
        'Desconto: R$ 0,00',
        'ICMS: R$ 0,00',
        'Base de cálculo do ICMS ST: R$ 1.900,71',
        'ICMS ST: R$ 257,99',
        'IPI: R$ 0,00',
        'Total da nota: R$ 959,10',
      ],
      Cobrança: [
        'Fatura: 6256',
        'Valor original: R$ 959,10',
        'Valor líquido: R$ 959,10',
        'Duplicata 001: vence em 19/09/2020, R$ 959,10',
        'Pagamento: Outros, R$ 959,10',
      ],
      Transporte: expect.arrayContaining([
        'Frete: Por conta do remetente (CIF)',
        'Transportadora: TRANSPORTADORA SIMULADA 0126 LTDA EPP',
        'Volumes: 5 Caixas, peso bruto 21,000 kg, peso líquido 19,000 kg',
      ]),
    })
  })

  test('an NF-e with the taxes of the reform', () => {
    const said = readDetails(readFileSync(join(folder!, 'nfe/procNFe-ibscbs-nota-credito-recusa.xml')))!
    expect(told(sectionsOf(said)).Totais).toEqual(
      expect.arrayContaining(['Base de cálculo do IBS e da CBS: R$ 1.295,00', 'IBS: R$ 0,52', 'CBS: R$ 4,66']),
    )
    expect(told(sectionsOf(said)).Identificação).toContain('Finalidade: Nota de crédito')
    expect(itemsOf(said)[0]).toEqual({
      numero: 1,
      codigo: '03280',
      descricao: 'ATRAZINA ACLAMADOBR 20LTS-ONU 3082',
      quantidade: '1',
      unidade: 'BD',
      valorUnitario: 'R$\u00a01.000,00',
      valor: 1000,
      detalhe: 'NCM 3808.93.23 · CFOP 1102 · IBS R$\u00a00,40 · CBS R$\u00a03,60',
    })
  })

  test('a CT-e that replaces another one', () => {
    const said = readDetails(readFileSync(join(folder!, 'cte/procCTe-4.00-substituicao.xml')))!
    expect(told(sectionsOf(said))).toMatchObject({
      Identificação: expect.arrayContaining(['Tipo: Substituição', 'Serviço: Normal', 'Modal: Rodoviário']),
      'Remetente (paga o frete)': expect.arrayContaining(['CNPJ ou CPF: 99.928.579/0001-14']),
      Rota: ['Início: PARANAVAI/PR', 'Término: XXX XXXX XX XXXXXX/RJ'],
      Carga: [
        'Produto predominante: MOVEIS',
        'Valor da carga: R$ 6.252,96',
        'PESO BRUTO: 320 kg',
        'UNIDADE: 1 unidade',
      ],
      'Valores do frete': ['Total do serviço: R$ 50,00', 'A receber: R$ 50,00', 'ICMS: Simples Nacional'],
    })
    expect(itemsOf(said)).toMatchObject([{ descricao: 'FRETE VALOR', valor: 50 }])
  })

  test.each([
    ['cte/procCTe-simplificado-4.00-1-det.xml', 'Tomador (paga o frete)', 'xMunIni1 → xMunFim1'],
    ['cte/procCTe-os-4.00-transporte-valores.xml', 'Tomador (paga o frete)', 'FRET.INTERMUNIC'],
    ['cte/procCTe-v1.04-complementar.xml', 'Remetente (paga o frete)', 'TRANSPORTE'],
  ])('%s: who pays, and for what', (file, title, description) => {
    const said = readDetails(readFileSync(join(folder!, file)))!
    expect(sectionsOf(said).map((section) => section.titulo)).toContain(title)
    expect(itemsOf(said)[0]).toMatchObject({ descricao: description })
  })
})

test('bills of the same name are all told', () => {
  const dup = '<dup><nDup>001</nDup><dVenc>2026-12-01</dVenc><vDup>10.00</vDup></dup>'
  const said = read(`<NFe><infNFe><cobr>${dup}${dup}</cobr></infNFe></NFe>`)
  expect(told(sectionsOf(said)).Cobrança).toHaveLength(2)
})

test('what a document does not say leaves no line', () => {
  expect(sectionsOf(read('<NFe><infNFe/></NFe>'))).toEqual([])
  expect(sectionsOf(read('<CTe><infCte/></CTe>'))).toEqual([])
})

// Anything in the place of anything: codes that are none, dates that are none, amounts that are texts.
const text = fc.oneof(
  fc.constantFrom('0', '1', '99', '1.00', '-5', '2026-02-30', 'T', '1e999', 'constructor'),
  fc.string(),
)
const leaf = (name: string) => text.map((value) => `<${name}>${value.replace(/[^\p{L}\p{N} .,:-]/gu, '')}</${name}>`)
const group = (name: string, fields: string) =>
  fc
    .tuple(...fields.split(' ').map((field) => fc.option(leaf(field), { nil: '' })))
    .map((all) => `<${name}>${all.join('')}</${name}>`)

test('no content is told in broken words, and none throws', () => {
  const note = fc
    .tuple(
      group('ide', 'natOp nNF dhEmi dEmi dhSaiEnt dSaiEnt hSaiEnt tpNF finNFe tpAmb'),
      group('emit', 'CNPJ CPF xNome xFant fone CEP UF xMun'),
      group('det', 'infAdProd'),
      group('prod', 'cProd xProd NCM CFOP qCom vUnCom vProd vDesc'),
      group('ICMSTot', 'vProd vNF vFrete vICMS vIPI'),
      group('dup', 'nDup dVenc vDup'),
      group('vol', 'qVol esp pesoB pesoL'),
    )
    .map(
      ([ide, emit, det, prod, total, dup, vol]) =>
        `<NFe><infNFe>${ide}${emit}${det.replace('</det>', `${prod}</det>`)}<total>${total}</total><transp>${vol}</transp><cobr>${dup}</cobr></infNFe></NFe>`,
    )
  const carriage = fc
    .tuple(
      group('ide', 'natOp nCT dhEmi tpCTe tpServ modal xMunIni UFIni retira xDetRetira'),
      group('vPrest', 'vTPrest vRec'),
      group('infQ', 'cUnid tpMed qCarga'),
      group('comData', 'dProg hProg hIni'),
      group('infEspecie', 'tpEspecie tpNumerario vEspecie'),
    )
    .map(
      ([ide, prest, infQ, when, species]) =>
        `<CTe><infCte>${ide}${prest}<compl><Entrega>${when}</Entrega></compl><infCarga>${infQ}</infCarga><detGTV>${species}</detGTV></infCte></CTe>`,
    )
  fc.assert(
    fc.property(fc.oneof(note, carriage), (xml) => expectReadable(read(xml), xml)),
    { numRuns: runs(600) },
  )
})
