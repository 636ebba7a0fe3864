/** Text written by others, without the characters that move the cursor of a terminal or hide something. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, '\uFFFD')
}

/** The day and time of `at` for people in Brazil. */
export function moment(at: Date): string {
  return format.format(at).replace(',', '')
}

const format = new Intl.DateTimeFormat('pt-BR', {
  dateStyle: 'short',
  timeStyle: 'short',
  timeZone: 'America/Sao_Paulo',
})
