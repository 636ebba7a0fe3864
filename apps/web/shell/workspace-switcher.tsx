import { listWorkspaces, switchWorkspace } from '@vigia/contract/team'
import { Check } from 'lucide-react'
import { memberRoleWords } from '../lib/member-roles.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { changeWorkspace, currentSession } from '../lib/session.ts'
import type { TriggerProps } from '../ui/overlay/lazy-with-trigger.tsx'
import { Menu, MenuItem, MenuLabel } from '../ui/overlay/menu.tsx'

/** The workspaces of the person, each a way to go there. */
export function WorkspaceSwitcher({ trigger }: TriggerProps) {
  const { data: workspaces = [] } = useScreenQuery(listWorkspaces, {})
  const action = useAction(switchWorkspace, {
    onSuccess: ({ data }) => data && changeWorkspace({ ...data, email: currentSession()?.email ?? '' }),
  })
  return (
    <Menu inline align="start" trigger={trigger}>
      <MenuLabel>Seus workspaces</MenuLabel>
      {workspaces.map(({ wsId, nome, papel, atual }) => (
        <MenuItem
          key={wsId}
          disabled={action.isPending}
          note={memberRoleWords[papel].label}
          onSelect={() => {
            if (!atual) action.mutate({ body: { wsId } })
          }}
        >
          <span className="flex items-center gap-2">
            {nome}
            {atual && <Check aria-label="este" className="size-4 text-brand" />}
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}
