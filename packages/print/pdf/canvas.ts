import type { Font } from './fonts.ts'
import { emWidth, fontName, placeOf, roman, Shown } from './fonts.ts'
import type { Ansi } from './winansi.ts'

/** Width and height of a sheet of paper, in points. */
export interface PageSize {
  width: number
  height: number
}

/** A4 portrait. */
export const a4: PageSize = { width: 595.28, height: 841.89 }

/** Where a text stands between `x` and `x + width`. */
export type Align = 'left' | 'center' | 'right'

// Contents are written in whole tenths of a point: exact for the eye, and integers are short and quick to write.
const unitsPerPoint = 10

/** What the pages call the picture of the file. */
export const pictureName = 'L'

/** What the pages call the code of the file. */
export const codeName = 'Q'

/** The modules of a code by rows, true where they are dark. */
export type Modules = readonly (readonly boolean[])[]

/** Hair lines draw the form, a divider separates the items of a table, a cut shows where the paper is cut. */
export type Rule = 'hair' | 'divider' | 'cut'

const rules: readonly Rule[] = ['hair', 'divider', 'cut']

// Graphics state of each kind of rule, set in this order.
const ruleStates: Record<Rule, string> = { hair: '2.5 w', divider: '.4 G 2 w [6 10]0 d', cut: '0 G 4 w [30 20]0 d' }

// What surrounds a block is twice as thick as the lines inside it.
const outerState = '5 w'

/** The outer edges of boxes that stand on one another, in units of the content. */
interface Outline {
  left: number
  right: number
  top: number
  bottom: number
}

/** What a part of the document is for a screen reader (ISO 32000-1, 14.8.4): the title of a block, or all of its text. */
export type StructureRole = 'H2' | 'P'

/**
 * What one stream of a page shows. Coordinates are points from the top left corner of the sheet. The stamp lies under
 * everything, rules under words.
 */
export class Canvas {
  #marks: { role: StructureRole; words: string }[] = []
  /** The characters of its texts. */
  readonly shown: Shown
  code: Modules | undefined
  #under = ''
  #outlines: Outline[] = []
  #shapes = ''
  #rules: Record<Rule, string> = { hair: '', divider: '', cut: '' }
  #turned: { canvas: Canvas; place: string }[] = []
  #font: Font = roman
  #size = 0
  #x = 0
  #y = 0

  constructor(shown = new Shown()) {
    this.shown = shown
  }

