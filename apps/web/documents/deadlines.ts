import type { DocumentRow } from '@vigia/contract/documents'
import { formatShortDay, formatTime } from '@vigia/contract/text'

type Deadline = NonNullable<DocumentRow['prazo']>

interface DeadlineTexts {
  /** "Ciência". */
  name: string
  /** "3 dias". */
  left: string
  /** "A Ciência pode ser dada até 23/11/2026 às 14:10". */
  long: string
  urgency: 'calm' | 'soon' | 'now'
}

const names: Record<Deadline['para'], { name: string; sentence: string }> = {
  ciencia: { name: 'Ciência', sentence: 'A Ciência pode ser dada até' },
  manifestacao: { name: 'Resposta', sentence: 'A resposta final pode ser dada até' },
  desacordo: { name: 'Desacordo', sentence: 'O desacordo pode ser registrado até' },
}

/** The time that is left until a deadline, in calendar days; null when it has passed. */
export function describeDeadline({ para, ate }: Deadline, now: Date): DeadlineTexts | null {
  const end = new Date(ate)
  if (Number.isNaN(end.getTime()) || end < now) return null
  const { name, sentence } = names[para]
  const days = daysBetween(now, end)
  const left = days === 0 ? `hoje, ${formatTime(ate)}` : days === 1 ? 'amanhã' : `${days} dias`
  return {
    name,
    left,
    long: `${sentence} ${formatShortDay(end, now)} às ${formatTime(ate)}`,
    urgency: days <= 2 ? 'now' : days <= 7 ? 'soon' : 'calm',
  }
}

/** Text of the first deadline of some documents. */
export function untilText(until: string, documents: number, now: Date): string {
  const end = new Date(until)
  const days = daysBetween(now, end)
  const left = days <= 0 ? 'termina hoje' : days === 1 ? 'termina amanhã' : `faltam ${days} dias`
  return `${documents > 1 ? 'O primeiro prazo' : 'O prazo'} vai até ${formatShortDay(end, now)} às ${formatTime(until)} (${left}).`
}

function daysBetween(from: Date, to: Date): number {
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
  return Math.round((midnight(to) - midnight(from)) / 86_400_000)
}
