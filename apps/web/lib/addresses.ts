/** The list with this document and its panel. */
export function documentAddress(document: { tipoDFe: number; chave: string; idDFe: string }): string {
  const params = new URLSearchParams({ busca: document.chave, periodo: 'todos', documento: document.idDFe })
  return `${document.tipoDFe === 0 ? '/notas-fiscais' : '/cte'}?${params}`
}

/** The page of who issued documents: one for all CNPJs of a root. */
export function supplierAddress(taxId: string): string {
  return `/fornecedores/${taxId.length === 14 ? taxId.slice(0, 8) : taxId}`
}
