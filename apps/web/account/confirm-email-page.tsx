import { confirmEmail } from '@vigia/contract/accounts'
import { useNavigate, useParams } from 'react-router'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Frame } from './visitor-frame.tsx'

const incomplete = 'O link está incompleto. Abra-o de novo pelo e-mail ou copie o endereço inteiro.'

/** Target of the sign-up link. A button confirms, because link scanners of e-mails open pages. */
export function ConfirmEmailPage() {
  const { token = '' } = useParams()
  const navigate = useNavigate()
  const { session } = useSession()
  const next = session ? '/dashboard' : '/login'
  const action = useAction(confirmEmail, {
    errorToast: false,
    onSuccess: ({ message }) => {
      dismissNotifications()
      notifySuccess(message)
      void navigate(next, { replace: true })
    },
  })
  const problem = token ? action.error && actionMessage(action.error) : incomplete
  return (
    <Frame
      title="Confirmar e-mail"
      subtitle="Confirme só se foi você que criou a conta com o e-mail em que recebeu este link, ou pediu para usá-lo na sua."
    >
      {/* The address contains the token, so it must not be sent as referrer. */}
      <meta name="referrer" content="no-referrer" />
      <div className="grid gap-4">
        {problem && (
          <Notice tone="error" title="O e-mail não foi confirmado">
            {problem}
          </Notice>
        )}
        <div className="flex flex-wrap gap-2">
          {token && (
            <Button
              size="lg"
              busy={action.isPending || action.isSuccess}
              onClick={() => action.mutate({ body: { urlAcesso: token } })}
            >
              Confirmar e-mail
            </Button>
          )}
          <Button size="lg" variant="outline" onClick={() => void navigate(next)}>
            {session ? 'Voltar ao sistema' : 'Fazer login'}
          </Button>
        </div>
        <p className="text-muted text-sm">
          Com o e-mail confirmado, a conta pode guardar certificados digitais, e é nele que ela recebe os avisos.
        </p>
      </div>
    </Frame>
  )
}
