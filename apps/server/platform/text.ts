/** How names are written in search columns and how what a person typed is compared with them: no accents, lower case, single spaces. */
export function searchable(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()
}

/** `text` as the inside of a LIKE pattern. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

const local = new Intl.DateTimeFormat('sv-SE', {
  dateStyle: 'short',
  timeStyle: 'medium',
  timeZone: 'America/Sao_Paulo',
})

/** An instant as the layouts of documents write it, in the time of Brasília and without its offset: 2026-11-20T10:05:00. */
export function localText(at: Date): string {
  return local.format(at).replace(' ', 'T')
}

const moment = new Intl.DateTimeFormat('pt-BR', {
  dateStyle: 'short',
  timeStyle: 'short',
  timeZone: 'America/Sao_Paulo',
})

/** An instant as people in Brazil read it: 20/11/2026 às 10:05. */
export function momentText(at: Date): string {
  return moment.format(at).replace(',', ' às')
}
