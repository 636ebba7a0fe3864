import { zodResolver } from '@hookform/resolvers/zod'
import { AcceptInvitationForm } from '@vigia/contract/forms'
import { acceptInvitation, getInvitation, joinWorkspace } from '@vigia/contract/team'
import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { useForm, useWatch } from 'react-hook-form'
import { Link, useNavigate, useParams } from 'react-router'
import { errorMessage } from '../lib/api.ts'
import { memberRoleWords } from '../lib/member-roles.ts'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction, useScreenQuery } from '../lib/query.ts'
import { changeWorkspace, closeSession, useSession } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { passwordHelp } from './password-help.ts'
import { Frame, TermsSentence } from './visitor-frame.tsx'

/** Target of an invitation link. A button accepts, because link scanners of e-mails open pages. */
export function InvitationPage() {
  const { token = '' } = useParams()
  const { session } = useSession()
  const { data: invitation, error } = useScreenQuery(getInvitation, { params: { token } }, { errorToast: false })
  return (
    <Frame title="Convite" subtitle="Alguém chamou você para trabalhar em um workspace.">
      {/* The address contains the token, so it must not be sent as referrer. */}
      <meta name="referrer" content="no-referrer" />
      {!invitation && !error && <Skeleton className="w-3/5" />}
      {error && (
        <div className="grid gap-4">
          <Notice tone="error" title="O convite não vale">
            {errorMessage(error)}
          </Notice>
          <p>
            <Link to="/login" className="font-semibold text-brand underline underline-offset-3">
              Fazer login
            </Link>
          </p>
        </div>
      )}
      {invitation && (
        <div className="grid gap-5">
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 [&>dd]:break-words [&>dt]:text-muted">
            <dt>Workspace</dt>
            <dd className="font-semibold">{invitation.workspace}</dd>
            {invitation.convidadoPor && (
              <>
                <dt>Convidado por</dt>
                <dd>{invitation.convidadoPor}</dd>
              </>
            )}
            <dt>Papel</dt>
            <dd>
              {memberRoleWords[invitation.papel].label}
              <span className="block text-muted text-sm">{memberRoleWords[invitation.papel].about}</span>
            </dd>
            <dt>Vale até</dt>
            <dd>{formatBrasiliaDayAndTime(new Date(invitation.validoAte))}</dd>
          </dl>
          {!invitation.temConta ? (
            <NewAccount token={token} email={invitation.email} />
          ) : session?.email.toLowerCase() === invitation.email ? (
            <Join token={token} email={invitation.email} />
          ) : (
            <EnterFirst email={invitation.email} isElsewhere={session !== null} />
          )}
        </div>
      )}
    </Frame>
  )
}

function Join({ token, email }: { token: string; email: string }) {
  const action = useAction(joinWorkspace, {
    errorToast: false,
    onSuccess: ({ data }) => data && changeWorkspace({ ...data, email }),
  })
  return (
    <>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <Button
        size="lg"
        busy={action.isPending || action.isSuccess}
        onClick={() => action.mutate({ body: { convite: token } })}
      >
        Aceitar convite
      </Button>
      <p className="text-muted text-sm">
        Você continua no seu workspace, e troca de um para o outro no alto da página.
      </p>
    </>
  )
}

function EnterFirst({ email, isElsewhere }: { email: string; isElsewhere: boolean }) {
  const navigate = useNavigate()
  return (
    <>
      <p>
        O convite é para <span className="font-semibold">{email}</span>, que já tem uma conta. Entre com ela para
        aceitar.
      </p>
      <Button
        size="lg"
        onClick={() => {
          if (isElsewhere) closeSession()
          void navigate('/login', { state: { from: location.pathname, email, invited: true } })
        }}
      >
        {isElsewhere ? 'Sair e entrar com essa conta' : 'Fazer login'}
      </Button>
    </>
  )
}

function NewAccount({ token, email }: { token: string; email: string }) {
  const navigate = useNavigate()
  const { register, control, handleSubmit, formState } = useForm({
    resolver: zodResolver(AcceptInvitationForm),
    defaultValues: { convite: token, nome: '', senha: '', senhaNovamente: '' },
  })
  const action = useAction(acceptInvitation, {
    errorToast: false,
    onSuccess: ({ message }) => {
      dismissNotifications()
      notifySuccess(message)
      void navigate('/login', { state: { email } })
    },
  })
  const { errors } = formState
  const senha = useWatch({ control, name: 'senha' })
  return (
    <form className="grid gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      <p>
        Crie a sua conta para <span className="break-words font-semibold">{email}</span>.
      </p>
      <input type="hidden" autoComplete="username" value={email} readOnly />
      <Field label="Nome" required error={errors.nome?.message}>
        {(control) => <Input {...control} {...register('nome')} autoComplete="name" />}
      </Field>
      <Field label="Senha" required help={passwordHelp(senha)} error={errors.senha?.message}>
        {(control) => <PasswordInput {...control} {...register('senha')} autoComplete="new-password" />}
      </Field>
      <Field label="Repita a senha" required error={errors.senhaNovamente?.message}>
        {(control) => <PasswordInput {...control} {...register('senhaNovamente')} autoComplete="new-password" />}
      </Field>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <Button type="submit" size="lg" busy={action.isPending || action.isSuccess}>
        Aceitar e criar conta
      </Button>
      <TermsSentence />
    </form>
  )
}
