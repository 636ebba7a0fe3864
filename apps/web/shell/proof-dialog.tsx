import { zodResolver } from '@hookform/resolvers/zod'
import { ProofForm, proveIdentity } from '@vigia/contract/accounts'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { settleProof } from '../lib/proof.ts'
import { actionMessage, useAction, useScreenQuery } from '../lib/query.ts'
import { accountQuery } from '../lib/response-adapter.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'

/** Asks for the password of the account, or for a code where it has a second factor. */
export function ProofDialog({ open }: { open: boolean }) {
  return (
    <Dialog
      open={open}
      onClose={() => settleProof(false)}
      title="Confirme que é você"
      description="O que você pediu mexe com certificados ou com a segurança da conta. Vale por dez minutos."
      className="max-w-md"
    >
      {open && <Proof />}
    </Dialog>
  )
}

function Proof() {
  const account = useScreenQuery(accountQuery, {})
  const byCode = Boolean(account.data?.duasEtapas)
  const { register, handleSubmit, formState, setFocus } = useForm({ resolver: zodResolver(ProofForm) })
  const action = useAction(proveIdentity, { errorToast: false, onSuccess: () => settleProof(true) })
  const field = byCode ? 'codigo' : 'senha'
  const isKnown = !account.isPending
  useEffect(() => {
    if (isKnown) setFocus(field)
  }, [isKnown, field, setFocus])
  const error = formState.errors[field]?.message
  return (
    <form className="grid gap-4 px-5 py-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      {/* Password managers look for whose password it is. */}
      <input type="text" name="username" autoComplete="username" value={account.data?.email ?? ''} readOnly hidden />
      {isKnown && byCode && (
        <Field
          label="Código da verificação em duas etapas"
          help="Do aplicativo autenticador, ou um código de recuperação."
          error={error}
        >
          {(control) => <Input {...control} {...register('codigo')} autoComplete="one-time-code" />}
        </Field>
      )}
      {isKnown && !byCode && (
        <Field label="Senha da conta" error={error}>
          {(control) => <PasswordInput {...control} {...register('senha')} autoComplete="current-password" />}
        </Field>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="outline" onClick={() => settleProof(false)}>
          Cancelar
        </Button>
        <Button type="submit" busy={action.isPending || !isKnown}>
          Confirmar
        </Button>
      </div>
    </form>
  )
}
