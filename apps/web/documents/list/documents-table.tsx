import { participationLabel } from '@vigia/contract/codes'
import type { DocumentRow, ListOrder } from '@vigia/contract/documents'
import { formatDate, formatInstantDate, formatMoney, formatTime, formatWrittenTime } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { ArrowDown, ArrowUp, ArrowUpDown, Store } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import { supplierAddress } from '../../lib/addresses.ts'
import { CompanyName } from '../../ui/company-name.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { GroupsOfFour } from '../../ui/groups-of-four.tsx'
import { besideLink } from '../../ui/hooks/row-keys.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { OpenLink } from '../place.tsx'
import { DeadlineText, meantForRow, OnItsWay, RowMarks, type RowProps, SelectBox, ViewButton } from '../row-parts.tsx'
import { StatusBadge } from '../status-marks.tsx'
import { columns as allColumns, type ColumnId, type ShownColumn } from './columns.ts'

export interface DocumentsListProps extends Omit<RowProps, 'row' | 'arrived' | 'selected'> {
  /** Undefined while the first page is loading. */
  rows: readonly DocumentRow[] | undefined
  arrived: ReadonlySet<string>
  selected: ReadonlySet<string>
  /** How much of the page is selected. */
  ticked: 'none' | 'some' | 'all'
  onSelectPage: (on: boolean) => void
  /** Columns of the table. */
  columns: readonly ShownColumn[]
  /** Low rows. */
  compact: boolean
  order: ListOrder
  ascending: boolean
  onOrder: (order: ListOrder) => void
}

const skeletonRows = Array.from({ length: 12 }, (_, index) => index)
const compactSkeletonRows = Array.from({ length: 18 }, (_, index) => index)

// Smaller fonts when the columns have their minimum widths.
const tightClass =
  '@max-[908px]/list:[&_th]:text-xs @max-[908px]/list:[&_td]:text-sm @max-[908px]/list:[&_td_.font-mono]:text-[11px]'

// Rows of 36 pixels, 44 for touch: two lines, the second in small print, without padding.
const compactClass =
  '[&_tbody>tr]:h-9 pointer-coarse:[&_tbody>tr]:h-11 [&_tbody>tr>td]:py-0 [&_tbody>tr>td]:align-middle [&_tbody>tr>td]:leading-4 [&_tbody_.text-xs]:leading-3.5 [&_td_label]:-my-1.5 [&_td>button]:-my-1 [&_thead_label]:-my-2 [&_thead_button]:h-6 [&_td_a]:min-h-0'
const rightAligned: readonly ColumnId[] = ['numero', 'valor']

export function DocumentsTable(list: DocumentsListProps) {
  const { kind, rows, arrived, selected, ticked, columns, compact, onSelectPage, order, ascending, onOrder, ...row } =
    list
  const head = clsx(
    'sticky z-10 whitespace-nowrap border-line border-b bg-paper px-1.5 font-semibold text-muted text-sm',
    compact ? 'h-7' : 'h-9',
  )
  return (
    <table
      aria-labelledby="list-heading"
      aria-describedby="row-keys"
      className={clsx(
        'w-full table-fixed border-separate border-spacing-0 text-left',
        tightClass,
        compact && compactClass,
      )}
    >
      <colgroup>
        <col className="w-9" />
        {columns.map(({ id, width }) => (
          <col key={id} style={width === null ? undefined : { width }} />
        ))}
        <col className="w-10" />
      </colgroup>
      <thead>
        <tr className="[&>th]:top-(--list-top)">
          <th scope="col" className={clsx(head, 'print:hidden px-0!')}>
            <Checkbox
              bare
              label="Selecionar todos os documentos da página"
              checked={ticked === 'all'}
              partly={ticked === 'some'}
              disabled={!rows || row.stale}
              onChange={(event) => onSelectPage(event.target.checked)}
            />
          </th>
          {columns.map(({ id, label, order: own }) => (
            <th
              key={id}
              scope="col"
              // Its arrow overlaps the padding of the next header.
              className={clsx(head, rightAligned.includes(id) && 'text-right', own === order && 'z-11')}
              aria-sort={own === order ? (ascending ? 'ascending' : 'descending') : undefined}
            >
              {own ? (
                <OrderButton
                  current={own === order}
                  ascending={ascending}
                  before={rightAligned.includes(id)}
                  onClick={() => onOrder(own)}
                >
                  {label}
                </OrderButton>
              ) : (
                label
              )}
            </th>
          ))}
          <th scope="col" className={clsx(head, 'print:hidden pr-0! text-right')}>
            Ações
          </th>
        </tr>
      </thead>
      <tbody className="[&>tr>td]:border-line [&>tr>td]:border-b">
        {rows
          ? rows.map((one) => (
              <Row
                key={one.idDfe}
                compact={compact}
                kind={kind}
                row={one}
                columns={columns}
                arrived={arrived.has(one.idDfe)}
                selected={selected.has(one.idDfe)}
                {...row}
              />
            ))
          : (compact ? compactSkeletonRows : skeletonRows).map((index) => (
              <SkeletonRow key={index} columns={columns} compact={compact} />
            ))}
      </tbody>
    </table>
  )
}

