import { ChevronDown, Stamp } from 'lucide-react'
import { useMay } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { lazyWithTrigger } from '../../ui/overlay/lazy-with-trigger.tsx'
import type { AnswersMenuProps } from './answers-menu.tsx'

const AnswersMenu = lazyWithTrigger('menu', () => import('./answers-menu.tsx').then((module) => module.AnswersMenu))

type ManifestMenuProps = Omit<AnswersMenuProps, 'trigger'> & Partial<Pick<AnswersMenuProps, 'trigger'>>

/** The menu of answers, without a recommendation. Hidden for read-only roles. */
export function ManifestMenu({ trigger, ...menu }: ManifestMenuProps) {
  if (!useMay('fiscal')) return null
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
