import type { CompletenessMonth } from '@vigia/contract/companies'
import { expect, test } from 'vitest'
import { completenessText, missingOf, stateOf } from './completeness-text.ts'

const gap = {
  de: '11',
  ate: '16',
  descobertaEm: new Date(2026, 10, 3, 14, 10).toISOString(),
  motivo: 'outro sistema consultou\tcom este certificado (Consumo indevido)',
  recuperadas: 3,
  perdidas: 2,
  vazias: 0,
  faltam: 1,
}
const month: CompletenessMonth = {
  mes: '2026-11',
  nsuInicial: '1',
  nsuFinal: '30',
  documentos: 25,
  semDocumento: 5,
  consultas: 12,
  semResposta: 0,
  lacunas: [],
}

test('a month says whether it is complete', () => {
  expect(stateOf(month)).toBe('Completo')
  expect(stateOf({ ...month, lacunas: [gap] })).toBe('Buscando o que falta')
  expect(stateOf({ ...month, lacunas: [{ ...gap, faltam: 0 }] })).toBe('Com perdas')
  expect(stateOf({ ...month, lacunas: [{ ...gap, faltam: 0, perdidas: 0, vazias: 0 }] })).toBe('Completo')
  expect(stateOf({ ...month, consultas: 0 })).toBe('Sem consulta')
})

test('missing documents are listed by what became of them', () => {
  expect(missingOf(gap)).toBe('3 recuperados, 1 ainda falta, 2 não estão mais na SEFAZ')
  expect(missingOf({ ...gap, recuperadas: 0, perdidas: 1, vazias: 0, faltam: 0 })).toBe('1 não está mais na SEFAZ')
})

test('the copy has a line for each month, and no text in it contains a tab', () => {
  const text = completenessText('Papelaria Sol', [{ servico: 'nfe', meses: [month, { ...month, lacunas: [gap] }] }])
  const lines = text.split('\n').map((line) => line.split('\t'))
  expect(lines[0]).toEqual(['Completude de Papelaria Sol'])
  expect(lines.map((line) => line.length)).toEqual([1, 10, 10, 10])
  expect(lines[2]?.slice(0, 5)).toEqual(['NF-e', '2026-11', '1', '30', '25'])
  expect(lines[3]?.[9]).toBe(
    'NSU 11 a 16: 3 recuperados, 1 ainda falta, 2 não estão mais na SEFAZ (03/11/2026 14:10, outro sistema consultou com este certificado (Consumo indevido))',
  )
})
