import { expect, test } from 'vitest'
import { compare } from './compare.ts'

const item = (codigo: string, quantidade: string, valor: number) => ({
  numero: 1,
  codigo,
  descricao: `Produto ${codigo}`,
  quantidade,
  unidade: 'UN',
  valorUnitario: '10,00',
  valor,
  detalhe: '',
})
const section = (titulo: string, facts: Record<string, string>) => ({
  titulo,
  campos: Object.entries(facts).map(([rotulo, valor]) => ({ rotulo, valor })),
})

test('two documents stand line by line beside each other, and what differs is told', () => {
  const one = {
    secoes: [section('Valores', { Total: 'R$ 100,00', Frete: 'R$ 5,00' })],
    itens: [item('A', '1', 10), item('A', '2', 20), item('B', '1', 10)],
  }
  const other = {
    secoes: [section('Valores', { Total: 'R$ 120,00', Frete: 'R$ 5,00', Seguro: 'R$ 1,00' })],
    itens: [item('A', '1', 10), item('A', '4', 40), item('C', '1', 10)],
  }
  const [values, items] = compare(one, other)
  expect(values).toEqual({
    title: 'Valores',
    lines: [
      { at: 0, label: 'Total', one: 'R$ 100,00', other: 'R$ 120,00', differs: true },
      { at: 1, label: 'Frete', one: 'R$ 5,00', other: 'R$ 5,00', differs: false },
      { at: 2, label: 'Seguro', one: '', other: 'R$ 1,00', differs: true },
    ],
  })
  expect(items!.lines.map(({ label, differs }) => [label, differs])).toEqual([
    ['A', false],
    ['A', true],
    ['B', true],
    ['C', true],
  ])
})
