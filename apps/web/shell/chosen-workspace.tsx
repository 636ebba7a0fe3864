import { ChevronDown } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { lazyWithTrigger } from '../ui/overlay/lazy-with-trigger.tsx'

const WorkspaceSwitcher = lazyWithTrigger('menu', () =>
  import('./workspace-switcher.tsx').then((module) => module.WorkspaceSwitcher),
)

/** The current workspace, for people in several, with a way to the others. */
export function ChosenWorkspace({ name }: { name: string }) {
  return (
    <WorkspaceSwitcher
      trigger={
        <Button variant="ghost" size="sm" className="min-w-0" aria-label={`Workspace: ${name}. Trocar`}>
          <span className="max-w-48 truncate max-sm:max-w-24">{name}</span>
          <ChevronDown aria-hidden className="-mr-1 size-4 shrink-0" />
        </Button>
      }
    />
  )
}
