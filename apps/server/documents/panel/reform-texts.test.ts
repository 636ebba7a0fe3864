import type { Reform } from '@vigia/contract/documents'
import { readDetails } from '@vigia/dfe/read'
import { describe, expect, test } from 'vitest'
import { cteProc, evento, nfeProc, resNFe } from '../testing.ts'
import { eventText } from './event-texts.ts'
import { reformOf } from './reform-texts.ts'

const bytes = (xml: string) => new TextEncoder().encode(xml)
const said = (xml: string): Reform | null => reformOf(readDetails(bytes(xml))!)

const item = (nItem: number, groups = '') =>
  `<det nItem="${nItem}"><prod><cProd>A</cProd><xProd>PAPEL</xProd><vProd>100.00</vProd></prod><imposto>${groups}</imposto></det>`
const taxed = (options: { cst?: string; rate?: string; more?: string } = {}) => {
  const { cst = '000', rate = '0.9000', more = '' } = options
  return `<IBSCBS><CST>${cst}</CST><cClassTrib>${cst}001</cClassTrib><gIBSCBS><vBC>100.00</vBC><gIBSUF><pIBSUF>0.1000</pIBSUF>${more}<vIBSUF>0.10</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun></gIBSMun><vIBS>0.10</vIBS><gCBS><pCBS>${rate}</pCBS><vCBS>0.90</vCBS></gCBS></gIBSCBS></IBSCBS>`
}
const note = (dets: string, { CRT = '3', finNFe = '1', ...options } = {} as Record<string, string>) =>
  nfeProc(options)
    .replace('</ide>', `<finNFe>${finNFe}</finNFe></ide>`)
    .replace('</emit>', `<CRT>${CRT}</CRT></emit>`)
    .replace('<total>', `${dets}<total>`)
const plain = (text: string) => text.replace(/\u00a0/g, ' ')

describe('whether a document has IBS and CBS', () => {
  test.each([
    ['all items have it', note(item(1, taxed())), 'com'],
    ['one of two has it', note(item(1, taxed()) + item(2)), 'parcial'],
    ['the normal regime without it', note(item(1)), 'sem'],
    ['Simples without it', note(item(1), { CRT: '1' }), 'dispensado'],
    ['MEI without it', note(item(1), { CRT: '4' }), 'dispensado'],
    ['a summary', resNFe(), 'so-resumo'],
    ['a CT-e without it', cteProc(), 'sem'],
  ])('%s', (_, xml, presence) => {
    expect(said(xml)?.presenca).toBe(presence)
  })

  test('nothing is said of a document before 2026 that says nothing', () => {
    expect(said(note(item(1), { issuedAt: '2025-12-31T10:00:00-03:00' }))).toBeNull()
    expect(said(resNFe({ issuedAt: '2025-12-31T10:00:00-03:00' }))).toBeNull()
  })
})

test('values of 2026 are called informative, and of a test before it too', () => {
  expect(said(note(item(1, taxed())))?.aviso).toMatch(
    /^2026 é ano-teste: os valores são informativos, não geram débito nem crédito/,
  )
  expect(said(note(item(1, taxed()), { issuedAt: '2025-11-10T10:00:00-03:00' }))?.aviso).toMatch(/anterior a 2026/)
})

test('an item says its codes, base, rates, reductions, deferral and values', () => {
  const more =
    '<gDif><pDif>50.0000</pDif><vDif>0.05</vDif></gDif><gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>0.0400</pAliqEfet></gRed>'
  const [first] = said(note(item(1, taxed({ cst: '200', more }))))!.itens
  expect(first).toMatchObject({ numero: 1, descricao: 'PAPEL', CST: '200', cClassTrib: '200001' })
  expect([first!.base, first!.ibsEstado, first!.ibsMunicipio, first!.cbs].map(plain)).toEqual([
    'R$ 100,00',
    'R$ 0,10',
    'R$ 0,00',
    'R$ 0,90',
  ])
  expect(first!.campos.map(({ rotulo, valor }) => plain(`${rotulo}: ${valor}`))).toEqual([
    'IBS do estado: 0,1%, redução de 60%, alíquota efetiva de 0,04%, diferimento de R$ 0,05 (50%)',
    'IBS do município: 0%',
    'CBS: 0,9%',
  ])
})

test('a code outside the table is said with the day of the table, and findings come in words', () => {
  const { itens, achados } = said(note(item(1, taxed({ cst: '999' }))))!
  expect(itens[0]!.campos[0]).toEqual({ rotulo: 'Código', valor: 'fora da tabela de 08/10/2026' })
  expect(achados.map(({ codigo }) => codigo)).toEqual(['rt-codigo'])
  expect(said(note(item(1, taxed({ rate: '8.8000' }))))!.achados[0]!.frase).toMatch(/pCBS de 8,8/)
})

test('a nota de crédito says why it was written', () => {
  const xml = note(item(1, taxed()), { finNFe: '5' }).replace('<finNFe>', '<tpNFCredito>04</tpNFCredito><finNFe>')
  expect(said(xml)!.totais).toContainEqual({ rotulo: 'Finalidade', valor: 'Nota de crédito: redução de valores' })
})

describe('an event of the reform', () => {
  const text = (code: number, detail: string) => plain(eventText(bytes(evento(code, { detail }))) ?? '')

  test('the answer to a nota de crédito', () => {
    expect(text(211128, '<indAceitacao>1</indAceitacao>')).toBe(
      'O destinatário aceitou o débito desta nota de crédito na apuração dele.',
    )
    expect(text(211128, '<indAceitacao>0</indAceitacao>')).toMatch(/não aceitou/)
  })

  test('items with values and quantities, which 2026 makes informative', () => {
    const group = (nItem: number) =>
      `<gImobilizacao nItem="${nItem}"><vIBS>1.00</vIBS><vCBS>9.00</vCBS><gControleEstoque><qImobilizado>2.0000</qImobilizado><uImobilizado>UN</uImobilizado></gControleEstoque></gImobilizacao>`
    expect(text(211130, group(1) + group(3)).split('\n')).toEqual([
      'Itens que passaram ao ativo imobilizado.',
      'Item 1: IBS R$ 1,00, CBS R$ 9,00, 2 UN',
      'Item 3: IBS R$ 1,00, CBS R$ 9,00, 2 UN',
      expect.stringMatching(/^2026 é ano-teste/),
    ])
    // The year of the note counts, not that of its event.
    const later = evento(211130, { detail: group(1), at: '2027-01-05T10:00:00-03:00' })
    expect(eventText(bytes(later))).toMatch(/2026 é ano-teste/)
    const many = Array.from({ length: 990 }, (_, index) => group(index + 1)).join('')
    expect(text(211130, many)).toMatch(/E mais 970 itens/)
  })

  test('what it takes back, and what the Fisco decided', () => {
    expect(text(110001, '<tpEventoAut>211130</tpEventoAut><nProtEvento>135</nProtEvento>')).toBe(
      'Desfaz “Imobilização de Item”, protocolo 135.',
    )
    expect(text(412120, '<indDeferimento>0</indDeferimento><cMotivo>2</cMotivo><xMotivo>FALTA</xMotivo>')).toBe(
      'O Fisco indeferiu a transferência de crédito de IBS. Motivo: FALTA',
    )
  })

  test('any other event says nothing more than its name, and neither does a broken file', () => {
    expect(eventText(bytes(evento(210200)))).toBeNull()
    expect(eventText(bytes('<a'))).toBeNull()
    expect(text(112110, '')).toMatch(/paga por inteiro.+\n2026 é ano-teste/s)
  })
})