  /** The parts of the document that its texts are, in reading order. */
  get roles(): StructureRole[] {
    return [...this.#turned.flatMap(({ canvas }) => canvas.roles), ...this.#marks.map(({ role }) => role)]
  }

  /** The title of what is drawn next: a part of its own, as is everything up to the next title. */
  heading(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    this.#marks.push({ role: 'H2', words: '' })
    this.text(x, baseline, text, font, size)
    this.#marks.push({ role: 'P', words: '' })
  }

  /** A line of text whose baseline starts at this point. */
  text(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    if (text === '') return
    this.shown.add(text)
    if (this.#marks.length === 0) this.#marks.push({ role: 'P', words: '' })
    const mark = this.#marks.at(-1)!
    if (font !== this.#font || size !== this.#size) {
      if (size !== this.#size) mark.words += `/${fontName} ${size * unitsPerPoint} Tf\n`
      if (font.bold) mark.words += weight(font.bold, size)
      else if (this.#font.bold) mark.words += '0 Tr 0 Tc\n'
      this.#font = font
      this.#size = size
    }
    const px = Math.round(x * unitsPerPoint)
    const py = flip(baseline)
    mark.words += `${px - this.#x} ${py - this.#y} Td${outsideWinAnsi.test(text) ? this.#mixed(text, size) : `(${escaped(text)})Tj`}\n`
    this.#x = px
    this.#y = py
  }

  /** A line of text placed between two edges. */
  aligned(x: number, width: number, baseline: number, text: Ansi, font: Font, size: number, align: Align): void {
    const free = align === 'left' ? 0 : width - (emWidth(text, font) * size) / 1000
    this.text(x + (align === 'center' ? free / 2 : free), baseline, text, font, size)
  }

  /** A straight rule. */
  line(x1: number, y1: number, x2: number, y2: number, rule: Rule = 'hair'): void {
    const from = `${Math.round(x1 * unitsPerPoint)} ${flip(y1)}`
    this.#rules[rule] += `${from} m ${Math.round(x2 * unitsPerPoint)} ${flip(y2)} l\n`
  }

  /** The outline of a box. */
  box(x: number, y: number, width: number, height: number, rule: Rule = 'hair'): void {
    const left = Math.round(x * unitsPerPoint)
    const bottom = flip(y + height)
    const right = Math.round((x + width) * unitsPerPoint)
    this.#rules[rule] += `${left} ${bottom} ${right - left} ${flip(y) - bottom} re\n`
    if (rule === 'hair') this.#outline({ left, right, top: flip(y), bottom })
  }

  // Boxes that stand on one another share an outline; a box inside another has none.
  #outline(box: Outline): void {
    const inside = (a: Outline, b: Outline) =>
      a.left >= b.left && a.right <= b.right && a.top <= b.top && a.bottom >= b.bottom
    if (this.#outlines.some((other) => inside(box, other))) return
    this.#outlines = this.#outlines.filter((other) => !inside(other, box))
    const above = this.#outlines.find(
      ({ left, right, bottom }) => left === box.left && right === box.right && Math.abs(bottom - box.top) <= 1,
    )
    if (above) above.bottom = box.bottom
    else this.#outlines.push(box)
  }

  /** The picture of the file, between these edges. */
  image(x: number, y: number, width: number, height: number): void {
    const size = `${units(width * unitsPerPoint)} 0 0 ${units(height * unitsPerPoint)}`
    this.#shapes += `q ${size} ${Math.round(x * unitsPerPoint)} ${flip(y + height)} cm /${pictureName} Do Q\n`
  }

  /** Bars of whole modules, from alternating widths of bar and space; all in one path, so that no renderer leaves seams. */
  bars(x: number, y: number, module: number, height: number, widths: readonly number[]): void {
    let path = ''
    let at = 0
    widths.forEach((width, i) => {
      if (i % 2 === 0) path += `${at} 0 ${width} 1 re\n`
      at += width
    })
    this.#shape(module, height, x, y + height, path)
  }

  /** A matrix of dark and light modules, which is the code of the file: one bit for each of them. */
  matrix(x: number, y: number, module: number, dark: Modules): void {
    this.code = dark
    const side = units(dark.length * module * unitsPerPoint)
    const bottom = y + dark.length * module
    this.#shapes += `q ${side} 0 0 ${side} ${Math.round(x * unitsPerPoint)} ${flip(bottom)} cm /${codeName} Do Q\n`
  }

  /** Light grey strokes under everything else, in a coordinate system of their own. */
  under(matrix: readonly number[], weight: number, operators: string): void {
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = matrix
    const scaled = [a, b, c, d].map((n) => units(n * unitsPerPoint)).join(' ')
    const place = `${scaled} ${Math.round(x * unitsPerPoint)} ${flip(y)} cm`
    this.#under += `q .86 G 1 J 1 j ${place} ${weight} w\n${operators}Q\n`
  }

  /** A drawing turned to be read upwards: its top left corner stands at this point and its width goes up the sheet. */
  upwards(x: number, y: number, draw: (canvas: Canvas) => void): void {
    const canvas = new Canvas(this.shown)
    draw(canvas)
    this.#turned.push({ canvas, place: `0 1 -1 0 ${Math.round(x * unitsPerPoint)} ${flip(y)} cm` })
  }

  /** The operators, for the writer; its texts are marked with numbers from `firstMark` on. */
  content(firstMark: number): string {
    let shapes = this.#under + this.#shapes
    if (this.#outlines.length > 0) {
      const outer = this.#outlines.map(
        ({ left, right, top, bottom }) => `${left} ${bottom} ${right - left} ${top - bottom} re\n`,
      )
      shapes += `${outerState}\n${outer.join('')}S\n`
    }
    for (const rule of rules) if (this.#rules[rule]) shapes += `${ruleStates[rule]}\n${this.#rules[rule]}S\n`
    // Bold letters have a stroke too, which is neither grey nor dashed.
    if (this.#rules.divider || this.#rules.cut) shapes = `q\n${shapes}Q\n`
    let turned = ''
    let mark = firstMark
    for (const { canvas, place } of this.#turned) {
      turned += `q ${place}\n${canvas.content(mark)}Q\n`
      mark += canvas.roles.length
    }
    const words = this.#marks.map(({ role, words }) => `/${role}<</MCID ${mark++}>>BDC\n${words}EMC\n`)
    return `${turned}${artifact(shapes)}${words.length > 0 ? `BT\n${words.join('')}ET\n` : ''}`
  }

  // Each character outside WinAnsi in its further font; the line goes on where the text before it ended.
  #mixed(text: string, size: number): string {
    const parts = text.split(/([^\0-\xff])/)
    const shown = parts.map((part, i) => {
      if (i % 2 === 0) return part === '' ? '' : `(${escaped(part)})Tj`
      const { further, byte } = placeOf(part.charCodeAt(0))
      const points = size * unitsPerPoint
      return `/${fontName}${further} ${points} Tf(${escaped(String.fromCharCode(byte))})Tj/${fontName} ${points} Tf`
    })
    return shown.join('')
  }

  #shape(sx: number, sy: number, x: number, bottom: number, path: string): void {
    const scale = `${units(sx * unitsPerPoint)} 0 0 ${units(sy * unitsPerPoint)}`
    this.#shapes += `q ${scale} ${Math.round(x * unitsPerPoint)} ${flip(bottom)} cm\n${path}f Q\n`
  }
}

// Letters filled and stroked, with room between them (ISO 32000-1, 9.3).
function weight({ stroke, spacing }: NonNullable<Font['bold']>, size: number): string {
  const thousandth = (size * unitsPerPoint) / 1000
  return `2 Tr ${units(stroke * thousandth)} w ${units(spacing * thousandth)} Tc\n`
}

// Lines, bars and the stamp say nothing that the texts do not.
function artifact(operators: string): string {
  return operators === '' ? '' : `/Artifact BMC\n${operators}EMC\n`
}

// The origin of a page lies at its top left corner (see `pageUnits`), so that a canvas needs no page size.
function flip(y: number): number {
  return Math.round(-y * unitsPerPoint)
}

function units(value: number): number {
  return Math.round(value * 1000) / 1000
}

const special = /[\\()]/

const outsideWinAnsi = /[^\0-\xff]/

function escaped(text: string): string {
  return special.test(text) ? text.replace(/[\\()]/g, '\\$&') : text
}

/** Operators that set the units and the origin of a page, before anything else on it. */
export function pageUnits({ height }: PageSize): string {
  return `${1 / unitsPerPoint} 0 0 ${1 / unitsPerPoint} 0 ${height} cm\n`
}

/** The operators of a canvas, drawn lower on the sheet. */
export function lowered(by: number): { before: string; after: string } {
  return { before: `q 1 0 0 1 0 ${-Math.round(by * unitsPerPoint)} cm\n`, after: 'Q\n' }
}
