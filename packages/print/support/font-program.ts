import opentype from 'opentype.js'
import { unitsPerEm } from '../pdf/glyphs.ts'

/** The glyphs of a CFF program by name, widths in thousandths. opentype.js reads it inside an OpenType file: the least tables that it asks for. */
export function parsedFont(data: Buffer): Map<string, { width: number; commands: number }> {
  const head = Buffer.alloc(54)
  head.writeUInt32BE(0x5f0f3cf5, 12)
  head.writeUInt16BE(unitsPerEm, 18)
  // Format 4 without characters.
  const words = [0, 1, 3, 1, 0, 12, 4, 24, 0, 2, 2, 0, 0, 0xffff, 0, 0xffff, 1, 0]
  const cmap = words.flatMap((word) => [word >> 8, word & 255])
  const maxp = Buffer.from([0, 0, 0x50, 0, 0, 1])
  const tables: [string, Buffer][] = [
    ['CFF ', data],
    ['head', head],
    ['cmap', Buffer.from(cmap)],
    ['hhea', Buffer.concat([Buffer.alloc(34), Buffer.from([0, 1])])],
    ['hmtx', Buffer.alloc(1000)],
    ['maxp', maxp],
    ['name', Buffer.from([0, 0, 0, 0, 0, 6])],
  ]
  const directory = Buffer.alloc(12 + 16 * tables.length)
  directory.write('OTTO', 0, 'latin1')
  directory.writeUInt16BE(tables.length, 4)
  let at = directory.length
  tables.forEach(([tag, { length }], i) => {
    directory.write(tag, 12 + 16 * i, 'latin1')
    directory.writeUInt32BE(at, 20 + 16 * i)
    directory.writeUInt32BE(length, 24 + 16 * i)
    at += length
  })
  const file = new Uint8Array(Buffer.concat([directory, ...tables.map(([, table]) => table)]))
  const { glyphs } = opentype.parse(file.buffer)
  return new Map(
    Array.from({ length: glyphs.length }, (_, i) => {
      const glyph = glyphs.get(i)
      const commands = glyph.path.commands.length
      return [glyph.name, { width: (glyph.advanceWidth * 1000) / unitsPerEm, commands }]
    }),
  )
}

/** The glyph names of WinAnsi by byte, which a viewer looks up in the font. */
export const winAnsiNames: readonly string[] = names()

function names(): string[] {
  const ascii =
    'space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde'
  const latin =
    'space exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis'
  const all: string[] = []
  ascii.split(' ').forEach((name, i) => {
    all[0x20 + i] = name
  })
  const high =
    'Euro  quotesinglbase florin quotedblbase ellipsis dagger daggerdbl circumflex perthousand Scaron guilsinglleft OE  Zcaron   quoteleft quoteright quotedblleft quotedblright bullet endash emdash tilde trademark scaron guilsinglright oe  zcaron Ydieresis'
  high.split(' ').forEach((name, i) => {
    if (name) all[0x80 + i] = name
  })
  latin.split(' ').forEach((name, i) => {
    all[0xa0 + i] = name
  })
  return all
}
