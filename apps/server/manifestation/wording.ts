const date = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'short', timeZone: 'America/Sao_Paulo' })

/** An instant as people in Brazil read it: 20/11/2026 às 10:05. */
export function momentText(at: Date): string {
  return date.format(at).replace(',', ' às')
}

/** "1 documento", "3 documentos". */
export function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}

const shownMax = 5

/** The first few of many numbers, and how many there are besides. */
export function numbersText(numbers: number[]): string {
  const shown = numbers.slice(0, shownMax).join(', ')
  return numbers.length > shownMax ? `${shown} e mais ${numbers.length - shownMax}` : shown
}
