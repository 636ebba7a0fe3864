import { listViews, type SavedView } from '@vigia/contract/views'
import { clsx } from 'clsx'
import { Link, useLocation } from 'react-router'
import { kinds } from '../lib/kinds.ts'
import { useScreenQuery } from '../lib/query.ts'

/** The views of the list at an address. */
const viewsAt = (path: string, views: readonly SavedView[]) =>
  views.filter(({ tipoDFe }) => kinds.some((kind) => kind.path === path && kind.tipoDFe === tipoDFe))

/** The views that were kept, of all lists; empty while they are not known. */
export function useSavedViews(): readonly SavedView[] {
  return useScreenQuery(listViews, {}, { refreshMs: 5 * 60_000 }).data ?? []
}

/** Address of a list in the navigation: the person's initial view, if there is one. */
export function listTarget(path: string, views: readonly SavedView[]): string {
  const first = viewsAt(path, views).find(({ inicial }) => inicial)
  return first ? `${path}?${first.endereco}` : path
}

interface SavedViewsProps {
  path: string
  views: readonly SavedView[]
  onFollow: (() => void) | undefined
}

/** The views of a list, below it in the navigation. */
export function SavedViews({ path, views, onFollow }: SavedViewsProps) {
  const { pathname, search } = useLocation()
  const own = viewsAt(path, views)
  if (own.length === 0) return null
  return (
    <ul aria-label="Visões" className="my-0.5 ml-7.5 border-line border-l pl-1.5">
      {own.map(({ idVisao, nome, endereco }) => {
        const isHere = pathname === path && search === `?${endereco}`
        return (
          <li key={idVisao}>
            <Link
              to={`${path}?${endereco}`}
              onClick={onFollow}
              aria-current={isHere ? 'page' : undefined}
              className={clsx(
                'flex h-8 items-center rounded-control px-2 focus-visible:-outline-offset-2 pointer-coarse:h-11',
                isHere ? 'font-semibold text-ink' : 'text-muted hover:bg-sunken hover:text-ink',
              )}
            >
              <span className="truncate">{nome}</span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
