import { ChevronDown, Stamp } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { opener } from '../ui/opener.tsx'
import type { AnswersMenuProps } from './answers-menu.tsx'

const AnswersMenu = opener('menu', () => import('./answers-menu.tsx').then((module) => module.AnswersMenu))

type ManifestMenuProps = Omit<AnswersMenuProps, 'trigger'> & Partial<Pick<AnswersMenuProps, 'trigger'>>

/** The answers that can be given; none is proposed before the others. */
export function ManifestMenu({ trigger, ...menu }: ManifestMenuProps) {
  return (
    <AnswersMenu
      {...menu}
      trigger={
        trigger ?? (
          <Button variant="outline" size="sm">
            <Stamp aria-hidden className="size-4" />
            Manifestar
            <ChevronDown aria-hidden className="-mr-1 size-4" />
          </Button>
        )
      }
    />
  )
}
