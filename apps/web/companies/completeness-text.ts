import type { CompletenessMonth } from '@vigia/contract/companies'
import { formatCount, formatInstantDate, formatTime } from '@vigia/contract/text'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyById } from '@vigia/dfe/families/lookup'

type ListedGap = CompletenessMonth['lacunas'][number]

/** Whether a month is complete, and if not, what happens to the rest. */
export function stateOf({ lacunas, consultas }: CompletenessMonth) {
  if (lacunas.some(({ faltam }) => faltam > 0)) return 'Buscando o que falta'
  if (lacunas.some(({ perdidas }) => perdidas > 0)) return 'Com perdas'
  return consultas === 0 ? 'Sem consulta' : 'Completo'
}

/** "3 recuperados, 1 ainda falta, 2 não estão mais na SEFAZ". */
export function missingOf({ recuperadas, faltam, perdidas, vazias }: ListedGap): string {
  const parts = [
    recuperadas > 0 && formatCount(recuperadas, 'recuperado', 'recuperados'),
    faltam > 0 && formatCount(faltam, 'ainda falta', 'ainda faltam'),
    perdidas > 0 && formatCount(perdidas, 'não está mais na SEFAZ', 'não estão mais na SEFAZ'),
    vazias > 0 && formatCount(vazias, 'não tinha documento', 'não tinham documento'),
  ]
  return parts.filter(Boolean).join(', ') || 'nada faltou'
}

const columns = [
  'Serviço',
  'Mês',
  'Primeiro NSU',
  'Último NSU',
  'Documentos',
  'Números vazios na SEFAZ',
  'Consultas',
  'Consultas sem resposta',
  'Situação',
  'O que faltou',
]

/** The same as tab-separated text, for pasting into a spreadsheet. */
export function completenessText(
  company: string,
  services: readonly { servico: FamilyId; meses: readonly CompletenessMonth[] }[],
): string {
  const rows = services.flatMap(({ servico, meses }) =>
    meses.map((month) => [
      familyById(servico).name,
      month.mes,
      month.nsuInicial ?? '',
      month.nsuFinal ?? '',
      month.documentos,
      month.semDocumento,
      month.consultas,
      month.semResposta,
      stateOf(month),
      month.lacunas.map(gapText).join('; '),
    ]),
  )
  return [[`Completude de ${company}`], columns, ...rows].map((row) => row.join('\t')).join('\n')
}

function gapText(gap: ListedGap): string {
  const when = `${formatInstantDate(gap.descobertaEm)} ${formatTime(gap.descobertaEm)}`
  return `NSU ${gap.de} a ${gap.ate}: ${missingOf(gap)} (${when}, ${gap.motivo})`.replace(/\s+/g, ' ')
}
