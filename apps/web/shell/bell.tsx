import { unreadCountMax } from '@vigia/contract/workspace'
import { Bell as BellIcon } from 'lucide-react'
import { isUnknownCall } from '../lib/api.ts'
import { Button } from '../ui/button.tsx'
import { lazyWithTrigger } from '../ui/overlay/lazy-with-trigger.tsx'
import { useAnnouncements } from './announcements.ts'

const BellPanel = lazyWithTrigger('dialog', () => import('./bell-panel.tsx').then((module) => module.BellPanel))

interface BellProps {
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** Announcements of the workspace, with the count of unread ones. */
export function Bell(panel: BellProps) {
  const { data, error } = useAnnouncements()
  if (isUnknownCall(error)) return null
  const unread = panel.open ? 0 : (data?.naoLidos ?? 0)
  const label = unread === 0 ? 'Avisos' : `Avisos: ${countText(unread)}`
  return (
    <BellPanel
      {...panel}
      trigger={
        <Button variant="ghost" size="icon" aria-label={label} title={label}>
          <span className="relative">
            <BellIcon aria-hidden className="size-4" />
            {unread > 0 && (
              <span
                aria-hidden
                className="absolute -top-2 left-2 min-w-4 rounded-full bg-brand px-1 text-center text-brand-ink text-xs leading-4 tabular-nums"
              >
                {unread < unreadCountMax ? unread : `${unreadCountMax - 1}+`}
              </span>
            )}
          </span>
        </Button>
      }
    />
  )
}

function countText(unread: number): string {
  if (unread === unreadCountMax) return `${unread} ou mais não lidos`
  return unread === 1 ? '1 não lido' : `${unread} não lidos`
}
