import { ChevronDown } from 'lucide-react'
import { useScreenQuery } from '../lib/query.ts'
import { accountQuery } from '../lib/response-adapter.ts'
import { Button } from '../ui/button.tsx'
import { lazyWithTrigger } from '../ui/overlay/lazy-with-trigger.tsx'

const WorkspaceSwitcher = lazyWithTrigger('menu', () =>
  import('./workspace-switcher.tsx').then((module) => module.WorkspaceSwitcher),
)

/** In which workspace this is, for who is in several, and the way to the others. */
export function ChosenWorkspace() {
  const { data } = useScreenQuery(accountQuery, {})
  if (!data?.outrosWorkspaces) return null
  return (
    <WorkspaceSwitcher
      trigger={
        <Button variant="ghost" size="sm" className="min-w-0" aria-label={`Workspace: ${data.workspace}. Trocar`}>
          <span className="max-w-48 truncate max-sm:max-w-24">{data.workspace}</span>
          <ChevronDown aria-hidden className="-mr-1 size-4 shrink-0" />
        </Button>
      }
    />
  )
}
