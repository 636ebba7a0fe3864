import { formatInstantDate, formatTime } from '@vigia/contract/text'
import type { AuditRow } from '@vigia/contract/workspace'
import { Badge } from '../ui/badge.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { actionNames } from './audit-filter.ts'

interface AuditListProps {
  /** Undefined while they are loading. */
  rows: readonly AuditRow[] | undefined
}

export function AuditTable({ rows }: AuditListProps) {
  return (
    <table className="w-full table-fixed text-left">
      <caption className="sr-only">Registros, do mais novo ao mais antigo</caption>
      <colgroup>
        <col className="w-34" />
        <col className="w-[16%]" />
        <col className="w-36" />
        <col />
        <col className="w-36" />
      </colgroup>
      <thead>
        <tr className="border-line border-b text-muted text-sm [&>th]:h-9 [&>th]:px-2 [&>th]:font-semibold">
          <th scope="col" className="pl-0!">
            Quando
          </th>
          <th scope="col">Quem</th>
          <th scope="col">Ação</th>
          <th scope="col">O que aconteceu</th>
          <th scope="col" className="pr-0!">
            De onde
          </th>
        </tr>
      </thead>
      <tbody className="[&>tr>td]:px-2 [&>tr>td]:py-2 [&>tr>td]:align-top [&>tr]:border-line [&>tr]:border-b">
        {rows?.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no id, and two may be equal to the millisecond.
          <tr key={`${row.quando} ${index}`}>
            <td className="whitespace-nowrap pl-0! tabular-nums">
              <Moment row={row} />
            </td>
            <td className="break-words font-semibold">{row.usuario}</td>
            <td>
              <ActionBadge row={row} />
            </td>
            <td className="break-words">
              <Description text={row.descricao} />
            </td>
            <td className="break-words pr-0! text-muted tabular-nums">{row.endereco ?? '–'}</td>
          </tr>
        ))}
        {!rows &&
          [0, 1, 2, 3, 4, 5].map((index) => (
            <tr key={index} aria-hidden>
              <td colSpan={5} className="px-0!">
                <Skeleton className="my-1 w-4/5" />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}

export function AuditItems({ rows }: AuditListProps) {
  return (
    <ul aria-label="Registros, do mais novo ao mais antigo" className="[&>li]:border-line [&>li]:border-b">
      {rows?.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no id, and two may be equal to the millisecond.
        <li key={`${row.quando} ${index}`} className="py-2.5">
          <div className="flex items-start justify-between gap-3">
            <div className="min-w-0 break-words">
              <Description text={row.descricao} />
            </div>
            <span className="shrink-0">
              <ActionBadge row={row} />
            </span>
          </div>
          <p className="mt-0.5 break-words text-muted text-sm tabular-nums">
            <Moment row={row} /> · {row.usuario}
            {row.endereco && ` · ${row.endereco}`}
          </p>
        </li>
      ))}
      {!rows &&
        [0, 1, 2, 3, 4, 5].map((index) => (
          <li key={index} aria-hidden className="py-3.5">
            <Skeleton className="w-4/5" />
            <Skeleton className="mt-3 h-2.5! w-3/5" />
          </li>
        ))}
    </ul>
  )
}

const shownMax = 300

// One act may name a thousand parcels.
function Description({ text }: { text: string }) {
  if (text.length <= shownMax) return text
  return (
    <details>
      <summary className="cursor-pointer">{text.slice(0, shownMax)}…</summary>…{text.slice(shownMax)}
    </details>
  )
}

function Moment({ row: { quando } }: { row: AuditRow }) {
  return (
    <time dateTime={quando}>
      {formatInstantDate(quando)} {formatTime(quando)}
    </time>
  )
}

function ActionBadge({ row: { acao } }: { row: AuditRow }) {
  return <Badge tone={acao === 'login-recusado' ? 'yellow' : 'plain'}>{actionNames[acao]}</Badge>
}
