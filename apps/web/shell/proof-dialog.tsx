import { zodResolver } from '@hookform/resolvers/zod'
import { getAccount, proveIdentity } from '@vigia/contract/accounts'
import { ProofForm } from '@vigia/contract/forms'
import { useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { errorMessage } from '../lib/api.ts'
import { arePasskeysHere, askForPasskey } from '../lib/passkeys.ts'
import { settleProof } from '../lib/proof.ts'
import { actionMessage, useAction, useScreenQuery } from '../lib/query.ts'
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
  const account = useScreenQuery(getAccount, {})
  const byCode = Boolean(account.data?.duasEtapas)
  const [cameLate] = useState(account.isPending)
  const { register, handleSubmit, formState, setFocus } = useForm({
    resolver: zodResolver(ProofForm),
    shouldUnregister: true,
  })
  const action = useAction(proveIdentity, {
    errorToast: false,
    onSuccess: () => settleProof(true),
    // The second factor may have been turned on since.
    onError: () => void account.refetch(),
  })
  const field = byCode ? 'codigo' : 'senha'
  const isKnown = account.data !== undefined
  useEffect(() => {
    if (isKnown && cameLate) setFocus(field)
  }, [isKnown, cameLate, field, setFocus])
  const error = formState.errors[field]?.message
  return (
    <form className="grid gap-4 px-5 py-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      {account.error && !isKnown && (
        <Notice
          tone="error"
          title={`Erro ao carregar dados: ${errorMessage(account.error)}`}
          action={
            <Button variant="outline" size="sm" onClick={() => void account.refetch()}>
              Tentar novamente
            </Button>
          }
        />
      )}
      {/* Password managers look for whose password it is. */}
      <input type="text" name="username" autoComplete="username" value={account.data?.email ?? ''} readOnly hidden />
      {isKnown && byCode && (
        <Field
          label="Código da verificação em duas etapas"
          help="Do aplicativo autenticador, ou um código de recuperação."
          error={error}
        >
          {(control) => <Input {...control} {...register('codigo')} data-initial-focus autoComplete="one-time-code" />}
        </Field>
      )}
      {isKnown && !byCode && (
        <Field label="Senha da conta" error={error}>
          {(control) => (
            <PasswordInput {...control} {...register('senha')} data-initial-focus autoComplete="current-password" />
          )}
        </Field>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        {account.data?.passkeys && account.data.passkeys.length > 0 && arePasskeysHere() && (
          <Button
            variant="outline"
            className="mr-auto"
            busy={action.isPending}
            onClick={() => action.mutate(async () => ({ body: { passkey: await askForPasskey() } }))}
          >
            Usar passkey
          </Button>
        )}
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
