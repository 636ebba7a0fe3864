import { Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { useSession } from '../lib/session.ts'
import { setTheme, useTheme } from '../lib/theme.ts'
import { Button } from '../ui/button.tsx'
import { Menu, MenuChoice, MenuLabel, MenuLine } from '../ui/menu.tsx'

const themes = [
  { value: 'light', label: 'Claro', icon: <Sun aria-hidden className="size-4" /> },
  { value: 'dark', label: 'Escuro', icon: <Moon aria-hidden className="size-4" /> },
  { value: 'system', label: 'Igual ao sistema', icon: <Monitor aria-hidden className="size-4" /> },
] as const

export function UserMenu() {
  const { session } = useSession()
  const theme = useTheme()
  return (
    <Menu
      trigger={
        <Button variant="ghost" size="sm">
          <UserRound aria-hidden className="size-4" />
          <span className="max-sm:sr-only">Usuário</span>
        </Button>
      }
    >
      <MenuLabel>Conectado como</MenuLabel>
      <p className="max-w-72 truncate px-2 pb-1 font-semibold">{session?.email}</p>
      <MenuLine />
      <MenuLabel>Tema</MenuLabel>
      <MenuChoice value={theme} onChange={setTheme} options={themes} />
    </Menu>
  )
}
