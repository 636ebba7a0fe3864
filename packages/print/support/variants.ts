/** The two drawings of a form. */
export const orientations = ['portrait', 'landscape'] as const

/** The same document with the orientation its issuer asks for (`ide/tpImp`). */
export function withTpImp(bytes: Uint8Array, tpImp: string): Uint8Array {
  const xml = new TextDecoder().decode(bytes)
  const element = `<tpImp>${tpImp}</tpImp>`
  const changed = xml.includes('<tpImp>')
    ? xml.replace(/<tpImp>[^<]*<\/tpImp>/, element)
    : xml.replace('</ide>', `${element}</ide>`)
  return new TextEncoder().encode(changed)
}

/** Each document in both orientations, with a name for its tests. */
export function inBothOrientations(
  documents: readonly [string, Uint8Array][],
): [string, (typeof orientations)[number], Uint8Array][] {
  return documents.flatMap(([name, bytes]) =>
    orientations.map((orientation): [string, (typeof orientations)[number], Uint8Array] => [
      name,
      orientation,
      withTpImp(bytes, orientation === 'landscape' ? '2' : '1'),
    ]),
  )
}

/** As `inBothOrientations`, but each document in one of them, by turns. */
export function inOneOrientation(documents: readonly [string, Uint8Array][]): ReturnType<typeof inBothOrientations> {
  return inBothOrientations(documents).filter((_, index) => index % 4 === 0 || index % 4 === 3)
}

/** The document with other words in the elements that have a limit: each as long as its share of the limit. */
export function withTexts(
  bytes: Uint8Array,
  limits: Record<string, number>,
  words: string,
  shares: readonly number[],
): Uint8Array {
  let at = 0
  const xml = new TextDecoder().decode(bytes).replace(/<(\w+)>[^<>]*<\/\1>/g, (whole, name: string) => {
    const limit = limits[name]
    if (limit === undefined) return whole
    const length = Math.max(1, Math.round(limit * shares[at++ % shares.length]!))
    return `<${name}>${words.repeat(Math.ceil(length / words.length)).slice(0, length)}</${name}>`
  })
  return new TextEncoder().encode(xml)
}
