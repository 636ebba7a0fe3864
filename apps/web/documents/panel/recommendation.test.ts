import type { DocumentRow } from '@vigia/contract/documents'
import { expect, test } from 'vitest'
import { documentKinds } from '../../lib/kinds.ts'
import { recommend } from './recommendation.ts'

const { nfe, cte } = documentKinds

const ate = new Date(new Date().getFullYear(), 10, 30, 12).toISOString()
const summary = { notaCompleta: false, prazo: { para: 'ciencia', ate } } as const
const about = (
  row: Partial<DocumentRow>,
  { ofIssuer = null as number | null, kind = nfe, missing = null as string | null } = {},
) => {
  const document: DocumentRow = {
    idDfe: 'x',
    numero: 1,
    emitente: 'PAPELARIA SOL',
    cnpjCpfEmitente: '11222333000181',
    chave: '',
    valor: 1,
    dataEmissao: '',
    tipoParticipacao: 1,
    status: { codigoEvento: 100, descricaoEvento: 'Autorizada' },
    notaCompleta: true,
    idEmpresa: '',
    empresa: '',
    chegadaEm: '',
    prazo: null,
    eventoEmEnvio: null,
    eventoSemConfirmacao: null,
    naturezaOperacao: null,
    situacaoBase: 1,
    conferencia: null,
    conferidaPor: null,
    lancadaPor: null,
    entreguePor: null,
    mudouDepois: null,
    observacoes: 0,
    alerta: null,
    sugestao: null,
    reforma: null,
    aguardaSegunda: null,
    ...row,
  }
  const { title, text, actions } = recommend({ kind, document, missing, ofIssuer })
  const said = actions.map((action) =>
    action.does === 'answer' ? `${action.code}${action.primary ? '!' : ''}` : action.does,
  )
  return `${title} | ${said.join(' ')} | ${text}`
}

test('what a rule suggests stands out, and what waits for a second person leads to those', () => {
  const sugestao = { tipoManifestacao: 2, regra: 'Fornecedores' }
  expect(about({ ...summary, sugestao })).toMatch(/^Confirmação sugerida \| 2! \| Pela regra “Fornecedores”\./)
})

test('what waits for a second person leads there; a summary also offers the Ciência, and what is not valid any more says so first', () => {
  const aguardaSegunda = { evento: 'Confirmação da Operação', quem: 'Ana' }
  const waits = /^Confirmação da Operação: aguarda segunda pessoa/
  expect(about({ ...summary, aguardaSegunda })).toMatch(
    /: aguarda segunda pessoa \| approvals 1 \| .* a pedido de Ana: .* A Ciência não espera por ninguém/,
  )
  for (const row of [{}, { notaCompleta: false, prazo: { para: 'manifestacao', ate } }] as Partial<DocumentRow>[]) {
    const said = about({ ...row, aguardaSegunda })
    expect(said).toMatch(waits)
    expect(said).not.toContain('Ciência')
  }
  const status = (codigoEvento: number) => ({ status: { codigoEvento, descricaoEvento: '' } })
  expect(about({ ...status(110111), aguardaSegunda })).toMatch(
    /^NF-e cancelada \| approvals print \| O documento não vale mais/,
  )
  expect(about({ ...status(240140), aguardaSegunda }, { kind: cte })).toMatch(/^CT-e substituído \| approvals print \|/)
})

test('for a known issuer the Ciência is recommended', () => {
  expect(about(summary, { ofIssuer: 5 })).toMatch(
    /^Dar Ciência para receber o XML \| 1! 3 \| Há 4 outras notas deste emitente para esta empresa\./,
  )
})

test.each([
  [1, 'É a primeira nota deste emitente para esta empresa. Se a operação'],
  [null, 'Se a operação'],
])('of an issuer never heard of (%s) it is a question, and no answer stands out', (ofIssuer, text) => {
  expect(about(summary, { ofIssuer })).toContain(`Você reconhece esta nota? | 1 3 | ${text}`)
})

test.each([
  [{ prazo: { para: 'manifestacao', ate } }, /^Responder até 30\/11 \| answers print \| /],
  [{ prazo: { para: 'manifestacao', ate }, notaCompleta: false }, /^Responder até 30\/11 \| answers \| /],
  [
    { prazo: { para: 'manifestacao', ate }, eventoEmEnvio: 'Confirmação da Operação' },
    /^Confirmação da Operação: em envio \| print \| /,
  ],
  [{ status: { codigoEvento: 110111, descricaoEvento: 'Cancelamento' } }, /^NF-e cancelada \| print \| /],
  [{}, /^Nada pendente \| print \| /],
  [{ notaCompleta: false }, /^Só o resumo está aqui \| {2}\| O documento completo ainda não chegou\./],
] as [Partial<DocumentRow>, RegExp][])('%j', (row, expected) => {
  expect(about(row)).toMatch(expected)
})

test('a desacordo is possible but not recommended', () => {
  expect(about({ prazo: { para: 'desacordo', ate } }, { kind: cte })).toMatch(
    /^Conferir o frete \| print \| .* até 30\/11\. Com ele/,
  )
})

test('the message of the server says what is missing', () => {
  expect(about({ notaCompleta: false }, { missing: 'O prazo terminou.' })).toContain('O prazo terminou.')
})

test('a registered desacordo says what the carrier may do next, and can be withdrawn; a CT-e that was replaced leads to the other one', () => {
  const status = (codigoEvento: number) => ({ status: { codigoEvento, descricaoEvento: '' } })
  expect(about(status(610110), { kind: cte })).toMatch(
    /^Desacordo registrado \| 610111 print \| A transportadora pode agora emitir um CT-e de substituição/,
  )
  expect(about(status(240140), { kind: cte })).toMatch(/^CT-e substituído \| print \|/)
})
