/** A code and its word, as the screens show them. */
export interface Code {
  code: number
  label: string
}

/** `TipoDFe` of the list and `tipoDfe` of the dashboard (sections 3 and 7). */
export const tipoDFe = { nfe: 0, cte: 2 } as const

/** Participation type, general table of section 3. */
export const participations: readonly Code[] = [
  { code: 0, label: 'Emitente' },
  { code: 1, label: 'Destinatário' },
  { code: 2, label: 'Transportador' },
  { code: 3, label: 'Terceiro' },
  { code: 4, label: 'Remetente' },
  { code: 5, label: 'Expedidor' },
  { code: 6, label: 'Recebedor' },
  { code: 7, label: 'Tomador' },
]

/** The word for a participation code; anything outside the table is "Desconhecido". */
export function participationLabel(code: number): string {
  return participations.find((row) => row.code === code)?.label ?? 'Desconhecido'
}

const pick = (table: readonly Code[], codes: number[]) => table.filter((row) => codes.includes(row.code))

/** Options of the participation filter, per document type. */
export const participationFilter = {
  nfe: pick(participations, [0, 1, 2, 3]),
  cte: pick(participations, [0, 1, 3, 4, 5, 6, 7]),
} as const

/** Options of the status filter, per document type. */
export const statusFilter: { nfe: readonly Code[]; cte: readonly Code[] } = {
  nfe: [
    { code: 1, label: 'Resumo' },
    { code: 2, label: 'Autorizada' },
    { code: 3, label: 'Cancelada' },
    { code: 4, label: 'Desconhecimento' },
    { code: 5, label: 'Operação Não Realizada' },
    { code: 6, label: 'Confirmação' },
    { code: 8, label: 'Ciência' },
  ],
  cte: [
    { code: 2, label: 'Autorizada' },
    { code: 3, label: 'Cancelada' },
    { code: 7, label: 'Carta Correção' },
  ],
}

/** Tone of a status badge by `codigoEvento` (section 3: green, red, blue, any other yellow). */
export function statusTone(codigoEvento: number): 'green' | 'red' | 'blue' | 'yellow' {
  if ([610614, 610610, 210200].includes(codigoEvento)) return 'green'
  if ([610615, 110111].includes(codigoEvento)) return 'red'
  return codigoEvento === 210210 ? 'blue' : 'yellow'
}
