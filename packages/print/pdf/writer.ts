import { deflateSync } from 'node:zlib'
import { a4 } from './canvas.ts'
import { fonts } from './fonts.ts'
import type { Ansi } from './winansi.ts'

const catalog = 1
const pageTree = 2
const resources = 3
const information = 4
const firstFont = 5

/** A PDF 1.7 file in the making (ISO 32000-1). The same calls always give the same bytes: there is no date and no identifier in it. */
export class Pdf {
  #bodies: (Uint8Array<ArrayBuffer> | undefined)[] = new Array(firstFont + fonts.length).fill(undefined)
  #pages: number[] = []

  /** Keeps a content stream; pages share a stream by naming it twice. */
  stream(content: string): number {
    const plain = Buffer.from(content, 'latin1')
    const packed = plain.length > 200
    const data = packed ? deflateSync(plain) : plain
    const filter = packed ? '/Filter/FlateDecode' : ''
    const head = Buffer.from(`<<${filter}/Length ${data.length}>>stream\n`, 'latin1')
    return this.#add(Buffer.concat([head, data, Buffer.from('\nendstream', 'latin1')]))
  }

  /** Adds an A4 page that shows these streams one after the other. */
  page(streams: readonly number[]): void {
    const contents = streams.map((stream) => `${stream} 0 R`).join(' ')
    this.#pages.push(this.#add(`<</Type/Page/Parent ${pageTree} 0 R/Contents[${contents}]>>`))
  }

  /** The finished file. */
  bytes(title: Ansi): Uint8Array {
    const kids = this.#pages.map((page) => `${page} 0 R`).join(' ')
    const fontNames = fonts.map((font, i) => `/${font.resource} ${firstFont + i} 0 R`).join('')
    this.#set(catalog, `<</Type/Catalog/Pages ${pageTree} 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>>>`)
    this.#set(
      pageTree,
      `<</Type/Pages/Count ${this.#pages.length}/Kids[${kids}]/MediaBox[0 0 ${a4.width} ${a4.height}]/Resources ${resources} 0 R>>`,
    )
    this.#set(resources, `<</Font<<${fontNames}>>>>`)
    this.#set(information, `<</Title(${title.replace(/[\\()]/g, '\\$&')})>>`)
    fonts.forEach((font, i) => {
      this.#set(firstFont + i, `<</Type/Font/Subtype/Type1/BaseFont/${font.baseFont}/Encoding/WinAnsiEncoding>>`)
    })
    return this.#assemble()
  }

  #add(body: Uint8Array<ArrayBuffer> | string): number {
    this.#bodies.push(undefined)
    this.#set(this.#bodies.length - 1, body)
    return this.#bodies.length - 1
  }

  #set(number: number, body: Uint8Array<ArrayBuffer> | string): void {
    this.#bodies[number] = typeof body === 'string' ? Buffer.from(body, 'latin1') : body
  }

  #assemble(): Uint8Array {
    // The second line holds bytes above 127, so that transports treat the file as binary (ISO 32000-1, 7.5.2).
    const parts: Uint8Array<ArrayBuffer>[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
    let length = parts[0]!.length
    let table = '0000000000 65535 f \n'
    this.#bodies.forEach((body, number) => {
      if (body === undefined) return
      table += `${String(length).padStart(10, '0')} 00000 n \n`
      const head = Buffer.from(`${number} 0 obj\n`, 'latin1')
      const tail = Buffer.from('\nendobj\n', 'latin1')
      parts.push(head, body, tail)
      length += head.length + body.length + tail.length
    })
    const size = this.#bodies.length
    const trailer = `trailer\n<</Size ${size}/Root ${catalog} 0 R/Info ${information} 0 R>>\nstartxref\n${length}\n%%EOF\n`
    parts.push(Buffer.from(`xref\n0 ${size}\n${table}${trailer}`, 'latin1'))
    return new Uint8Array(Buffer.concat(parts))
  }
}
