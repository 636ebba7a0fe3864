import { zodResolver } from '@hookform/resolvers/zod'
import { login, loginByPasskey } from '@vigia/contract/accounts'
import { LoginForm } from '@vigia/contract/forms'
import { KeyRound } from 'lucide-react'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { Link, useLocation, useNavigate } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { lazyWithPreload } from '../lib/lazy.ts'
import { dismissNotifications, notifyError, notifySuccess } from '../lib/notify.ts'
import { arePasskeysHere, askForPasskey } from '../lib/passkeys.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { expiredHash, forgetExpiry, openSession, useSession } from '../lib/session.ts'
import { hasPlans, site } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Frame } from './visitor-frame.tsx'

const RecoveryDialog = lazyWithPreload(() => import('./recovery-dialog.tsx').then((module) => module.RecoveryDialog))
const preloadRecovery = () => void RecoveryDialog.preload()

/** State of the navigation from the screen that sent the person here. */
interface LoginState {
  from?: string
  expired?: boolean
  email?: string
  /** Right after a sign-up. */
  signedUp?: boolean
  /** It was left to accept an invitation with the account of `email`. */
  invited?: boolean
  /** Opens the recovery at once. */
  recover?: boolean
}

const wrongCredentials = 'Credenciais inválidas.'

export function LoginPage() {
  const navigate = useNavigate()
  const location = useLocation()
  const state: LoginState = location.hash === expiredHash ? { expired: true } : (location.state ?? {})
  const [sentTo, setSentTo] = useState<string>()
  useEffect(forgetExpiry, [])
  const submit = useRef<HTMLButtonElement>(null)
  const [needsCode, setNeedsCode] = useState(false)
  const { register, handleSubmit, getValues, reset, setError, formState } = useForm({
    resolver: zodResolver(LoginForm),
    defaultValues: { email: state.email ?? '', senha: '' },
  })
  const enter = (session: Parameters<typeof openSession>[0]) => {
    openSession(session)
    dismissNotifications()
    notifySuccess('Login realizado com sucesso!')
    // Returns to the previous screen after an expired session or an invitation; else the dashboard.
    void navigate(((state.expired || state.invited) && state.from) || '/dashboard', { replace: true })
  }
  const action = useAction(login, {
    errorToast: false,
    onSuccess: ({ data }) => {
      if (!data?.token) return notifyError(wrongCredentials)
      enter({ ...data, email: getValues('email').trim() })
    },
    onError: (error) => {
      if (error instanceof ApiError && error.wantsProof) return setNeedsCode(true)
      const message = actionMessage(error)
      const isOfCode = needsCode && error instanceof ApiError && error.status === 401 && message !== wrongCredentials
      if (isOfCode) return setError('codigo', { message }, { shouldFocus: true })
      notifyError(wrongCredentials)
    },
  })
  const byPasskey = useAction(loginByPasskey, {
    errorToast: false,
    onSuccess: ({ data }) => data && enter(data),
    onError: (error) => notifyError(actionMessage(error)),
  })
  const { errors } = formState
  // After the response the next screen may still be loading.
  const entering = action.isPending || Boolean(action.data?.data?.token)
  return (
    <Frame title="Entrar" subtitle="Faça login em sua conta">
      <LoginNotices state={state} entering={entering} sentTo={sentTo} />
      <form className="grid gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
        {action.error && notAboutThePassword(action.error) && (
          <Notice tone="warning" title={actionMessage(action.error)} />
        )}
        <Field label="Email" error={errors.email?.message}>
          {(control) => (
            <Input
              {...control}
              {...register('email', { onChange: () => setNeedsCode(false) })}
              type="email"
              autoComplete="username"
              placeholder="voce@empresa.com.br"
            />
          )}
        </Field>
        <Field label="Senha" error={errors.senha?.message}>
          {(control) => <PasswordInput {...control} {...register('senha')} autoComplete="current-password" />}
        </Field>
        {needsCode && (
          <Field
            label="Código da verificação em duas etapas"
            help="Do aplicativo autenticador, ou um código de recuperação."
            error={errors.codigo?.message}
          >
            {(control) => (
              // It has just come because a code is wanted.
              <Input
                {...control}
                {...register('codigo', { shouldUnregister: true })}
                autoComplete="one-time-code"
                autoFocus
              />
            )}
          </Field>
        )}
        <ForgottenPassword
          askedAtOnce={state.recover ?? false}
          onSent={(email) => {
            setSentTo(email)
            action.reset()
          }}
        />
        <Button ref={submit} type="submit" size="lg" busy={entering}>
          {entering ? 'Entrando...' : 'Entrar'}
        </Button>
        {arePasskeysHere() && (
          <Button
            variant="outline"
            size="lg"
            busy={byPasskey.isPending}
            onClick={() => byPasskey.mutate(async () => ({ body: { resposta: await askForPasskey() } }))}
          >
            <KeyRound aria-hidden className="size-4" />
            Usar passkey
          </Button>
        )}
      </form>
      <p className="mt-6 text-muted">
        Ainda não tem conta?{' '}
        <Link to="/register" className="font-semibold text-brand underline underline-offset-3">
          {site.cadastroAberto === false ? 'Veja como entrar' : hasPlans ? 'Criar conta grátis' : 'Criar conta'}
        </Link>
      </p>
      {site.demo && (
        <DemoAccount
          onUse={() => {
            setNeedsCode(false)
            reset({ ...site.demo })
            submit.current?.focus()
          }}
        />
      )}
    </Frame>
  )
}

