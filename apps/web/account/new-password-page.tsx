import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { checkRecovery, updatePassword } from '@vigia/contract/accounts'
import { NewPasswordForm } from '@vigia/contract/forms'
import { formatAtMoment } from '@vigia/contract/text'
import { type ReactNode, useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { Link, useNavigate, useParams } from 'react-router'
import { ApiError, call, errorMessage } from '../lib/api.ts'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { accepted, actionMessage, useAction } from '../lib/query.ts'
import { closeSession } from '../lib/session.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { passwordHelp } from './password-help.ts'
import { Frame } from './visitor-frame.tsx'

export function NewPasswordPage() {
  const { token = '' } = useParams()
  return (
    <>
      {/* The address contains the token, so it must not be sent as referrer. */}
      <meta name="referrer" content="no-referrer" />
      <Checked key={token} token={token} />
    </>
  )
}

function Checked({ token }: { token: string }) {
  const navigate = useNavigate()
  const link = useQuery({
    queryKey: [checkRecovery.path, token],
    // Only `success` and `message` decide (section 7); until when the link is valid may be missing.
    queryFn: async ({ signal }) => accepted<unknown>(await call(checkRecovery, { params: { token } }, { signal })),
    enabled: token !== '',
  })
  // Keeps the form of a link that was valid: a later check must not lose typed text.
  const [good, setGood] = useState<{ until: string | null }>()
  if (link.data && !good) setGood({ until: readUntil(link.data.data) })
  if (good)
    return (
      <Screen>
        <NewPassword token={token} validUntil={good.until} />
      </Screen>
    )
  if (token && !link.error)
    return (
      <Screen>
        <Checking />
      </Screen>
    )
  const problem = token
    ? errorMessage(link.error)
    : 'O link está incompleto. Abra-o de novo pelo e-mail ou copie o endereço inteiro.'
  return (
    <Screen problem={problem}>
      <div className="flex flex-wrap gap-2">
        {isUnanswered(link.error) && (
          <Button size="lg" busy={link.isFetching} onClick={() => void link.refetch()}>
            Tentar novamente
          </Button>
        )}
        <Button
          size="lg"
          variant={isUnanswered(link.error) ? 'outline' : 'primary'}
          onClick={() => void navigate('/login')}
        >
          Voltar ao Login
        </Button>
        {!isUnanswered(link.error) && (
          <Link to="/login" state={{ recover: true }} className={buttonClass({ size: 'lg', variant: 'outline' })}>
            Pedir outro link
          </Link>
        )}
      </div>
    </Screen>
  )
}

function readUntil(data: unknown): string | null {
  const { validoAte } = Object(data) as { validoAte?: unknown }
  return typeof validoAte === 'string' && !Number.isNaN(Date.parse(validoAte)) ? validoAte : null
}

// One frame for all states, because screen readers then announce a changed title.
function Screen({ problem, children }: { problem?: string; children: ReactNode }) {
  return (
    <Frame
      title={problem ? 'Token Inválido' : 'Atualizar Senha'}
      subtitle={problem ?? 'Crie uma senha nova para a sua conta.'}
    >
      {children}
    </Frame>
  )
}

// The link may be valid: the server could not be asked.
function isUnanswered(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
}

// Shown after 300 ms only: the response usually comes before.
function Checking() {
  return (
    <div role="status" className="fade-in fill-mode-both animate-in delay-300 duration-180">
      <p className="sr-only">Verificando o link...</p>
      <Skeleton className="h-4 w-24" />
      <Skeleton className="mt-2 h-9" />
      <Skeleton className="mt-5 h-4 w-40" />
      <Skeleton className="mt-2 h-9" />
      <Skeleton className="mt-5 h-11" />
    </div>
  )
}

function NewPassword({ token, validUntil }: { token: string; validUntil: string | null }) {
  const navigate = useNavigate()
  const [now] = useState(() => new Date())
  const { register, control, handleSubmit, formState } = useForm({
    resolver: zodResolver(NewPasswordForm),
    defaultValues: { urlAcesso: token, senha: '', senhaNovamente: '' },
  })
  const action = useAction(updatePassword, {
    errorToast: false,
    onSuccess: () => {
      // The server has ended every session of the account.
      closeSession()
      dismissNotifications()
      notifySuccess('Senha atualizada com sucesso! Faça o login com sua nova senha.')
      void navigate('/login', { replace: true })
    },
  })
  const { errors } = formState
  const senha = useWatch({ control, name: 'senha' })
  const saving = action.isPending || action.isSuccess
  return (
    <form className="grid gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && (
        <Notice tone="error" title="Erro ao atualizar senha. Tente novamente.">
          {actionMessage(action.error)}
        </Notice>
      )}
      <Field label="Nova senha" help={passwordHelp(senha)} error={errors.senha?.message}>
        {(control) => (
          <PasswordInput
            {...control}
            {...register('senha', { deps: ['senhaNovamente'] })}
            autoFocus
            autoComplete="new-password"
          />
        )}
      </Field>
      <Field label="Confirmar nova senha" error={errors.senhaNovamente?.message}>
        {(control) => <PasswordInput {...control} {...register('senhaNovamente')} autoComplete="new-password" />}
      </Field>
      <Button type="submit" size="lg" busy={saving}>
        {saving ? 'Atualizando...' : 'Atualizar Senha'}
      </Button>
      <p className="text-muted text-sm">
        Este link vale uma vez só{validUntil && `, e expira ${formatAtMoment(validUntil, now)}`}. Com a senha nova, as
        sessões abertas em outros aparelhos são encerradas.
      </p>
    </form>
  )
}
