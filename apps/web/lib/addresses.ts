import { kindOf } from './kinds.ts'

/** Address of the list with this document, of any month; with its panel if its id is known, and the dialog of an answer by its tpEvento. */
export function documentAddress(
  { chave, idDFe }: { chave: string; idDFe?: string | undefined },
  answer?: number,
): string {
  const params = new URLSearchParams({ busca: chave, periodo: 'todos', ...(idDFe && { documento: idDFe }) })
  if (answer) params.set('responder', String(answer))
  return `${kindOf(chave).path}?${params}`
}

/** Address of an issuer's page, one for all CNPJs of a root. */
export function supplierAddress(taxId: string): string {
  return `/fornecedores/${taxId.length === 14 ? taxId.slice(0, 8) : taxId}`
}
