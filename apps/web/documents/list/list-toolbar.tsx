import { formatCount, formatMoney } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import type { DocumentKind } from '../../lib/kinds.ts'
import { Button } from '../../ui/button.tsx'
import { foundText } from './found.ts'
import { inlineButtonClass } from './whole-filter.tsx'

interface ListToolbarProps {
  kind: DocumentKind
  /** Count and sum of the whole filter; undefined while they are loading. */
  total: { totalDeItens?: number; valorTotal?: number; contadosDesde?: string } | undefined
  loading: boolean
  selectedCount: number
  /** Shown when the whole page is selected and the filter has more. */
  wholeFilter: ReactNode
  onClear: () => void
  onExport: () => void
  /** One low row, beside the search. */
  compact: boolean
  /** Prints the selection, or the whole filter. */
  printButton: ReactNode
  /** The menu of answers. */
  answers: ReactNode
  /** The menu of columns. */
  columnsMenu: ReactNode
}

/** Count, sum and actions of the list; with a selection it shows that instead, and is sticky. */
export function ListToolbar({
  kind,
  total,
  loading,
  selectedCount,
  wholeFilter,
  onClear,
  onExport,
  compact,
  ...menus
}: ListToolbarProps) {
  const some = selectedCount > 0
  const count = total?.totalDeItens ?? 0
  return (
    <div
      className={clsx(
        'flex flex-wrap items-center justify-end gap-x-4 gap-y-1',
        compact ? 'min-h-8' : 'min-h-12 py-1.5',
        compact && some && 'flex-1 rounded bg-brand-soft px-2.5',
        !compact && some && 'sticky top-12 z-20 -mx-2.5 rounded-t bg-brand-soft px-2.5',
      )}
    >
      <h2
        id="list-heading"
        className={clsx('mr-auto text-lg @max-[560px]/list:w-full', (some || compact) && 'sr-only')}
      >
        {kind.heading}
      </h2>
      <div
        aria-live="polite"
        className={clsx(
          'flex flex-wrap items-center gap-x-3 gap-y-0.5 tabular-nums @max-[560px]/list:w-full',
          some && 'mr-auto',
        )}
      >
        {some ? (
          <>
            <span className="font-semibold">{formatCount(selectedCount, kind.selectedOne, kind.selectedMany)}</span>
            <button type="button" className={inlineButtonClass} onClick={onClear}>
              Limpar seleção
            </button>
            {wholeFilter}
          </>
        ) : (
          <span className={clsx('text-muted', compact && 'text-right text-xs leading-3.5')}>
            {loading && 'Carregando documentos...'}
            {total?.valorTotal !== undefined && count > 0 && (
              <>
                {foundText(total, kind)}
                {compact ? ' ' : ' · '}
                <span className={clsx('font-semibold text-ink', compact && 'block')}>
                  {formatMoney(total.valorTotal)}
                </span>
              </>
            )}
          </span>
        )}
      </div>
      <div className="flex items-center gap-2 @max-[560px]/list:w-full @max-[560px]/list:flex-wrap @max-[560px]/list:[&>button]:flex-1">
        {menus.columnsMenu}
        {menus.printButton}
        <Button variant="outline" size="sm" title={compact ? 'Exportar' : undefined} onClick={onExport}>
          <Download aria-hidden className="size-4" />
          <span className={compact ? 'sr-only' : undefined}>Exportar</span>
        </Button>
        {menus.answers}
      </div>
    </div>
  )
}
