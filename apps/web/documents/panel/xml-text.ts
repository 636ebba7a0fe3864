/** Indents an XML text, one element per line; changes only white space between elements. */
export function indentXml(text: string): string {
  const parts = text.replace(/>\s+</g, '><').split(/(?<=>)(?=<)/)
  let depth = 0
  return parts
    .map((part) => {
      if (part.startsWith('</')) depth = Math.max(0, depth - 1)
      const line = '  '.repeat(depth) + part
      // An element that is not closed in the same part indents the next ones.
      if (/^<[^/!?]/.test(part) && !part.endsWith('/>') && !part.includes('</')) depth++
      return line
    })
    .join('\n')
}