interface OrderButtonProps {
  current: boolean
  ascending: boolean
  /** The arrow comes first, because the next header would cover it on the other side. */
  before: boolean
  onClick: () => void
  children: string
}

function OrderButton({ current, ascending, before, onClick, children }: OrderButtonProps) {
  const Arrow = !current ? ArrowUpDown : ascending ? ArrowUp : ArrowDown
  return (
    <button
      type="button"
      onClick={onClick}
      className={clsx('group/order relative inline-flex h-8 items-center hover:text-ink', current && 'text-ink')}
    >
      {children}
      {/* In the padding between two columns: it takes no width. */}
      <Arrow
        aria-hidden
        className={clsx(
          'absolute size-3',
          before ? 'right-full mr-0.5' : 'left-full',
          !current && 'opacity-0 group-hover/order:opacity-55 group-focus-visible/order:opacity-55',
        )}
      />
    </button>
  )
}

const Row = memo(function Row({
  columns,
  compact,
  ...props
}: RowProps & Pick<DocumentsListProps, 'columns' | 'compact'>) {
  const { kind, row, arrived, selected, stale, now, onSelect, onOpen, onView } = props
  return (
    // For the mouse only: the link in the row does the same for the keyboard.
    <tr
      data-row
      data-arrived={arrived || undefined}
      onClick={(event) => meantForRow(event.target) && onOpen(row.idDfe)}
      className={clsx(
        'group h-12 cursor-pointer',
        selected ? 'bg-brand-soft' : 'hover:bg-sunken',
        arrived && 'arrived',
      )}
    >
      <td className="print:hidden align-top">
        <div className="-my-px pt-0.5 pointer-coarse:-ml-1">
          <SelectBox kind={kind} row={row} selected={selected} stale={stale} onSelect={onSelect} />
        </div>
      </td>
      {columns.map(({ id, under }) => (
        <td
          key={id}
          className={clsx(
            'relative bg-inherit px-1.5 py-1.25 align-top',
            rightAligned.includes(id) && 'text-right tabular-nums',
          )}
        >
          {cellOf(id, { kind, row, now, compact, under: under !== null })}
        </td>
      ))}
      <td className="print:hidden py-1.5 text-right align-top">
        <ViewButton kind={kind} row={row} onView={onView} />
      </td>
    </tr>
  )
})

interface CellProps extends Pick<RowProps, 'kind' | 'row' | 'now'> {
  /** It also shows, in small print, the column that does not fit. */
  under: boolean
  compact: boolean
}

