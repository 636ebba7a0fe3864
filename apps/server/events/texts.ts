const shownMax = 5

/** The first few of many numbers, and how many there are besides. */
export function numbersText(numbers: number[]): string {
  const shown = numbers.slice(0, shownMax).join(', ')
  return numbers.length > shownMax ? `${shown} e mais ${numbers.length - shownMax}` : shown
}
