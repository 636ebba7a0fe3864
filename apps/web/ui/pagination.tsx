import { clsx } from 'clsx'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { buttonClass } from './button.tsx'
import { pageWindow } from './pages.ts'

interface PaginationProps {
  page: number
  pageCount: number
  onPage: (page: number) => void
}

export function Pagination({ page, pageCount, onPage }: PaginationProps) {
  if (pageCount <= 1) return null
  const step = buttonClass({ variant: 'ghost', size: 'sm' })
  return (
    <nav aria-label="Paginação" className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3">
      <p className="text-muted tabular-nums">
        Página {page} de {pageCount}
      </p>
      <ul className="flex items-center gap-0.5">
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
      </ul>
    </nav>
  )
}
