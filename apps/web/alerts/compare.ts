import type { DocumentDetail } from '@vigia/contract/documents'

type Detail = Pick<DocumentDetail, 'secoes' | 'itens'>
type Item = DocumentDetail['itens'][number]

/** A line of two documents side by side; '' for a missing value. */
export interface Line {
  /** Its place under the title. */
  at: number
  label: string
  one: string
  other: string
  differs: boolean
}

/** Lines under a title. */
export interface Part {
  title: string
  lines: Line[]
}

/** Compares two documents: facts by section, who issued them first, and items paired by code, equal codes in order. */
export function compare(one: Detail, other: Detail): Part[] {
  const pairs = pair(one.secoes, other.secoes, ({ titulo }) => titulo)
  const ofIssuer = pairs.findIndex(([left]) => left?.titulo === 'Emitente')
  const sections = [...pairs.splice(ofIssuer, ofIssuer < 0 ? 0 : 1), ...pairs].map(([left, right]) => ({
    title: (left ?? right)!.titulo,
    lines: pair(left?.campos ?? [], right?.campos ?? [], ({ rotulo }) => rotulo).map(([a, b], at) =>
      lineOf(at, (a ?? b)!.rotulo, a?.valor, b?.valor),
    ),
  }))
  const items = pair(one.itens, other.itens, ({ codigo }) => codigo).map(([a, b], at) =>
    lineOf(at, (a ?? b)!.codigo, a && itemText(a), b && itemText(b)),
  )
  return [...sections, ...(items.length > 0 ? [{ title: 'Itens', lines: items }] : [])]
}

function lineOf(at: number, label: string, one = '', other = ''): Line {
  return { at, label, one, other, differs: one !== other }
}

function itemText({ descricao, quantidade, unidade, valorUnitario, valor, detalhe }: Item): string {
  const total = valor.toLocaleString('pt-BR', { style: 'currency', currency: 'BRL' })
  return `${descricao}: ${quantidade} ${unidade} × ${valorUnitario} = ${total}${detalhe && ` · ${detalhe}`}`
}

// Pairs the n-th items of equal keys, in the order of `ones`; unmatched `others` come last.
function pair<T>(
  ones: readonly T[],
  others: readonly T[],
  keyOf: (item: T) => string,
): [T | undefined, T | undefined][] {
  const left = Map.groupBy(others, keyOf)
  const pairs = ones.map((one): [T | undefined, T | undefined] => [one, left.get(keyOf(one))?.shift()])
  return [...pairs, ...[...left.values()].flat().map((other): [undefined, T] => [undefined, other])]
}
