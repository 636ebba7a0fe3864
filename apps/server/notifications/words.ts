/** "1 documento", "1.240 documentos". */
export function counted(n: number, one: string, many: string): string {
  return `${n.toLocaleString('pt-BR')} ${n === 1 ? one : many}`
}

/** "a, b e c". */
export function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} e ${words.at(-1)}`
}

const namedMax = 2

/** The first names, and how many companies there are besides. */
export function named(companies: Iterable<string | null>): string {
  const names = [...new Set([...companies].map((name) => name ?? 'uma empresa'))]
  const others = names.length - namedMax
  if (others <= 0) return joined(names)
  return joined([...names.slice(0, namedMax), `mais ${counted(others, 'empresa', 'empresas')}`])
}
