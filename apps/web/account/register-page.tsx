import { zodResolver } from '@hookform/resolvers/zod'
import { byInvitation, signUp } from '@vigia/contract/accounts'
import { SignUpForm } from '@vigia/contract/forms'
import { useForm, useWatch } from 'react-hook-form'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { plans } from '../lib/plans.ts'
import { useAction } from '../lib/query.ts'
import { hasPlans, site } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { PhoneInput } from '../ui/form/phone-input.tsx'
import { passwordHelp } from './password-help.ts'
import { Frame, TermsSentence } from './visitor-frame.tsx'

export function RegisterPage() {
  return site.cadastroAberto === false ? <ByInvitation /> : <SignUp />
}

function ByInvitation() {
  return (
    <Frame title="Criar Conta" subtitle={byInvitation}>
      <LoginLink />
    </Frame>
  )
}

function SignUp() {
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const tipoPlano = params.get('tp') === '2' ? 2 : 1
  const plan = plans[tipoPlano]
  const { register, control, handleSubmit, formState } = useForm({
    resolver: zodResolver(SignUpForm),
    defaultValues: { nome: '', email: '', senha: '', tipoPlano },
  })
  const action = useAction(signUp, {
    onSuccess: () => {
      dismissNotifications()
      notifySuccess('Conta criada com sucesso! Faça login para continuar.')
    },
  })
  const { errors } = formState
  const senha = useWatch({ control, name: 'senha' })
  const submit = handleSubmit((form) => {
    const body = { ...form, tipoPlano } as const
    action.mutate(
      { body },
      { onSuccess: () => void navigate('/login', { state: { email: body.email, signedUp: true } }) },
    )
  })
  return (
    <Frame title="Criar Conta" subtitle={hasPlans ? 'Crie sua conta grátis' : 'Crie sua conta'}>
      <form className="grid gap-4" noValidate onSubmit={submit}>
        <Field label="Nome" required error={errors.nome?.message}>
          {(control) => <Input {...control} {...register('nome')} autoComplete="name" />}
        </Field>
        <Field label="Email" required error={errors.email?.message}>
          {(control) => <Input {...control} {...register('email')} type="email" autoComplete="username" />}
        </Field>
        <Field label="Senha" required help={passwordHelp(senha)} error={errors.senha?.message}>
          {(control) => <PasswordInput {...control} {...register('senha')} autoComplete="new-password" />}
        </Field>
        <Field label="Celular" error={errors.celular?.message}>
          {(control) => <PhoneInput {...control} {...register('celular')} />}
        </Field>
        <p className="text-muted text-sm">Não enviaremos spam para seu email ou número de celular.</p>
        <Button type="submit" size="lg" busy={action.isPending}>
          {action.isPending ? 'Criando conta...' : 'Cadastrar'}
        </Button>
        <TermsSentence />
        {hasPlans && (
          <p className="text-muted text-sm">{`Plano ${plan.name}: ${plan.price} por mês depois de 7 dias grátis.`}</p>
        )}
      </form>
      <LoginLink />
    </Frame>
  )
}

function LoginLink() {
  return (
    <p className="mt-6">
      <Link to="/login" className="font-semibold text-brand underline underline-offset-3">
        Já tem uma conta? Fazer login
      </Link>
    </p>
  )
}
