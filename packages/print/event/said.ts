import type { XmlElement } from '@vigia/dfe/document'
import { joined } from '../formats.ts'
import { title } from '../layout/block.ts'
import type { PrintSheet } from '../layout/sheet.ts'
import { paginate, type Table, table } from '../layout/table.ts'
import { paragraphs } from '../layout/text.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { fieldName, fieldValue, groupName } from './words.ts'

export const textSize = 10

/** Position in the text flow of a sheet. */
export interface FlowPosition {
  canvas: Canvas | undefined
  top: number
}

interface Where extends FlowPosition {
  nextTop: number
  nextCanvas(): Canvas
}

/** Draws a table under its heading over as many sheets as needed; returns its end. */
export function drawTable(heading: string, shown: Table, sheet: PrintSheet, where: Where): FlowPosition {
  const head = title(heading)
  const taken = head.height + shown.headingHeight
  const room = (top: number) => sheet.bottom - top - taken
  let { canvas, top } = where
  paginate(shown.rows, room(top), room(where.nextTop)).forEach((rows, i) => {
    if (rows.length === 0) return
    if (i > 0) {
      canvas = where.nextCanvas()
      top = where.nextTop
    }
    const bottom = top + taken + rows.reduce((sum, row) => sum + row.height, 0)
    shown.draw(canvas!, sheet.left, top, head, rows, bottom)
    top = bottom
  })
  return { canvas, top }
}

interface Said {
  group: string
  field: string
  text: string
}

/** Fields and values of an element under group names; `own` names those outside of groups. */
export function saidTable(
  element: XmlElement | undefined,
  width: number,
  own: string,
  isShown: (inner: XmlElement) => boolean,
): Table | undefined {
  const said = saidBy(element, '', isShown)
  if (said.length === 0) return undefined
  const hasGroups = said.some(({ group }) => group !== '')
  // Names a group where it starts, and `own` where fields outside of groups continue.
  const rows = said.map((one, i) => ({
    ...one,
    group: one.group === said[i - 1]?.group ? '' : one.group || own,
  }))
  const column = (heading: string, widest: number, cells: (row: Said) => string[]) => ({
    title: [heading],
    align: 'left' as const,
    widest,
    cells,
  })
  return table(
    rows,
    [
      [
        ...(hasGroups ? [column('GRUPO', 120, (row) => [row.group])] : []),
        column('CAMPO', 190, (row) => [row.field]),
        { title: ['CONTEÚDO'], align: 'left', cells: (row) => paragraphs(row.text) },
      ],
    ],
    { width, sizes: [textSize, 9, 8], freeMin: () => 250, freeEnough: 280 },
  )
}

function saidBy(element: XmlElement | undefined, group: string, isShown: (inner: XmlElement) => boolean): Said[] {
  if (!element) return []
  const attributes = Object.entries(element.attributes).filter(([name]) => !/^(xmlns|versao|Id$)/.test(name))
  const total = Map.groupBy(element.children, ({ name }) => name)
  const count = new Map<string, number>()
  return [
    ...attributes.map(([name, text]) => ({
      group,
      field: fieldName(name, element.name),
      text: fieldValue(name, text),
    })),
    ...element.children.flatMap((inner): Said[] => {
      if (isShown(inner)) return []
      const text = inner.text.trim()
      if (inner.children.length === 0 && Object.keys(inner.attributes).length === 0)
        return text ? [{ group, field: fieldName(inner.name, element.name), text: fieldValue(inner.name, text) }] : []
      count.set(inner.name, (count.get(inner.name) ?? 0) + 1)
      const number = total.get(inner.name)!.length > 1 ? String(count.get(inner.name)) : undefined
      const name = joined(' · ', group, joined(' ', groupName(inner.name), number))!
      const own =
        text && inner.children.length === 0
          ? [{ group: name, field: fieldName(inner.name, element.name), text: fieldValue(inner.name, text) }]
          : []
      return [...saidBy(inner, name, () => false), ...own]
    }),
  ]
}
