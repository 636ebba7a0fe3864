import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { expect, test } from 'vitest'
import { participationFilter, participationLabel, statusFilter } from './codes.ts'

test('a participation outside the table is "Desconhecido"', () => {
  expect([0, 7, 8, -1].map(participationLabel)).toEqual(['Emitente', 'Tomador', 'Desconhecido', 'Desconhecido'])
})

test('the filters offer the codes and words of section 3', () => {
  const written = (table: readonly { code: number; label: string }[]) =>
    table.map(({ code, label }) => `${code} ${label}`).join(', ')
  expect(written(participationFilter.nfe)).toBe('0 Emitente, 1 Destinatário, 2 Transportador, 3 Terceiro')
  expect(written(participationFilter.cte)).toBe(
    '0 Emitente, 1 Destinatário, 3 Terceiro, 4 Remetente, 5 Expedidor, 6 Recebedor, 7 Tomador',
  )
  expect(written(statusFilter.nfe)).toBe(
    '1 Resumo, 2 Autorizada, 3 Cancelada, 4 Desconhecimento, 5 Operação Não Realizada, 6 Confirmação, 8 Ciência',
  )
  expect(written(statusFilter.cte)).toBe('2 Autorizada, 3 Cancelada, 7 Carta Correção')
})

test('the menu "Manifestar" offers the codes and words of section 3', () => {
  const written = ({ answers }: typeof nfe | typeof cte) =>
    answers.map(({ choice, name }) => `${choice} ${name}`).join(', ')
  expect(written(nfe)).toBe('1 Ciência, 2 Confirmação, 3 Desconhecimento, 4 Não Realizada')
  expect(written(cte)).toBe(
    '1 Cancelamento, 2 Carta Correção, 610110 Prestação em Desacordo, 610111 Retirar o Desacordo',
  )
})
