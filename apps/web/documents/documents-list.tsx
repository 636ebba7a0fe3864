import { participationLabel, statusTone } from '@vigia/contract/codes'
import type { DocumentRow } from '@vigia/contract/documents'
import { clsx } from 'clsx'
import { Eye } from 'lucide-react'
import { useId } from 'react'
import { formatDate, formatMoney, formatWrittenTime } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { ChaveText } from './chave.tsx'
import type { DocumentKind } from './kinds.ts'

interface DocumentsListProps {
  kind: DocumentKind
  /** Undefined while the first page travels. */
  rows: readonly DocumentRow[] | undefined
  arrived: ReadonlySet<string>
  onView: (row: DocumentRow) => void
}

const skeletonRows = Array.from({ length: 12 }, (_, index) => index)

export function DocumentsTable({ kind, rows, arrived, onView }: DocumentsListProps) {
  const head = 'sticky z-10 h-9 border-line border-b bg-paper px-2 font-semibold text-muted text-sm first:pl-0'
  return (
    <table className="w-full table-fixed border-separate border-spacing-0 text-left">
      <caption className="sr-only">{kind.heading}</caption>
      <colgroup>
        <col className="w-19" />
        <col />
        <col className="w-29" />
        <col className="w-24" />
        <col className="w-26" />
        <col className="w-36" />
        <col className="w-12" />
      </colgroup>
      <thead>
        <tr className="[&>th]:top-(--list-top)">
          <th scope="col" className={clsx(head, 'text-right')}>
            Número
          </th>
          <th scope="col" className={head}>
            Emitente
          </th>
          <th scope="col" className={clsx(head, 'text-right')}>
            Valor
          </th>
          <th scope="col" className={clsx(head, 'whitespace-nowrap')}>
            Data Emissão
          </th>
          <th scope="col" className={head}>
            Participação
          </th>
          <th scope="col" className={head}>
            Status
          </th>
          <th scope="col" className={clsx(head, 'pr-0 text-right')}>
            Ações
          </th>
        </tr>
      </thead>
      <tbody className="[&>tr>td]:border-line [&>tr>td]:border-b">
        {rows
          ? rows.map((row) => (
              <Row key={row.idDfe} kind={kind} row={row} arrived={arrived.has(row.idDfe)} onView={onView} />
            ))
          : skeletonRows.map((index) => <SkeletonRow key={index} />)}
      </tbody>
    </table>
  )
}

interface RowProps {
  kind: DocumentKind
  row: DocumentRow
  arrived: boolean
  onView: (row: DocumentRow) => void
}

function Row({ kind, row, arrived, onView }: RowProps) {
  return (
    <tr data-arrived={arrived || undefined} className={clsx('group hover:bg-sunken', arrived && 'arrived')}>
      <td className="py-1.5 pr-2 text-right align-top font-semibold tabular-nums">{row.numero}</td>
      <td className="px-2 py-1.5">
        <p className="truncate font-semibold" title={row.emitente}>
          {row.emitente}
        </p>
        <div className="flex items-start">
          <ChaveText chave={row.chave} className="text-muted leading-4" />
          <CopyButton
            text={row.chave}
            label={`Copiar a chave da ${kind.short} ${row.numero}`}
            className="-my-1 opacity-0 focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
          />
        </div>
      </td>
      <td className="px-2 py-1.5 text-right align-top tabular-nums">{formatMoney(row.valor)}</td>
      <td className="px-2 py-1.5 align-top tabular-nums">
        {formatDate(row.dataEmissao)}
        <span className="block text-muted text-xs">{formatWrittenTime(row.dataEmissao)}</span>
      </td>
      <td className="truncate px-2 py-1.5 align-top">{participationLabel(row.tipoParticipacao)}</td>
      <td className="px-2 py-1.5 align-top">
        <StatusBadge row={row} wrap />
      </td>
      <td className="py-1 text-right align-top">
        <ViewButton kind={kind} row={row} onView={onView} />
      </td>
    </tr>
  )
}

