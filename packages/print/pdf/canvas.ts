import type { Font } from './fonts.ts'
import { emWidth, placeOf, Shown } from './fonts.ts'
import type { Mark, Part, Role } from './structure.ts'
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

// Words of a figure; the text of a code may be of any length.
const altMax = 300

const space = ' ' as Ansi

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

// Parts that hold parts; a text among them is a paragraph of its own.
const holders: ReadonlySet<Role> = new Set(['Document', 'Sect', 'Table', 'TR'])

/** Ends a line that the next one goes on with inside a word. No text of a document has it. */
export const goesOn = '\x01'

/**
 * What one stream of a page shows. Coordinates are points from the top left corner of the sheet. The stamp lies under
 * everything, rules under words.
 */
export class Canvas {
  #marks: Mark[] = []
  #pictures: Mark[] = []
  #root: Part = { role: 'Document', kids: [] }
  #open = this.#root
  #end: Part = { role: 'Document', kids: [] }
  #paragraph: Part | undefined
  #silent = false
  #figure: Mark | undefined
  // Whether a space belongs between the text before and the next one of the same part.
  #breaks = false
  /** The characters of its texts. */
  readonly shown: Shown
  code: Modules | undefined
  #under = ''
  #outlines: Outline[] = []
  #shapes = ''
  #rules: Record<Rule, string> = { hair: '', divider: '', cut: '' }
  #turned: { canvas: Canvas; place: string }[] = []
  #font: Font | undefined
  #size = 0
  #x = 0
  #y = 0

  constructor(shown = new Shown()) {
    this.shown = shown
  }

