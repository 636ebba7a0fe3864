import { zodResolver } from '@hookform/resolvers/zod'
import { LoginForm, login } from '@vigia/contract/accounts'
import { useForm } from 'react-hook-form'
import { Link, useLocation, useNavigate } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { dismissNotifications, notifyError, notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { openSession, useSession } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { Notice } from '../ui/notice.tsx'
import { PasswordInput } from '../ui/password-input.tsx'
import { Frame } from './frame.tsx'

/** What the screen that sent the person here says about it. */
interface LoginState {
  from?: string
  expired?: boolean
  email?: string
}

export function LoginPage() {
  const navigate = useNavigate()
  const { session } = useSession()
  const state: LoginState = useLocation().state ?? {}
  const { register, handleSubmit, getValues, formState } = useForm({
    resolver: zodResolver(LoginForm),
    defaultValues: { email: state.email ?? '', senha: '' },
  })
  const action = useAction(login, {
    errorToast: false,
    onSuccess: ({ data }) => {
      if (!data) return
      openSession({ ...data, email: getValues('email').trim() })
      dismissNotifications()
      notifySuccess('Login realizado com sucesso!')
      // Only an expired session is taken up where it was; otherwise the day begins on the dashboard.
      void navigate((state.expired && state.from) || '/dashboard', { replace: true })
    },
    onError: (error) => notifyError('Credenciais inválidas.', { description: explanation(error) }),
  })
  const { errors } = formState
  // The next screen may still be on its way after the answer.
  const entering = action.isPending || action.isSuccess
  return (
    <Frame title="Entrar" subtitle="Faça login em sua conta">
      {state.expired && (
        <div className="mb-5">
          <Notice tone="warning" title="Sessão expirada. Faça login novamente.">
            Depois de entrar, você volta para a mesma tela.
          </Notice>
        </div>
      )}
      {session && !state.expired && !entering && (
        <div className="mb-5">
          <Notice tone="info" title={`Você já entrou como ${session.email}.`}>
            <Link to="/dashboard" className="font-semibold text-brand underline">
              Ir para o sistema
            </Link>
          </Notice>
        </div>
      )}
      <form className="grid gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
        <Field label="Email" error={errors.email?.message}>
          {(control) => (
            <Input
              {...control}
              {...register('email')}
              type="email"
              autoComplete="username"
              placeholder="voce@empresa.com.br"
            />
          )}
        </Field>
        <Field label="Senha" error={errors.senha?.message}>
          {(control) => <PasswordInput {...control} {...register('senha')} autoComplete="current-password" />}
        </Field>
        <Button type="submit" size="lg" busy={entering} className="mt-2">
          {entering ? 'Entrando...' : 'Entrar'}
        </Button>
      </form>
      <p className="mt-6 text-muted">
        Ainda não tem conta?{' '}
        <Link to="/register" className="font-semibold text-brand underline underline-offset-3">
          Criar conta grátis
        </Link>
      </p>
    </Frame>
  )
}

// A server that is away also ends in "Credenciais inválidas."; the person should not doubt the password for it.
function explanation(error: Error): string | undefined {
  const refused = error instanceof ApiError && error.status >= 200 && error.status < 500 && error.status !== 429
  return refused ? undefined : actionMessage(error)
}
