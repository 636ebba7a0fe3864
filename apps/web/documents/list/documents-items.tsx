import { participationLabel } from '@vigia/contract/codes'
import { formatDate, formatMoney } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { memo } from 'react'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { OpenLink } from '../place.tsx'
import { DeadlineText, meantForRow, OnItsWay, RowMarks, type RowProps, SelectBox, ViewButton } from '../row-parts.tsx'
import { StatusBadge } from '../status-marks.tsx'
import type { DocumentsListProps } from './documents-table.tsx'

const skeletonRows = Array.from({ length: 12 }, (_, index) => index)

/** Two lines per document where the columns do not fit, and a third when there is a deadline. */
export function DocumentsItems(list: DocumentsListProps) {
  const {
    kind,
    rows,
    arrived,
    selected,
    ticked,
    columns: _,
    compact: _____,
    onSelectPage,
    order: __,
    ascending: ___,
    onOrder: ____,
    ...row
  } = list
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
    <>
      <Checkbox
        label="Selecionar a página"
        checked={ticked === 'all'}
        partly={ticked === 'some'}
        disabled={row.stale}
        onChange={(event) => onSelectPage(event.target.checked)}
        className="h-9 w-fit pr-2 text-muted text-sm"
      />
      <ul
        aria-label={kind.heading}
        aria-describedby="row-keys"
        className="border-line border-t [&>li]:border-line [&>li]:border-b"
      >
        {rows.map((one) => (
          <Item
            key={one.idDfe}
            kind={kind}
            row={one}
            arrived={arrived.has(one.idDfe)}
            selected={selected.has(one.idDfe)}
            {...row}
          />
        ))}
      </ul>
    </>
  )
}

const Item = memo(function Item({ kind, row, arrived, selected, stale, now, onSelect, onOpen, onView }: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the item does the same for the keyboard.
    <li
      data-row
      data-arrived={arrived || undefined}
      onClick={(event) => meantForRow(event.target) && onOpen(row.idDfe)}
      className={clsx(
        'flex cursor-pointer items-center gap-1 [contain-intrinsic-size:auto_66px] [content-visibility:auto]',
        selected && 'bg-brand-soft',
        arrived && 'arrived',
      )}
    >
      <div className="-ml-2.5 pointer-coarse:-ml-3">
        <SelectBox kind={kind} row={row} selected={selected} stale={stale} onSelect={onSelect} />
      </div>
      <div className="min-w-0 flex-1 py-2">
        <p className="flex items-baseline justify-between gap-3">
          <OpenLink id={row.idDfe} className="min-w-0 truncate font-semibold">
            {row.emitente}
          </OpenLink>
          <span className="shrink-0 font-semibold tabular-nums">{formatMoney(row.valor)}</span>
        </p>
        <div className="mt-0.5 flex items-center justify-between gap-2">
          <p className="min-w-0 truncate text-muted text-sm tabular-nums">
            <span className="text-ink">{row.numero}</span> · {formatDate(row.dataEmissao)} ·{' '}
            {participationLabel(row.tipoParticipacao)}
          </p>
          <div className="flex max-w-[45%] shrink-0 flex-wrap justify-end gap-1">
            <StatusBadge row={row} />
            <RowMarks row={row} />
          </div>
        </div>
        {(row.eventoEmEnvio || row.prazo) && (
          <div className="flex text-xs">
            {row.eventoEmEnvio ? <OnItsWay event={row.eventoEmEnvio} /> : <DeadlineText prazo={row.prazo} now={now} />}
          </div>
        )}
      </div>
      <ViewButton kind={kind} row={row} onView={onView} />
    </li>
  )
})
