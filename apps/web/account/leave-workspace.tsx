import { leaveWorkspace } from '@vigia/contract/team'
import { useState } from 'react'
import { memberRoleWords } from '../lib/member-roles.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { closeSession } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'

interface LeaveWorkspaceProps {
  name: string
  role: keyof typeof memberRoleWords
  /** The person is in others too. */
  isElsewhere: boolean
}

/** The current workspace and role, with a button to leave it. */
export function LeaveWorkspace({ name, role, isElsewhere }: LeaveWorkspaceProps) {
  const [asking, setAsking] = useState(false)
  const action = useAction(leaveWorkspace, {
    onSuccess: ({ message }) => {
      notifySuccess(message)
      closeSession()
    },
    onError: () => setAsking(false),
  })
  return (
    <>
      <p className="max-w-prose">
        Você está em <span className="break-words font-semibold">{name}</span> como{' '}
        {memberRoleWords[role].label.toLowerCase()}. <span className="text-muted">{memberRoleWords[role].about}</span>
      </p>
      <Button variant="outline" className="mt-4" onClick={() => setAsking(true)}>
        Sair do workspace
      </Button>
      <ConfirmDialog
        open={asking}
        title={`Sair de ${name}?`}
        confirm="Sair do workspace"
        danger
        busy={action.isPending}
        onConfirm={() => action.mutate({})}
        onCancel={() => setAsking(false)}
      >
        <p>
          {isElsewhere
            ? 'Você deixa de ver as empresas e os documentos deste workspace, e continua nos outros. Para voltar é preciso outro convite.'
            : 'Você não está em nenhum outro workspace: a sua conta é apagada. As empresas e os documentos continuam aqui, com quem fica.'}
        </p>
      </ConfirmDialog>
    </>
  )
}