  /** What of its content is to be read, in the order of the numbers that `content` gives it. */
  get marks(): Mark[] {
    const own = [...this.#pictures, ...this.#marks].filter(({ part }) => part)
    return [...own, ...this.#turned.flatMap(({ canvas }) => canvas.marks)]
  }

  /** Its parts in reading order. */
  get parts(): Part[] {
    return this.#root.kids.filter((kid) => 'role' in kid)
  }

  /** The parts that are read after everything else, whatever the sheet. */
  get lastParts(): Part[] {
    return this.#end.kids.filter((kid) => 'role' in kid)
  }

  /** What is drawn is a part of this role; gives it, so that a later drawing can go on with it. */
  tagged(role: Role, draw: () => void, columns?: number): Part {
    const part: Part = { role, kids: [], columns, reference: undefined }
    const { kids } = this.#open
    if (!this.#silent) kids.push(part)
    this.within(part, draw)
    // A box without label and value.
    if (role === 'P' && part.kids.length === 0 && !this.#silent) kids.pop()
    return part
  }

  /** What is drawn goes on with a part, of this sheet or of another one. */
  within(part: Part, draw: () => void): void {
    const before = this.#open
    this.#open = part
    this.#paragraph = undefined
    draw()
    this.#open = before
    this.#paragraph = undefined
  }

  /** What is drawn is for the eye only: the number of a sheet, or what was read before. */
  silently(draw: () => void): void {
    const before = this.#silent
    this.#silent = true
    draw()
    this.#silent = before
  }

  /** What is drawn is read after everything else. */
  atEnd(draw: () => void): void {
    const before = this.#root
    this.#root = this.#end
    this.within(this.#end, () => {
      this.tagged('Sect', draw)
    })
    this.#root = before
  }

  /** Bars, a matrix or an image with the words that say what it is. */
  figure(alt: string, area: NonNullable<Part['area']>, draw: () => void): void {
    const part: Part = { role: 'Figure', kids: [], alt: alt.slice(0, altMax), area }
    this.#open.kids.push(part)
    this.#paragraph = undefined
    this.#figure = newMark(part)
    this.#pictures.push(this.#figure)
    draw()
    this.#figure = undefined
  }

  /** The title of a section, to which everything up to the next title belongs. */
  heading(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    if (this.#silent) {
      this.text(x, baseline, text, font, size)
      return
    }
    const section: Part = { role: 'Sect', kids: [] }
    this.#root.kids.push(section)
    this.#open = section
    this.tagged('H2', () => this.text(x, baseline, text, font, size))
  }

  /** A line of text whose baseline starts at this point. */
  text(x: number, baseline: number, text: Ansi, font: Font, size: number): void {
    if (text === '') return
    const whole = !text.endsWith(goesOn)
    const shown = whole ? text : (text.slice(0, -1) as Ansi)
    this.shown.add(shown, font)
    const mark = this.#mark(font)
    if (font !== this.#font || size !== this.#size) {
      mark.operators += `/${font.resource} ${size * unitsPerPoint} Tf\n`
      this.#font = font
      this.#size = size
    }
    const px = Math.round(x * unitsPerPoint)
    const py = flip(baseline)
    mark.operators += `${px - this.#x} ${py - this.#y} Td${outsideWinAnsi.test(shown) ? this.#mixed(shown, font, size) : `(${escaped(shown)})Tj`}\n`
    this.#x = px
    this.#y = py
    this.#breaks = whole
  }

  // The mark that the next text belongs to: where it goes on with a part, words of one text and of the next must not become one.
  #mark(font: Font): Mark {
    const part = this.#silent ? undefined : this.#textPart()
    const last = this.#marks.at(-1)
    if (last && last.part === part) {
      if (this.#breaks) {
        last.operators += '( )Tj\n'
        this.shown.add(space, this.#font ?? font)
      }
      return last
    }
    const mark = newMark(part)
    this.#marks.push(mark)
    return mark
  }

  #textPart(): Part {
    if (!holders.has(this.#open.role)) return this.#open
    if (!this.#paragraph) {
      this.#paragraph = { role: 'P', kids: [] }
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
    this.#paint(`q ${size} ${Math.round(x * unitsPerPoint)} ${flip(y + height)} cm /${pictureName} Do Q\n`)
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
    this.#paint(`q ${side} 0 0 ${side} ${Math.round(x * unitsPerPoint)} ${flip(bottom)} cm /${codeName} Do Q\n`)
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
    canvas.#root = this.#root
    canvas.#open = this.#open
    draw(canvas)
    this.#turned.push({ canvas, place: `0 1 -1 0 ${Math.round(x * unitsPerPoint)} ${flip(y)} cm` })
  }

  /** The operators, for the writer; its marks have numbers from `firstMark` on. Without it nothing of it is to be read. */
  content(firstMark?: number): string {
    let number = firstMark ?? 0
    const marked = ({ part, operators }: Mark) => {
      if (firstMark === undefined) return operators
      return `${part ? `/${part.role}<</MCID ${number++}>>BDC` : '/Artifact BMC'}\n${operators}EMC\n`
    }
    const pictures = this.#pictures.map(marked).join('')
    const words = this.#marks.map(marked).join('')
    const shapes = firstMark === undefined ? this.#drawing() : artifact(this.#drawing())
    let turned = ''
    for (const { canvas, place } of this.#turned) {
      turned += `q ${place}\n${canvas.content(firstMark === undefined ? undefined : number)}Q\n`
      number += canvas.marks.length
    }
    return `${turned}${shapes}${pictures}${words ? `BT\n${words}ET\n` : ''}`
  }

  // Lines and the stamp, which say nothing that the texts do not.
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

  // Each character outside WinAnsi in its further font; the line goes on where the text before it ended.
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
    if (this.#figure) this.#figure.operators += operators
    else this.#shapes += operators
  }
}

function newMark(part: Part | undefined): Mark {
  const mark: Mark = { part, operators: '', page: 0, id: 0, lowered: 0 }
  // An array of one: pushing would make room for many.
  if (part?.kids.length === 0) part.kids = [mark]
  else part?.kids.push(mark)
  return mark
}

function artifact(operators: string): string {
  return operators === '' ? '' : `/Artifact BMC\n${operators}EMC\n`
}

/** Operators that every sheet repeats and that are read on the first one. */
export function repeated(operators: string): string {
  return `/Artifact<</Type/Pagination/Subtype/Header>>BDC\n${operators}EMC\n`
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

/**
 * Operators that set the units and the origin of a page, before anything else on it, and its black: what a file means by it
 * (see `greys`) is known of a colour that is set, and not of the one that a page begins with.
 */
export function pageUnits({ height }: PageSize): string {
  return `0 g 0 G ${1 / unitsPerPoint} 0 0 ${1 / unitsPerPoint} 0 ${height} cm\n`
}

/** The operators of a canvas, drawn lower on the sheet. */
export function lowered(by: number): { before: string; after: string } {
  return { before: `q 1 0 0 1 0 ${-Math.round(by * unitsPerPoint)} cm\n`, after: 'Q\n' }
}
