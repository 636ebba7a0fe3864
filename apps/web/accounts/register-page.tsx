import { zodResolver } from '@hookform/resolvers/zod'
import { SignUpForm, signUp } from '@vigia/contract/accounts'
import { useForm } from 'react-hook-form'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { dismissNotifications, notifySuccess } from '../lib/notify.ts'
import { plans } from '../lib/plans.ts'
import { useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { PasswordInput } from '../ui/password-input.tsx'
import { Frame } from './frame.tsx'
import { maskPhone, phoneDigits } from './phone.ts'

export function RegisterPage() {
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const tipoPlano = params.get('tp') === '2' ? 2 : 1
  const plan = plans[tipoPlano]
  const { register, handleSubmit, setValue, formState } = useForm({
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
  const submit = handleSubmit((form) => {
    const body = { ...form, tipoPlano } as const
    action.mutate({ body }, { onSuccess: () => void navigate('/login', { state: { email: body.email } }) })
  })
  return (
    <Frame title="Criar Conta" subtitle="Crie sua conta grátis">
      <form className="grid gap-4" noValidate onSubmit={submit}>
        <Field label={<Required>Nome</Required>} error={errors.nome?.message}>
          {(control) => <Input {...control} {...register('nome')} required autoComplete="name" />}
        </Field>
        <Field label={<Required>Email</Required>} error={errors.email?.message}>
          {(control) => <Input {...control} {...register('email')} required type="email" autoComplete="username" />}
        </Field>
        <Field label={<Required>Senha</Required>} help="De 6 a 100 caracteres." error={errors.senha?.message}>
          {(control) => <PasswordInput {...control} {...register('senha')} required autoComplete="new-password" />}
        </Field>
        <Field label="Celular" error={errors.celular?.message}>
          {(control) => (
            <Input
              {...control}
              {...register('celular', {
                setValueAs: (text: string | undefined) => phoneDigits(text ?? '') || undefined,
                onChange: (event: { target: HTMLInputElement }) => remask(event.target),
              })}
              type="tel"
              autoComplete="tel-national"
              placeholder="(11) 99999-9999"
              maxLength={15}
              onPaste={(event) => {
                // The field is 15 characters long; a number pasted with its country code would lose its end.
                event.preventDefault()
                const { value, selectionStart, selectionEnd } = event.currentTarget
                const pasted = event.clipboardData.getData('text')
                const text = maskPhone(value.slice(0, selectionStart ?? 0) + pasted + value.slice(selectionEnd ?? 0))
                setValue('celular', text, { shouldDirty: true, shouldValidate: formState.isSubmitted })
              }}
            />
          )}
        </Field>
        <p className="text-muted text-sm">Não enviaremos spam para seu email ou número de celular.</p>
        <Button type="submit" size="lg" busy={action.isPending}>
          {action.isPending ? 'Criando conta...' : 'Cadastrar'}
        </Button>
        <p className="text-muted text-sm">{`Plano ${plan.name}: ${plan.price} por mês depois de 7 dias grátis.`}</p>
      </form>
      <p className="mt-6">
        <Link to="/login" className="font-semibold text-brand underline underline-offset-3">
          Já tem uma conta? Fazer login
        </Link>
      </p>
    </Frame>
  )
}

function Required({ children }: { children: string }) {
  return (
    <>
      {children}
      <span aria-hidden className="text-error">
        *
      </span>
    </>
  )
}

// The mask moves characters; the caret stays behind the same digit.
function remask(input: HTMLInputElement) {
  const before = phoneDigits(input.value.slice(0, input.selectionStart ?? input.value.length)).length
  input.value = maskPhone(input.value)
  let caret = 0
  for (let digits = 0; digits < before && caret < input.value.length; caret++) {
    if (/\d/.test(input.value[caret] ?? '')) digits++
  }
  input.setSelectionRange(caret, caret)
}
