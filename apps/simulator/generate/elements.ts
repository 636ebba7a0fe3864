import { escapeText, tag } from '@vigia/xml/write'

type Content = string | false | null | undefined

/** An element of elements. */
export function group(name: string, ...content: Content[]): string {
  return tag(name, null, ...content)
}

/** An element of text; nothing when there is no text. */
export function textElement(name: string, value: string | number | undefined): string {
  return value === undefined || value === '' ? '' : tag(name, null, escapeText(String(value)))
}
