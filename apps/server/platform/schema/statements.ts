const parts = /\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|--.*|;|[^$'"\-;]+|[^;]/g

/** The statements of a migration, without comments between them. Citus hands the whole text on that a change of a table comes in, so each is sent by itself. */
export function statementsOf(text: string): string[] {
  const statements = ['']
  for (const [part] of text.matchAll(parts)) {
    if (part === ';') statements.push('')
    else if (!part.startsWith('--')) statements[statements.length - 1] += part
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}
