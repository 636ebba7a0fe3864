import { zodResolver } from '@hookform/resolvers/zod'
import { requestRecovery } from '@vigia/contract/accounts'
import { RecoveryForm } from '@vigia/contract/forms'
import { useForm } from 'react-hook-form'
import { dismissNotifications, notifyError, notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { useGone } from '../ui/hooks/gone.ts'
import { Notice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'

const failure = 'Erro ao enviar email de recuperação. Tente novamente.'

interface RecoveryDialogProps {
  open: boolean
  onClose: () => void
  onSent: (email: string) => void
}

export function RecoveryDialog({ open, onClose, ...rest }: RecoveryDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Recuperar Senha"
      description="Enviamos um link para você criar uma senha nova."
      className="max-w-md"
    >
      {/* Mounted on each opening, because closing must clear the field and its error. */}
      <Form {...rest} onClose={onClose} />
    </Dialog>
  )
}

function Form({ onClose, onSent }: Omit<RecoveryDialogProps, 'open'>) {
  const isGone = useGone()
  const { register, handleSubmit, getValues, clearErrors, formState } = useForm({
    resolver: zodResolver(RecoveryForm),
    defaultValues: { email: '' },
    reValidateMode: 'onSubmit',
  })
  const action = useAction(requestRecovery, {
    errorToast: false,
    onSuccess: () => {
      dismissNotifications()
      notifySuccess('Iremos enviar um email de recuperação de senha!')
      onSent(getValues('email').trim())
    },
    onError: (error) => {
      // The dialog was closed: it cannot show the failure itself.
      if (isGone()) notifyError(failure, { description: actionMessage(error) })
    },
  })
  return (
    <form
      className="flex min-h-0 flex-col"
      noValidate
      onSubmit={(event) => {
        // The dialog is inside the login form, which React would submit too.
        event.stopPropagation()
        void handleSubmit((body) => action.mutate({ body }))(event)
      }}
    >
      <div className="grid gap-4 overflow-y-auto px-5 py-5">
        {action.error && (
          <Notice tone="error" title={failure}>
            {actionMessage(action.error)}
          </Notice>
        )}
        <Field label="Email" error={formState.errors.email?.message}>
          {(control) => (
            <Input
              {...control}
              {...register('email', { onChange: () => clearErrors('email') })}
              data-initial-focus
              type="email"
              autoComplete="username"
              placeholder="voce@empresa.com.br"
            />
          )}
        </Field>
      </div>
      <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5">
        <Button variant="outline" onClick={onClose}>
          Cancelar
        </Button>
        <Button type="submit" busy={action.isPending}>
          {action.isPending ? 'Enviando...' : 'Enviar Email'}
        </Button>
      </footer>
    </form>
  )
}
