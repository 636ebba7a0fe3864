import { formatCount, formatList } from '@vigia/contract/text'

const namedMax = 2

/** The first names, and how many companies there are besides. */
export function named(companies: Iterable<string | null>): string {
  const names = [...new Set([...companies].map((name) => name ?? 'uma empresa'))]
  const others = names.length - namedMax
  if (others <= 0) return formatList(names)
  return formatList([...names.slice(0, namedMax), `mais ${formatCount(others, 'empresa', 'empresas')}`])
}
