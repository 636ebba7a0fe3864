/** Character data as canonical XML writes it: `&`, `<`, `>` and carriage returns become references (Canonical XML 1.0 §2.3). */
export function escapeText(text: string): string {
  return /[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, reference) : text
}

/** An attribute value, for double quotes, as canonical XML writes it (Canonical XML 1.0 §2.3). */
export function escapeAttribute(text: string): string {
  return /[&<"\t\n\r]/.test(text) ? text.replace(/[&<"\t\n\r]/g, reference) : text
}

/** One element; content is XML already (character data goes through `escapeText` first), nothing is put between the tags (MOC, rejections 588 and 599). */
export function tag(
  name: string,
  attributes: Record<string, string | undefined> | null,
  ...content: (string | undefined | null | false)[]
): string {
  let open = `<${name}`
  if (attributes !== null) {
    for (const key of Object.keys(attributes)) {
      const value = attributes[key]
      if (value !== undefined) open += ` ${key}="${escapeAttribute(value)}"`
    }
  }
  let inner = ''
  for (const piece of content) {
    if (piece) inner += piece
  }
  return inner === '' ? `${open}/>` : `${open}>${inner}</${name}>`
}

function reference(character: string): string {
  switch (character) {
    case '&':
      return '&amp;'
    case '<':
      return '&lt;'
    case '>':
      return '&gt;'
    case '"':
      return '&quot;'
    case '\t':
      return '&#x9;'
    case '\n':
      return '&#xA;'
    default:
      return '&#xD;'
  }
}
