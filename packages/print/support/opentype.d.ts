/** The part of opentype.js that we use. */
declare module 'opentype.js' {
  export interface Command {
    type: 'M' | 'L' | 'Q' | 'C' | 'Z'
    x: number
    y: number
    x1: number
    y1: number
    x2: number
    y2: number
  }

  export interface Component {
    glyphIndex: number
    dx: number
    dy: number
    xScale: number
    scale01: number
    scale10: number
    yScale: number
  }

  export interface Glyph {
    index: number
    name: string
    advanceWidth: number
    isComposite?: boolean
    components?: Component[]
    path: { commands: Command[] }
    getBoundingBox(): { x1: number; y1: number; x2: number; y2: number }
  }

  export interface Font {
    unitsPerEm: number
    glyphs: { length: number; get(index: number): Glyph }
    tables: { os2?: { fsType: number }; cff?: { topDict: Record<string, unknown> } }
    charToGlyph(character: string): Glyph
  }

  const opentype: { parse(buffer: ArrayBuffer): Font }
  export default opentype
}
