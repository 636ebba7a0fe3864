import type { Font } from './fonts.ts'
import { emWidth, placeOf, Shown } from './fonts.ts'
import { isPart, type Marked, newPart, type Part, type Role } from './structure.ts'
import type { Ansi } from './winansi.ts'

/** Width and height of a sheet of paper, in points. */
export interface PageSize {
  width: number
  height: number
}

/** A4 portrait. */
export const a4: PageSize = { width: 595.28, height: 841.89 }

/** Alignment of a text between `x` and `x + width`. */
export type Align = 'left' | 'center' | 'right'

// Tenths of a point are exact enough, and integers are short and quick to write.
const unitsPerPoint = 10

/** Resource name of the picture. */
export const pictureName = 'L'

/** Resource name of the QR code. */
export const codeName = 'Q'

/** The modules of a code by rows, true where they are dark. */
export type Modules = readonly (readonly boolean[])[]

/** Hair lines draw the form, a divider separates the items of a table, a cut shows where the paper is cut. */
export type Rule = 'hair' | 'divider' | 'cut'

const rules: readonly Rule[] = ['hair', 'divider', 'cut']

// Words of a figure; the text of a code may be of any length.
const altMax = 300

// Graphics state of each kind of rule, set in this order.
const ruleStates: Record<Rule, string> = { hair: '2.5 w', divider: '.4 G 2 w [6 10]0 d', cut: '0 G 4 w [30 20]0 d' }

// Outer borders are twice as thick as inner lines.
const outerState = '5 w'

/** Outer edges of adjacent boxes, in content units. */
interface Outline {
  left: number
  right: number
  top: number
  bottom: number
}

// Parts that hold parts; a text among them is a paragraph of its own.
const holders: ReadonlySet<Role> = new Set(['Document', 'Sect', 'Table', 'TR'])

/** Marks a line break inside a word. Never part of a document's text. */
export const goesOn = '\x01'

/**
 * Content of one stream of a page. Coordinates are points from the top left corner of the sheet.
 * The stamp lies under everything, rules under words.
 */
export class Canvas {
  #root = newPart('Document')
  #open = this.#root
  #end = newPart('Document')
  #paragraph: Part | undefined
  #silent = false
  readonly #isRead: boolean
  /** The characters of its texts. */
  readonly shown: Shown
  /** Tagged content of the canvas. */
  readonly marked: Marked
  code: Modules | undefined
  #under = ''
  #outlines: Outline[] = []
  #shapes = ''
  #pictures = ''
  #isPicture = false
  #rules: Record<Rule, string> = { hair: '', divider: '', cut: '' }
  #turned: { canvas: Canvas; place: string }[] = []
  #words = ''
  // Whether words were drawn, and the part of the last ones.
  #hasMark = false
  #part: Part | undefined
  // Whether a space belongs between the text before and the next one of the same part.
  #breaks = false
  #font: Font | undefined
  #size = 0
  #x = 0
  #y = 0

  /** Without `isRead` nothing is tagged; `of` is the parent canvas. */
  constructor({ marksFrom = 0, isRead = true, of }: { marksFrom?: number; isRead?: boolean; of?: Canvas } = {}) {
    this.marked = of?.marked ?? { page: 0, lowered: 0, next: marksFrom }
    this.shown = of?.shown ?? new Shown()
    this.#isRead = of ? of.#isRead : isRead
  }

  /** Its parts in reading order. */
  get parts(): Part[] {
    return this.#root.kids.filter(isPart)
  }

  /** The parts that are read after everything else, whatever the sheet. */
  get lastParts(): Part[] {
    return this.#end.kids.filter(isPart)
  }

