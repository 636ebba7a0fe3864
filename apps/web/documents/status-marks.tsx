import { statusTone } from '@vigia/contract/codes'
import type { DocumentRow } from '@vigia/contract/documents'
import {
  Ban,
  Check,
  CheckCheck,
  CircleQuestionMark,
  CircleSlash,
  FileMinus,
  type LucideIcon,
  MailOpen,
  PencilLine,
} from 'lucide-react'
import { Badge } from '../ui/badge.tsx'

// By `codigoEvento`; 0 is a summary. Other codes get the mark of their colour.
const marks: Partial<Record<number, LucideIcon>> = {
  0: FileMinus,
  100: Check,
  110110: PencilLine,
  110111: Ban,
  110112: Ban,
  210200: CheckCheck,
  210210: MailOpen,
  210220: CircleQuestionMark,
  210240: CircleSlash,
}
// Yellow statuses that need attention: summary, denied, correction, negative answers, dispute.
const wantEyes = [0, 302, 110110, 210220, 210240, 610110]

// A document is this by itself; every other code is an event that came later.
const byItself = [0, 100, 302, 110111, 110112]
const bases: Partial<Record<number, { code: number; word: string }>> = {
  1: { code: 0, word: 'Resumo' },
  2: { code: 100, word: 'Autorizada' },
}

interface StatusBadgeProps {
  row: DocumentRow
  wrap?: boolean
  /** The state before a later event as a word too, and not as its mark alone. */
  inWords?: boolean
}

/** Status of a document, followed by its later event. */
export function StatusBadge({ row, wrap = false, inWords = false }: StatusBadgeProps) {
  const { codigoEvento, descricaoEvento } = row.status
  if (descricaoEvento === '') return null
  const base = byItself.includes(codigoEvento) ? undefined : bases[row.situacaoBase ?? 0]
  return (
    // Marks beside it shrink it to its longest word, then wrap below.
    <span className="flex min-w-0 max-w-fit grow basis-27 gap-1">
      {base && inWords && <EventBadge code={base.code} words={base.word} />}
      {base && !inWords && <BaseMark {...base} />}
      <EventBadge code={codigoEvento} words={descricaoEvento} wrap={wrap} />
    </span>
  )
}

function EventBadge({ code, words, wrap = false }: { code: number; words: string; wrap?: boolean }) {
  const tone = statusTone(code)
  return (
    <Badge tone={tone} icon={marks[code]} quiet={tone === 'yellow' && !wantEyes.includes(code)} wrap={wrap}>
      {words}
    </Badge>
  )
}

function BaseMark({ code, word }: { code: number; word: string }) {
  const Icon = marks[code] ?? Check
  return (
    <span role="img" aria-label={word} title={word} className="flex h-5.5 shrink-0 items-center text-ghost">
      <Icon aria-hidden className="size-3.5" />
    </span>
  )
}