function SkeletonRow() {
  return (
    <tr aria-hidden className="h-12">
      <td className="pr-2">
        <Skeleton className="ml-auto w-10" />
      </td>
      <td className="px-2">
        <Skeleton className="w-2/5" />
        <Skeleton className="mt-2 h-2.5! w-4/5" />
      </td>
      <td className="px-2">
        <Skeleton className="ml-auto w-20" />
      </td>
      <td className="px-2">
        <Skeleton className="w-16" />
      </td>
      <td className="px-2">
        <Skeleton className="w-20" />
      </td>
      <td className="px-2">
        <Skeleton className="h-5! w-24 rounded-full!" />
      </td>
      <td />
    </tr>
  )
}

/** Two lines per document where seven columns do not fit. */
export function DocumentsItems({ kind, rows, arrived, onView }: DocumentsListProps) {
  if (!rows) {
    return (
      <ul aria-hidden className="[&>li]:border-line [&>li]:border-b">
        {skeletonRows.map((index) => (
          <li key={index} className="grid h-16 grid-cols-[1fr_auto] content-center gap-x-6 gap-y-3">
            <Skeleton className="w-4/5" />
            <Skeleton className="w-20" />
            <Skeleton className="w-3/5" />
            <Skeleton className="w-20" />
          </li>
        ))}
      </ul>
    )
  }
  return (
    <ul aria-label={kind.heading} className="[&>li]:border-line [&>li]:border-b">
      {rows.map((row) => {
        const fresh = arrived.has(row.idDfe)
        return (
          <li
            key={row.idDfe}
            data-arrived={fresh || undefined}
            className={clsx('flex items-center gap-1', fresh && 'arrived')}
          >
            <div className="min-w-0 flex-1 py-2.5">
              <p className="flex items-baseline justify-between gap-3">
                <span className="truncate font-semibold">{row.emitente}</span>
                <span className="shrink-0 font-semibold tabular-nums">{formatMoney(row.valor)}</span>
              </p>
              <div className="mt-1 flex items-center justify-between gap-2">
                <p className="min-w-0 truncate text-muted text-sm tabular-nums">
                  <span className="text-ink">{row.numero}</span> · {formatDate(row.dataEmissao)} ·{' '}
                  {participationLabel(row.tipoParticipacao)}
                </p>
                <div className="max-w-[45%] shrink-0">
                  <StatusBadge row={row} />
                </div>
              </div>
            </div>
            <ViewButton kind={kind} row={row} onView={onView} />
          </li>
        )
      })}
    </ul>
  )
}

function StatusBadge({ row, wrap = false }: { row: DocumentRow; wrap?: boolean }) {
  return (
    <Badge tone={statusTone(row.status.codigoEvento)} wrap={wrap}>
      {row.status.descricaoEvento}
    </Badge>
  )
}

// Where the document cannot be shown yet the button can be reached all the same, so that its reason is heard.
function ViewButton({ kind, row, onView }: Pick<RowProps, 'kind' | 'row' | 'onView'>) {
  const id = useId()
  const reason = row.notaCompleta
    ? undefined
    : 'Só o resumo chegou até agora. O documento completo é liberado depois da manifestação.'
  return (
    <>
      <button
        type="button"
        aria-label={`Visualizar ${kind.short} ${row.numero}`}
        title={reason ?? 'Visualizar'}
        aria-disabled={reason ? true : undefined}
        aria-describedby={reason && id}
        onClick={reason ? undefined : () => onView(row)}
        className={buttonClass({ variant: 'ghost', size: 'icon', className: '-mr-1.5' })}
      >
        <Eye aria-hidden className="size-4.5" />
      </button>
      {reason && (
        <span hidden id={id}>
          {reason}
        </span>
      )}
    </>
  )
}