const cells: Partial<Record<ColumnId, (cell: CellProps) => ReactNode>> = {
  numero: ({ row }) => <span className="font-semibold">{row.numero}</span>,
  emitente: ({ kind, row, compact }) => (
    <>
      <OpenLink id={row.idDfe} className="-my-0.5 block min-h-6 truncate font-semibold" title={row.emitente}>
        {row.emitente}
      </OpenLink>
      <div className="flex items-start">
        <GroupsOfFour
          text={row.chave}
          className={clsx('text-muted leading-4', compact && 'block h-3.5 overflow-hidden')}
        />
        <CopyButton
          text={row.chave}
          tabIndex={besideLink}
          label={`Copiar a chave d${kind.ending} ${kind.short} ${row.numero}`}
          className="relative z-1 -my-1 shrink-0 opacity-0 focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
        />
        {row.cnpjCpfEmitente && (
          <Link
            to={supplierAddress(row.cnpjCpfEmitente)}
            tabIndex={besideLink}
            aria-label={`Tudo do fornecedor ${row.emitente}`}
            title="Tudo deste fornecedor"
            className="relative z-1 -my-1 -mr-12 inline-flex size-6 shrink-0 items-center justify-center rounded-control text-muted opacity-0 hover:bg-sunken hover:text-ink focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
          >
            <Store aria-hidden className="size-3.5" />
          </Link>
        )}
      </div>
    </>
  ),
  empresa: ({ row }) => (
    <span className="line-clamp-2 break-words leading-4.5" title={row.empresa}>
      <CompanyName id={row.idEmpresa} name={row.empresa ?? ''} lines={2} />
    </span>
  ),
  valor: ({ row }) => formatMoney(row.valor),
  emissao: ({ row, under }) => (
    <div className="tabular-nums">
      {formatDate(row.dataEmissao)}{' '}
      <span className={clsx('text-muted text-xs', !under && 'block')}>{formatWrittenTime(row.dataEmissao)}</span>
      {under && row.chegadaEm && (
        <Small title={arrivalText(row.chegadaEm)}>
          chegou {formatInstantDate(row.chegadaEm).slice(0, 5)} {formatTime(row.chegadaEm)}
        </Small>
      )}
    </div>
  ),
  chegada: ({ row: { chegadaEm } }) =>
    chegadaEm && (
      <div className="tabular-nums" title={arrivalText(chegadaEm)}>
        {formatInstantDate(chegadaEm)} <Small>{formatTime(chegadaEm)}</Small>
      </div>
    ),
  participacao: ({ row, under }) => (
    <>
      <span className="block truncate">{participationLabel(row.tipoParticipacao)}</span>
      {under && row.empresa && (
        <Small title={row.empresa}>
          <CompanyName id={row.idEmpresa} name={row.empresa} lines={1} />
        </Small>
      )}
    </>
  ),
  status: ({ row, now, under, compact }) => {
    const second = row.eventoEmEnvio ? (
      <OnItsWay event={row.eventoEmEnvio} />
    ) : (
      under && row.prazo && <DeadlineText prazo={row.prazo} now={now} />
    )
    return (
      <>
        <div className="-my-px flex flex-wrap gap-1" title={row.status.descricaoEvento}>
          <StatusBadge row={row} wrap={!second && !compact} />
          <RowMarks row={row} />
        </div>
        {second && <Small>{second}</Small>}
      </>
    )
  },
  prazo: ({ row, now }) => <DeadlineText prazo={row.prazo} now={now} />,
}

function cellOf(id: ColumnId, cell: CellProps): ReactNode {
  const draw = cells[id]
  return draw ? draw(cell) : <PlainText id={id} row={cell.row} />
}

function PlainText({ id, row }: { id: ColumnId; row: DocumentRow }) {
  const text = allColumns.find((column) => column.id === id)?.text?.(row) ?? undefined
  return (
    <span className="line-clamp-2 break-words leading-4.5" title={text}>
      {text}
    </span>
  )
}

function Small({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <span title={title} className="block truncate text-muted text-xs">
      {children}
    </span>
  )
}

function arrivalText(instant: string): string {
  return `Chegou aqui em ${formatInstantDate(instant)} às ${formatTime(instant)}`
}

function SkeletonRow({ columns, compact }: Pick<DocumentsListProps, 'columns' | 'compact'>) {
  return (
    <tr aria-hidden className="h-12">
      <td className="px-2.5">
        <Skeleton className="size-4!" />
      </td>
      {columns.map(({ id }) => (
        <td key={id} className="px-1.5">
          {id === 'emitente' ? (
            <>
              <Skeleton className="w-2/5" />
              <Skeleton className={clsx('h-2.5! w-4/5', compact ? 'mt-1' : 'mt-2')} />
            </>
          ) : (
            <Skeleton className={id === 'status' ? 'h-5! w-4/5 rounded-full!' : 'ml-auto w-4/5'} />
          )}
        </td>
      ))}
      <td />
    </tr>
  )
}
