import { pendingLists } from '@vigia/contract/pending'
import { formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { type Dashboard, getDashboard } from '@vigia/contract/workspace'
import type { FamilyId } from '@vigia/dfe/families/id'
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
  UserCheck,
  WalletCards,
} from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { kinds } from '../lib/kinds.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName, productVersion } from '../lib/site.ts'
import { Logo } from '../ui/logo.tsx'
import { Tooltip } from '../ui/overlay/tooltip.tsx'
import { listTarget, SavedViews, useSavedViews } from './saved-views.tsx'
import { WatchLink } from './watch-link.tsx'

/** A screen and its number of the dashboard; with `onlyWaiting` hidden at zero. */
interface Item {
  to: string
  label: string
  icon: LucideIcon
  number?: { name: keyof NonNullable<Dashboard['pendencias']>; one: string; many: string }
  onlyWaiting?: boolean
}

const icons: Readonly<Record<FamilyId, LucideIcon>> = { nfe: ReceiptText, cte: Truck }

const items: readonly Item[] = [
  { to: '/dashboard', label: 'Dashboard', icon: LayoutDashboard },
  ...kinds.map(({ type, path, label }) => ({ to: path, label, icon: icons[type] })),
  {
    to: '/alertas',
    label: 'Alertas',
    icon: TriangleAlert,
    number: { name: 'alertas', one: 'alerta aberto', many: 'alertas abertos' },
  },
  { to: '/relatorios', label: 'Relatórios', icon: ChartColumn },
  {
    to: '/fretes',
    label: 'Auditoria de fretes',
    icon: PackageSearch,
    number: { name: 'fretesAConferir', one: 'CTe a conferir', many: 'CTe a conferir' },
  },
  { to: '/reforma', label: 'IBS e CBS', icon: Percent },
  { to: '/empresas', label: 'Empresas', icon: Building2 },
  { to: '/prazos', label: 'Prazos', icon: CalendarClock },
  {
    to: '/vencimentos',
    label: 'Vencimentos',
    icon: WalletCards,
    number: { name: 'parcelasVencidas', one: 'parcela vencida', many: 'parcelas vencidas' },
  },
  {
    to: '/aprovacoes',
    label: 'Aprovações',
    icon: UserCheck,
    number: { name: 'aguardamSegunda', one: 'resposta aguarda aprovação', many: 'respostas aguardam aprovação' },
    onlyWaiting: true,
  },
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
  const { data } = useScreenQuery(getDashboard, {}, { refreshMs: 60_000 })
  const lists = pendingLists(writeBrasiliaTime(new Date()).slice(0, 10))
  const entries = items.flatMap((item) => {
    const count = (item.number && data?.pendencias?.[item.number.name]) ?? 0
    return item.onlyWaiting && count === 0 ? [] : [{ ...item, count }]
  })
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
          {entries.map(({ to, label, icon: Icon, number, count }) => (
            <li key={to} className="relative">
              <Tooltip
                text={number && count > 0 ? `${label}: ${formatCount(count, number.one, number.many)}` : label}
                when={collapsed}
              >
                <NavLink
                  to={listTarget(to, views)}
                  onClick={onFollow}
                  onPointerEnter={() => onIntent(to)}
                  onFocus={() => onIntent(to)}
                  className={({ isActive }) =>
                    clsx(
                      'relative flex h-9 items-center gap-3 rounded-control px-2.25 transition-colors duration-150 focus-visible:-outline-offset-2 pointer-coarse:h-11',
                      number && count > 0 && !collapsed && 'pr-16',
                      isActive
                        ? 'bg-sunken font-semibold before:absolute before:inset-y-2 before:left-0 before:w-0.5 before:rounded-full before:bg-ink'
                        : 'text-muted hover:bg-sunken hover:text-ink',
                    )
                  }
                >
                  <Icon aria-hidden className="size-4.5 shrink-0" />
                  <span className={clsx('truncate', collapsed && 'sr-only')}>{label}</span>
                  {number && count > 0 && collapsed && (
                    <span aria-hidden className="absolute top-1.5 right-1.5 size-2 rounded-full bg-brand" />
                  )}
                </NavLink>
              </Tooltip>
              {number && count > 0 && !collapsed && (
                <Link
                  to={lists[number.name].to}
                  onClick={onFollow}
                  // The names of screens are names of other links.
                  aria-label={`${formatInteger(count)}, ver quais`}
                  title={formatCount(count, number.one, number.many)}
                  className="absolute top-1.5 right-2.25 flex h-6 min-w-6 items-center justify-center rounded-full border border-line bg-surface px-1.5 text-muted text-sm tabular-nums hover:border-ink hover:text-ink pointer-coarse:top-1 pointer-coarse:h-9 pointer-coarse:min-w-9"
                >
                  {formatInteger(count)}
                </Link>
              )}
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