  /** Draws a tagged part of this role and returns it for later continuation. */
  tagged(role: Role, draw: () => void, columns = 1): Part {
    const part = newPart(role)
    part.columns = columns
    const { kids } = this.#open
    if (!this.#silent) kids.push(part)
    this.within(part, draw)
    // A box without label and value.
    if (role === 'P' && part.kids.length === 0 && !this.#silent) kids.pop()
    return part
  }

  /** A row of a table, of so many cells. */
  row(columns: number, draw: (column: number) => void): void {
    const row = newPart('TR')
    const parts = Array.from({ length: columns }, () => newPart('TD'))
    row.cells = { marked: this.marked, parts }
    this.#open.kids.push(row)
    for (const [column, cell] of parts.entries()) this.within(cell, () => draw(column))
  }

  /** Draws as continuation of a part, of this sheet or of another one. */
  within(part: Part, draw: () => void): void {
    const before = this.#open
    this.#open = part
    this.#paragraph = undefined
    draw()
    this.#open = before
    this.#paragraph = undefined
  }

  /** Draws without tags, for the eye only: a sheet number, or content that was already read. */
  silently(draw: () => void): void {
    const before = this.#silent
    this.#silent = true
    draw()
    this.#silent = before
  }

  /** Draws content that is read after everything else. */
  atEnd(draw: () => void): void {
    const before = this.#root
    this.#root = this.#end
    this.within(this.#end, () => {
      this.tagged('Sect', draw)
    })
    this.#root = before
  }

  /** Draws bars, a matrix or an image with its alternative text. */
  figure(alt: string, area: NonNullable<Part['area']>, draw: () => void): void {
    const part = newPart('Figure')
    part.alt = alt.slice(0, altMax)
    part.area = area
    this.#open.kids.push(part)
    this.#paragraph = undefined
    if (this.#isRead) this.#pictures += `/Figure<</MCID ${this.#mark(part)}>>BDC\n`
    this.#isPicture = true
    draw()
    this.#isPicture = false
    if (this.#isRead) this.#pictures += 'EMC\n'
  }

  /** The title of a section, to which everything up to the next title belongs. */
  heading(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    if (this.#silent) {
      this.text(x, baseline, text, font, size)
      return
    }
    const section = newPart('Sect')
    this.#root.kids.push(section)
    this.#open = section
    this.tagged('H2', () => this.text(x, baseline, text, font, size))
  }

  /** A line of text whose baseline starts at this point. */
  text(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    if (text === '') return
    const whole = !text.endsWith(goesOn)
    const shown = whole ? text : (text.slice(0, -1) as Ansi)
    this.#begin()
    if (font !== this.#font || size !== this.#size) {
      this.#words += `/${font.resource} ${size * unitsPerPoint} Tf\n`
      this.#font = font
      this.#size = size
    }
    const px = Math.round(x * unitsPerPoint)
    const py = flip(baseline)
    const operators = isInWinAnsi(shown) ? `(${escaped(shown)})Tj` : this.#mixed(shown, font, size)
    this.#words += `${px - this.#x} ${py - this.#y} Td${operators}\n`
    this.shown.add(shown, font)
    this.#x = px
    this.#y = py
    this.#breaks = whole
  }

  // Opens the mark of the next text; a space separates it from an earlier text of the same part.
  #begin(): void {
    const part = this.#silent ? undefined : this.#textPart()
    if (this.#hasMark && this.#part === part) {
      if (!this.#breaks) return
      this.#words += '( )Tj\n'
      this.shown.add(' ' as Ansi, this.#font!)
      return
    }
    if (this.#isRead) {
      if (this.#hasMark) this.#words += 'EMC\n'
      this.#words += part ? `/${part.role}<</MCID ${this.#mark(part)}>>BDC\n` : '/Artifact BMC\n'
    }
    this.#hasMark = true
    this.#part = part
  }

  // The number of a new mark of a part.
  #mark(part: Part): number {
    const mark = { marked: this.marked, id: this.marked.next++ }
    // An array of one: pushing would make room for many.
    if (part.kids.length === 0) part.kids = [mark]
    else part.kids.push(mark)
    return mark.id
  }

  #textPart(): Part {
    if (!holders.has(this.#open.role)) return this.#open
    if (!this.#paragraph) {
      this.#paragraph = newPart('P')
      this.#open.kids.push(this.#paragraph)
    }
    return this.#paragraph
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

  // Adjacent boxes share an outline; nested boxes have none.
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
    this.#paint(`q ${size} ${Math.round(x * unitsPerPoint)} ${flip(y + height)} cm /${pictureName} Do Q\n`)
  }

  /**
   * Draws bars of whole modules, from alternating widths of bar and space; in one path, because
   * separate paths leave seams in some renderers.
   */
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
    this.#paint(`q ${side} 0 0 ${side} ${Math.round(x * unitsPerPoint)} ${flip(bottom)} cm /${codeName} Do Q\n`)
  }

  /** Light grey strokes under everything else, in a coordinate system of their own. */
  under(matrix: readonly number[], weight: number, operators: string): void {
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = matrix
    const scaled = [a, b, c, d].map((n) => units(n * unitsPerPoint)).join(' ')
    const place = `${scaled} ${Math.round(x * unitsPerPoint)} ${flip(y)} cm`
    this.#under += `q .86 G 1 J 1 j ${place} ${weight} w\n${operators}Q\n`
  }

  /** Draws upwards: the top left corner is at this point, and the width goes up the sheet. */
  upwards(x: number, y: number, draw: (canvas: Canvas) => void): void {
    const canvas = new Canvas({ of: this })
    canvas.#root = this.#root
    canvas.#open = this.#open
    draw(canvas)
    this.#turned.push({ canvas, place: `0 1 -1 0 ${Math.round(x * unitsPerPoint)} ${flip(y)} cm` })
  }

  /** The operators, for the writer. */
  content(): string[] {
    const turned = this.#turned.flatMap(({ canvas, place }) => [`q ${place}\n`, ...canvas.content(), 'Q\n'])
    const shapes = this.#isRead ? artifact(this.#drawing()) : this.#drawing()
    const words = this.#hasMark ? ['BT\n', this.#words, this.#isRead ? 'EMC\nET\n' : 'ET\n'] : []
    return [...turned, shapes + this.#pictures, ...words]
  }

  // Lines and the stamp, which add no information to the texts.
  #drawing(): string {
    let shapes = this.#under + this.#shapes
    if (this.#outlines.length > 0) {
      const outer = this.#outlines.map(
        ({ left, right, top, bottom }) => `${left} ${bottom} ${right - left} ${top - bottom} re\n`,
      )
      shapes += `${outerState}\n${outer.join('')}S\n`
    }
    for (const rule of rules) if (this.#rules[rule]) shapes += `${ruleStates[rule]}\n${this.#rules[rule]}S\n`
    return shapes
  }

  // Writes characters outside WinAnsi in further fonts, continuing at the current position.
  #mixed(text: string, font: Font, size: number): string {
    const parts = text.split(/([^\0-\xff])/)
    const shown = parts.map((part, i) => {
      if (i % 2 === 0) return part === '' ? '' : `(${escaped(part)})Tj`
      const { further, byte } = placeOf(part.charCodeAt(0))
      const points = size * unitsPerPoint
      return `/${font.resource}${further} ${points} Tf(${escaped(String.fromCharCode(byte))})Tj/${font.resource} ${points} Tf`
    })
    return shown.join('')
  }

  #shape(sx: number, sy: number, x: number, bottom: number, path: string): void {
    const scale = `${units(sx * unitsPerPoint)} 0 0 ${units(sy * unitsPerPoint)}`
    this.#paint(`q ${scale} ${Math.round(x * unitsPerPoint)} ${flip(bottom)} cm\n${path}f Q\n`)
  }

  #paint(operators: string): void {
    if (this.#isPicture) this.#pictures += operators
    else this.#shapes += operators
  }
}

function artifact(operators: string): string {
  return operators === '' ? '' : `/Artifact BMC\n${operators}EMC\n`
}

/** Operators that every sheet repeats and that are read on the first one. */
export function repeated(operators: readonly string[]): string[] {
  return ['/Artifact<</Type/Pagination/Subtype/Header>>BDC\n', ...operators, 'EMC\n']
}

// The origin is the top left corner (see `pageUnits`), because a canvas has no page size.
function flip(y: number): number {
  return Math.round(-y * unitsPerPoint)
}

function units(value: number): number {
  return Math.round(value * 1000) / 1000
}

const isInWinAnsi = (text: string) => !/[^\0-\xff]/.test(text)

const special = /[\\()]/

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
