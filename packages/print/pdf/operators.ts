/** Operators of a content stream, written as bytes: a string for each of thousands of cells would cost more than the cells. */
export class Operators {
  #bytes = empty
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What is written so far, until more is. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Characters of WinAnsi or of operators. */
  put(text: string): void {
    const bytes = this.#room(text.length)
    let at = this.#length
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
    this.#length = at
  }

  integer(value: number): void {
    const bytes = this.#room(digitsMax)
    let rest = value
    if (value < 0) {
      bytes[this.#length++] = minus
      rest = -value
    }
    let digits = 1
    for (let power = 10; power <= rest; power *= 10) digits++
    this.#length += digits
    for (let at = this.#length - 1; digits > 0; digits--) {
      const next = Math.trunc(rest / 10)
      bytes[at--] = zero + rest - next * 10
      rest = next
    }
  }

  /** Moves the next text by this much. */
  move(dx: number, dy: number): void {
    this.integer(dx)
    this.put(' ')
    this.integer(dy)
    this.put(' Td')
  }

  /** Shows a text and marks its characters in `shown`; writes nothing and gives false when some are outside WinAnsi. */
  show(text: string, shown: Uint8Array): boolean {
    const bytes = this.#room(2 * text.length + 5)
    let at = this.#length
    bytes[at++] = open
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0xff) return false
      shown[code] = 1
      if (code === open || code === close || code === backslash) bytes[at++] = backslash
      bytes[at++] = code
    }
    this.#length = at
    this.put(')Tj\n')
    return true
  }

  #room(more: number): Buffer {
    if (this.#length + more > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(first, 2 * (this.#length + more)))
      larger.set(this.bytes)
      this.#bytes = larger
    }
    return this.#bytes
  }
}

const empty = Buffer.alloc(0)
const first = 16_384
const digitsMax = 20
const [minus, zero] = [0x2d, 0x30]
const [open, close, backslash] = [0x28, 0x29, 0x5c]
