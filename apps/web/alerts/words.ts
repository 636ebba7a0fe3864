import type { Alert, AlertBand, AlertState } from '@vigia/contract/alerts'
import { familyOf } from '@vigia/dfe/families/lookup'
import { CircleAlert, Info, type LucideIcon, OctagonAlert, TriangleAlert } from 'lucide-react'
import type { Tone } from '../ui/badge.tsx'

/** How grave an alert is, in a word, a colour and a mark; the gravest first. */
export const bands: Record<AlertBand, { label: string; tone: Tone; icon: LucideIcon }> = {
  critico: { label: 'Crítico', tone: 'red', icon: OctagonAlert },
  alto: { label: 'Alto', tone: 'yellow', icon: TriangleAlert },
  medio: { label: 'Médio', tone: 'plain', icon: CircleAlert },
  informativo: { label: 'Informativo', tone: 'plain', icon: Info },
}

export const states: Record<AlertState, string> = {
  nova: 'Nova',
  'em-analise': 'Em análise',
  confirmada: 'Suspeita confirmada',
  conhecida: 'Ignorada',
}

/** "NF-e 1.234", the way a person finds a document. */
export function nameOf({ tipoDFe, numero }: Pick<Alert, 'tipoDFe' | 'numero'>): string {
  return `${familyOf(tipoDFe).name} ${numero.toLocaleString('pt-BR')}`
}

/** Whether a reason compares with a document that the person can see. */
export const hasCompared = ({ comparados }: Alert['motivos'][number]) => comparados.some(({ idDFe }) => idDFe !== null)
