import { zodResolver } from '@hookform/resolvers/zod'
import { changePassword } from '@vigia/contract/accounts'
import { ChangePasswordForm } from '@vigia/contract/forms'
import { useForm, useWatch } from 'react-hook-form'
import { ApiError } from '../lib/api.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { passwordHelp } from './password-help.ts'

const blank = { senhaAtual: '', senha: '', senhaNovamente: '' }
const wrongCurrent = 'A senha atual não confere.'

/** `email` is undefined while it is loading. */
export function PasswordForm({ email }: { email: string | undefined }) {
  const { register, control, handleSubmit, formState, reset, setError } = useForm({
    resolver: zodResolver(ChangePasswordForm),
    defaultValues: blank,
  })
  const isWrongCurrent = (error: Error) => error instanceof ApiError && actionMessage(error) === wrongCurrent
  const action = useAction(changePassword, {
    errorToast: false,
    onSuccess: ({ message }) => {
      reset(blank)
      notifySuccess(message)
    },
    onError: (error) => {
      if (isWrongCurrent(error)) setError('senhaAtual', { message: wrongCurrent }, { shouldFocus: true })
    },
  })
  const { errors } = formState
  const senha = useWatch({ control, name: 'senha' })
  return (
    <form className="grid max-w-sm gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && !isWrongCurrent(action.error) && (
        <Notice tone="error" title={actionMessage(action.error)}>
          A senha continua a mesma.
        </Notice>
      )}
      {/* Password managers save the new password under this name. */}
      <input type="text" name="username" autoComplete="username" value={email ?? ''} readOnly hidden />
      <Field label="Senha atual" required error={errors.senhaAtual?.message}>
        {(control) => <PasswordInput {...control} {...register('senhaAtual')} autoComplete="current-password" />}
      </Field>
      <Field label="Nova senha" required help={passwordHelp(senha)} error={errors.senha?.message}>
        {(control) => (
          <PasswordInput
            {...control}
            {...register('senha', { deps: ['senhaNovamente'] })}
            autoComplete="new-password"
          />
        )}
      </Field>
      <Field label="Confirmar nova senha" required error={errors.senhaNovamente?.message}>
        {(control) => <PasswordInput {...control} {...register('senhaNovamente')} autoComplete="new-password" />}
      </Field>
      <Button type="submit" className="justify-self-start" busy={action.isPending}>
        {action.isPending ? 'Atualizando...' : 'Atualizar Senha'}
      </Button>
    </form>
  )
}
