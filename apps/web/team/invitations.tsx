import { resendInvitation, withdrawInvitation } from '@vigia/contract/team'
import { formatInstantDate } from '@vigia/contract/text'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { type Invitation, rightsLine } from './rows.ts'

/** Letters that wait for an answer. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  return (
    <ul aria-label="Convites" className="ledger [&>li]:border-line [&>li]:border-b">
      {invitations.map((invitation) => (
        <InvitationItem key={invitation.idConvite} invitation={invitation} />
      ))}
    </ul>
  )
}

function InvitationItem({ invitation }: { invitation: Invitation }) {
  const { idConvite, email, enviadoEm, validoAte, vencido } = invitation
  const onSuccess = ({ message }: { message: string }) => notifySuccess(message)
  const resend = useAction(resendInvitation, { onSuccess })
  const withdraw = useAction(withdrawInvitation, { onSuccess })
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-80">
        <p className="flex flex-wrap items-center gap-x-2 break-words font-semibold">
          {email}
          {vencido && <Badge tone="red">Vencido</Badge>}
        </p>
        <p className="text-muted text-sm">
          enviado em {formatInstantDate(enviadoEm)} · {vencido ? 'valeu' : 'vale'} até {formatInstantDate(validoAte)}
        </p>
        <p className="mt-0.5">{rightsLine(invitation)}</p>
      </div>
      <span className="inline-flex flex-wrap gap-2">
        <Button
          variant="outline"
          size="sm"
          busy={resend.isPending}
          aria-label={`Enviar de novo o convite de ${email}`}
          onClick={() => resend.mutate({ body: { idConvite } })}
        >
          Enviar de novo
        </Button>
        <Button
          variant="outline"
          size="sm"
          busy={withdraw.isPending}
          aria-label={`Cancelar o convite de ${email}`}
          onClick={() => withdraw.mutate({ body: { idConvite } })}
        >
          Cancelar
        </Button>
      </span>
    </li>
  )
}
