import { clsx } from 'clsx'
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, type LucideIcon } from 'lucide-react'
import { type FormEvent, useId } from 'react'
import { buttonClass } from './button.tsx'
import { controlClass } from './form/input.tsx'
import { pageWindow, windowSize } from './pages.ts'

interface PaginationProps {
  page: number
  pageCount: number
  onPage: (page: number) => void
}

export function Pagination({ page, pageCount, onPage }: PaginationProps) {
  if (pageCount <= 1) return null
  const step = buttonClass({ variant: 'ghost', size: 'sm' })
  return (
    <nav aria-label="Paginação" data-pages className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3">
      <p className="text-muted tabular-nums">
        Página {page} de {pageCount}
      </p>
      {pageCount > windowSize && <Jump key={page} page={page} pageCount={pageCount} onPage={onPage} />}
      <ul className="flex items-center gap-0.5">
        {pageCount > windowSize && (
          <EndButton label="Primeira página" icon={ChevronFirst} disabled={page <= 1} onClick={() => onPage(1)} />
        )}
        <li>
          <button
            type="button"
            aria-label="Página anterior"
            className={step}
            disabled={page <= 1}
            onClick={() => onPage(page - 1)}
          >
            <ChevronLeft aria-hidden className="size-4" />
            <span className="max-sm:hidden">Anterior</span>
          </button>
        </li>
        {pageWindow(page, pageCount).map((number) => (
          <li key={number}>
            <button
              type="button"
              aria-current={number === page ? 'page' : undefined}
              onClick={() => onPage(number)}
              className={clsx(
                buttonClass({ variant: number === page ? 'primary' : 'ghost', size: 'sm' }),
                'min-w-8 tabular-nums pointer-coarse:min-w-10',
              )}
            >
              {number}
            </button>
          </li>
        ))}
        <li>
          <button
            type="button"
            aria-label="Próxima página"
            className={step}
            disabled={page >= pageCount}
            onClick={() => onPage(page + 1)}
          >
            <span className="max-sm:hidden">Próxima</span>
            <ChevronRight aria-hidden className="size-4" />
          </button>
        </li>
        {pageCount > windowSize && (
          <EndButton
            label="Última página"
            icon={ChevronLast}
            disabled={page >= pageCount}
            onClick={() => onPage(pageCount)}
          />
        )}
      </ul>
    </nav>
  )
}

interface EndButtonProps {
  label: string
  icon: LucideIcon
  disabled: boolean
  onClick: () => void
}

function EndButton({ label, icon: Icon, disabled, onClick }: EndButtonProps) {
  return (
    <li className="max-sm:hidden">
      <button
        type="button"
        aria-label={label}
        title={label}
        className={buttonClass({ variant: 'ghost', size: 'icon' })}
        disabled={disabled}
        onClick={onClick}
      >
        <Icon aria-hidden className="size-4" />
      </button>
    </li>
  )
}

/** Any page by its number; beyond the last it is the last. */
function Jump({ page, pageCount, onPage }: PaginationProps) {
  const id = useId()
  const jump = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const number = Number(new FormData(event.currentTarget).get('pagina'))
    if (Number.isInteger(number) && number > 0) onPage(Math.min(number, pageCount))
  }
  return (
    <form onSubmit={jump} className="mr-auto flex items-center gap-2">
      <label htmlFor={id} className="text-muted">
        Ir para
      </label>
      <input
        id={id}
        name="pagina"
        inputMode="numeric"
        autoComplete="off"
        maxLength={9}
        defaultValue={page}
        className={clsx(controlClass, 'h-8! w-16! px-2! text-right tabular-nums')}
        onFocus={({ target }) => target.select()}
      />
    </form>
  )
}
