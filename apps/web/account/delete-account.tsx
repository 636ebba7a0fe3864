import { zodResolver } from '@hookform/resolvers/zod'
import { deleteAccount, keepAccount } from '@vigia/contract/accounts'
import { deletionDays } from '@vigia/contract/codes'
import { DeleteAccountForm } from '@vigia/contract/forms'
import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { useForm } from 'react-hook-form'
import { Link } from 'react-router'
import { ApiError } from '../lib/api.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Notice } from '../ui/notice.tsx'

interface DeleteAccountProps {
  /** Time of the deletion; null: none was requested. */
  at: string | null
  onChange: () => unknown
}

/** Asks for the deletion of the account, or takes the request back. */
export function DeleteAccount({ at, onChange }: DeleteAccountProps) {
  return at ? <Pending at={at} onChange={onChange} /> : <Request onChange={onChange} />
}

function Everything({ children }: { children: string }) {
  return (
    <Link to="/conta#sair-com-tudo" className="font-semibold text-brand underline underline-offset-3">
      {children}
    </Link>
  )
}

function Pending({ at, onChange }: Pick<DeleteAccountProps, 'onChange'> & { at: string }) {
  const action = useAction(keepAccount, {
    onSuccess: ({ message }) => {
      notifySuccess(message)
      void onChange()
    },
  })
  return (
    <Notice
      tone="warning"
      title={`Esta conta será excluída em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília.`}
      action={
        <Button variant="outline" busy={action.isPending} onClick={() => action.mutate({})}>
          Manter a conta
        </Button>
      }
    >
      As chaves dos certificados já foram apagadas. Todo o resto está guardado até lá:{' '}
      <Everything>Exportar todos os dados</Everything>.
    </Notice>
  )
}

const wrongPassword = 'A senha atual não confere.'

function Request({ onChange }: Pick<DeleteAccountProps, 'onChange'>) {
  const { register, handleSubmit, formState, reset, setError } = useForm({
    resolver: zodResolver(DeleteAccountForm),
    defaultValues: { senhaAtual: '' },
  })
  const isWrong = (error: Error) => error instanceof ApiError && actionMessage(error) === wrongPassword
  const action = useAction(deleteAccount, {
    errorToast: false,
    onSuccess: ({ message }) => {
      reset()
      notifySuccess(message)
      void onChange()
    },
    onError: (error) => {
      if (isWrong(error)) setError('senhaAtual', { message: wrongPassword }, { shouldFocus: true })
    },
  })
  return (
    <form className="grid max-w-prose gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      <ul className="list-disc space-y-1 pl-5">
        <li>
          Agora: as chaves privadas dos certificados são apagadas, a captura para, manifestações que ainda não saíram
          não saem mais, e as outras sessões terminam.
        </li>
        <li>
          Em {deletionDays} dias: empresas, documentos, eventos, auditoria e o seu cadastro são apagados para sempre.
          Até lá você pode desistir aqui mesmo.
        </li>
        <li>
          Depois guardamos apenas registros anônimos, com datas e quantidades, e as cópias de segurança até vencerem.
        </li>
        <li>
          A lei manda a empresa, e não nós, guardar os documentos fiscais por pelo menos cinco anos.{' '}
          <Everything>Exporte antes</Everything>.
        </li>
      </ul>
      {action.error && !isWrong(action.error) && (
        <Notice tone="error" title={actionMessage(action.error)}>
          A conta continua como estava.
        </Notice>
      )}
      <div className="max-w-sm">
        <Field label="Confirme com a sua senha" required error={formState.errors.senhaAtual?.message}>
          {(control) => <PasswordInput {...control} {...register('senhaAtual')} autoComplete="current-password" />}
        </Field>
      </div>
      <Button type="submit" variant="danger" className="justify-self-start" busy={action.isPending}>
        {action.isPending ? 'Excluindo...' : 'Excluir a conta'}
      </Button>
    </form>
  )
}