/** For people who want to try the product: fills in the credentials that the landing page shows. */
function DemoAccount({ onUse }: { onUse: () => void }) {
  return (
    <p className="mt-2 text-muted">
      Veio conhecer?{' '}
      <button
        type="button"
        onClick={onUse}
        className="min-h-6 rounded-control font-semibold text-brand underline underline-offset-3"
      >
        Usar a conta de demonstração
      </button>
    </p>
  )
}

interface LoginNoticesProps {
  state: LoginState
  entering: boolean
  sentTo: string | undefined
}

function LoginNotices({ state, entering, sentTo }: LoginNoticesProps) {
  const { session } = useSession()
  const notice = sentTo ? (
    <Notice tone="info" title="Confira o seu e-mail">
      Se houver uma conta com {sentTo}, o link chega em alguns minutos e vale por uma hora. Olhe também a caixa de spam.
    </Notice>
  ) : state.expired ? (
    <Notice tone="warning" title="Sessão expirada. Faça login novamente.">
      {state.from && 'Depois de entrar, você volta para a mesma tela.'}
    </Notice>
  ) : session && !entering ? (
    <Notice tone="info" title={`Você já entrou como ${session.email}.`}>
      <Link to="/dashboard" className="font-semibold text-brand underline">
        Ir para o sistema
      </Link>
    </Notice>
  ) : null
  // The response to a sign-up does not tell whether the e-mail already has an account.
  const hint = state.signedUp && !sentTo && (
    <p className="text-muted text-sm">
      Se já havia uma conta com este email, a senha dela continua a mesma: enviamos um email explicando.
    </p>
  )
  return (
    (notice || hint) && (
      <div className="mb-5 grid gap-4">
        {notice}
        {hint}
      </div>
    )
  )
}

interface ForgottenPasswordProps {
  askedAtOnce: boolean
  onSent: (email: string) => void
}

function ForgottenPassword({ askedAtOnce, onSent }: ForgottenPasswordProps) {
  const [open, setOpen] = useState(askedAtOnce)
  const [used, setUsed] = useState(askedAtOnce)
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onPointerEnter={preloadRecovery}
        onFocus={preloadRecovery}
        onClick={() => {
          setUsed(true)
          setOpen(true)
        }}
        className="-mt-2 min-h-6 justify-self-start rounded-control font-semibold text-brand text-sm underline underline-offset-3"
      >
        Esqueceu sua senha?
      </button>
      <Suspense fallback={null}>
        {used && (
          <RecoveryDialog
            open={open}
            onClose={() => setOpen(false)}
            onSent={(email) => {
              setOpen(false)
              onSent(email)
            }}
          />
        )}
      </Suspense>
    </>
  )
}

// Whether the error has a cause other than the password, although its text is the same.
function notAboutThePassword(error: Error): boolean {
  return !(error instanceof ApiError) || error.status < 200 || error.status === 429 || error.status >= 500
}
