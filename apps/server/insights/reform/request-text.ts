import { formatCount, formatInteger, formatList, formatMoney, formatMonth } from '@vigia/contract/text'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'

interface MissingGroups {
  cnpjCpf: string
  nome: string
  tipoDFe: number
  documentos: number
  valor: number
  /** Numbers of some of the documents, in their order. */
  numbers: readonly number[]
  /** aaaa-MM */
  month: string
  /** Company that received them; empty: several. */
  company: string
}

export function requestText(missing: MissingGroups): string {
  const { cnpjCpf, nome, tipoDFe, documentos, valor, numbers, month, company } = missing
  const { id: family, name } = familyOf(tipoDFe)
  const what =
    family === nfe.id ? formatCount(documentos, 'nota fiscal', 'notas fiscais') : formatCount(documentos, name, name)
  const id =
    cnpjCpf.length === 11 ? `CPF ${formatCpf(cnpjCpf)}` : cnpjCpf.length === 14 ? `CNPJ ${formatCnpj(cnpjCpf)}` : ''
  const listed = numbers.map((number) => formatInteger(number))
  const more = documentos - listed.length
  return [
    `Prezados,`,
    `${company ? `A ${company} recebeu` : 'Recebemos'} de ${nome}${id ? ` (${id})` : ''} ${what} de ${formatMonth(month)} sem os grupos de IBS e CBS (IBSCBS), no total de ${formatMoney(valor)}: ${more > 0 ? `${listed.join(', ')} e mais ${formatInteger(more)}` : formatList(listed)}.`,
    'Desde 01/01/2026, o emitente do regime normal (CRT 3) informa IBS e CBS em cada item (Lei Complementar 214/2025, art. 348; Nota Técnica 2025.002). Estes documentos continuam válidos; pedimos que os próximos tragam os grupos.',
    'Se a empresa é do Simples Nacional ou MEI, confira o CRT que o emissor escreve na nota: nelas consta o regime normal.',
    'Obrigado.',
  ].join('\n\n')
}
