import { clsx } from 'clsx'
import {
  Building2,
  CalendarClock,
  ChartColumn,
  CircleQuestionMark,
  LayoutDashboard,
  type LucideIcon,
  PackageSearch,
  Percent,
  ReceiptText,
  TriangleAlert,
  Truck,
  WalletCards,
} from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { productName, productVersion } from '../lib/site.ts'
import { Logo } from '../ui/logo.tsx'
import { Tooltip } from '../ui/overlay/tooltip.tsx'
import { listTarget, SavedViews, useSavedViews } from './saved-views.tsx'
import { WatchLink } from './watch-link.tsx'

const items: readonly { to: string; label: string; icon: LucideIcon }[] = [
  { to: '/dashboard', label: 'Dashboard', icon: LayoutDashboard },
  { to: '/notas-fiscais', label: 'Notas Fiscais', icon: ReceiptText },
  { to: '/cte', label: 'CTe', icon: Truck },
  { to: '/alertas', label: 'Alertas', icon: TriangleAlert },
  { to: '/relatorios', label: 'Relatórios', icon: ChartColumn },
  { to: '/fretes', label: 'Auditoria de fretes', icon: PackageSearch },
  { to: '/reforma', label: 'IBS e CBS', icon: Percent },
  { to: '/empresas', label: 'Empresas', icon: Building2 },
  { to: '/prazos', label: 'Prazos', icon: CalendarClock },
  { to: '/vencimentos', label: 'Vencimentos', icon: WalletCards },
  { to: '/help', label: 'Ajuda', icon: CircleQuestionMark },
]

interface NavigationProps {
  /** Icons alone. */
  collapsed?: boolean
  onIntent: (path: string) => void
  onFollow?: () => void
}

export function Navigation({ collapsed = false, onIntent, onFollow }: NavigationProps) {
  const views = useSavedViews()
  return (
    <div className="flex h-full flex-col overflow-hidden">
      <Link
        to="/dashboard"
        onClick={onFollow}
        className="flex h-12 shrink-0 items-center gap-2.5 px-2.5 font-semibold text-lg focus-visible:-outline-offset-2"
      >
        <Logo />
        <span className={clsx('truncate', collapsed && 'sr-only')}>{productName}</span>
      </Link>
      <nav aria-label="Principal" className="flex-1 overflow-y-auto px-1.5 py-3">
        <ul className="grid gap-0.5">
          {items.map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <Tooltip text={label} when={collapsed}>
                <NavLink
                  to={listTarget(to, views)}
                  onClick={onFollow}
                  onPointerEnter={() => onIntent(to)}
                  onFocus={() => onIntent(to)}
                  className={({ isActive }) =>
                    clsx(
                      'relative flex h-9 items-center gap-3 rounded-control px-2.25 transition-colors duration-150 focus-visible:-outline-offset-2 pointer-coarse:h-11',
                      isActive
                        ? 'bg-sunken font-semibold before:absolute before:inset-y-2 before:left-0 before:w-0.5 before:rounded-full before:bg-ink'
                        : 'text-muted hover:bg-sunken hover:text-ink',
                    )
                  }
                >
                  <Icon aria-hidden className="size-4.5 shrink-0" />
                  <span className={clsx('truncate', collapsed && 'sr-only')}>{label}</span>
                </NavLink>
              </Tooltip>
              {!collapsed && <SavedViews path={to} views={views} onFollow={onFollow} />}
            </li>
          ))}
        </ul>
      </nav>
      <div className="border-line border-t px-1.5 py-2">
        <WatchLink collapsed={collapsed} onFollow={onFollow} />
        <p className={clsx('px-2.25 pt-2 text-muted text-xs', collapsed && 'sr-only')}>
          {productName} {productVersion}
        </p>
      </div>
    </div>
  )
}
