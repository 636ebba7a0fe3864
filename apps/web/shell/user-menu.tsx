import { getPlan } from '@vigia/contract/workspace'
import {
  CircleUserRound,
  Gauge,
  History,
  KeyRound,
  ListChecks,
  Monitor,
  Moon,
  Plug,
  ScrollText,
  Server,
  Sun,
  Users,
} from 'lucide-react'
import { planSituation } from '../lib/plan-situation.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { useSession } from '../lib/session.ts'
import { hasPlans } from '../lib/site.ts'
import { setTheme, themeLabels, useTheme } from '../lib/theme.ts'
import type { TriggerProps } from '../ui/overlay/lazy-with-trigger.tsx'
import { Menu, MenuChoice, MenuLabel, MenuLine, MenuLink } from '../ui/overlay/menu.tsx'

const themes = [
  { value: 'light', label: themeLabels.light, icon: <Sun aria-hidden className="size-4" /> },
  { value: 'dark', label: themeLabels.dark, icon: <Moon aria-hidden className="size-4" /> },
  { value: 'system', label: themeLabels.system, icon: <Monitor aria-hidden className="size-4" /> },
] as const

const links = [
  { to: '/conta', label: 'Minha conta', Icon: CircleUserRound },
  ...(hasPlans ? [{ to: '/conta#plano', label: 'Plano', Icon: Gauge }] : []),
  { to: '/conta#senha', label: 'Senha', Icon: KeyRound },
  { to: '/conta#sessoes', label: 'Sessões', Icon: History },
]

const managing = [
  { to: '/equipe', label: 'Equipe', Icon: Users },
  { to: '/respostas', label: 'Respostas por regra', Icon: ListChecks },
  { to: '/integracoes', label: 'Integrações', Icon: Plug },
  { to: '/auditoria', label: 'Auditoria', Icon: ScrollText },
  { to: '/sistema', label: 'Trabalhos do sistema', Icon: Server },
] as const

interface UserMenuProps extends TriggerProps {
  onIntent: (path: string) => void
}

/** Account, plan, theme and password, behind 'Usuário' (section 2). */
export function UserMenu({ trigger, onIntent }: UserMenuProps) {
  const { session } = useSession()
  const theme = useTheme()
  const mayManage = useMay('administrador')
  const plan = useScreenQuery(getPlan, {}, { refreshMs: 5 * 60_000 })
  return (
    <Menu inline trigger={trigger}>
      <MenuLabel>Conectado como</MenuLabel>
      <p className="max-w-72 truncate px-2 pb-1 font-semibold">{session?.email}</p>
      <MenuLine />
      {[...links, ...(mayManage ? managing : [])].map(({ to, label, Icon }) => (
        <MenuLink
          key={to}
          to={to}
          icon={<Icon aria-hidden className="size-4" />}
          note={label === 'Plano' && plan.data && planSituation(plan.data)}
          onIntent={() => onIntent(to.replace(/#.*/, ''))}
        >
          {label}
        </MenuLink>
      ))}
      <MenuLine />
      <MenuLabel>Tema</MenuLabel>
      <MenuChoice value={theme} onChange={setTheme} options={themes} />
    </Menu>
  )
}
