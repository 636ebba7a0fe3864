import { zodResolver } from '@hookform/resolvers/zod'
import { changeEmail, dropEmailChange, updateAccount } from '@vigia/contract/accounts'
import { AccountForm, ChangeEmailForm } from '@vigia/contract/forms'
import { formatInstantDate } from '@vigia/contract/text'
import { useEffect, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { ApiError } from '../lib/api.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { maskPhone } from '../ui/form/phone.ts'
import { PhoneInput } from '../ui/form/phone-input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

interface Person {
  nome: string
  email: string
  celular?: string | null | undefined
  criadaEm?: string | undefined
  emailNovo?: string | null | undefined
}

/** Name and e-mail of the account, with editing. `person` is undefined while it is loading. */
export function Identity({ person }: { person: Person | undefined }) {
  const [editing, setEditing] = useState<'data' | 'email' | null>(null)
  const drop = useAction(dropEmailChange, { onSuccess: ({ message }) => notifySuccess(message) })
  const place = useRef<HTMLDivElement>(null)
  const left = useRef(false)
  const close = () => {
    left.current = true
    setEditing(null)
  }
  // The button that was pressed is gone, and with it the focus.
  useEffect(() => {
    if (editing === null && left.current) place.current?.querySelector<HTMLElement>('[data-editing]')?.focus()
  }, [editing])
  if (person && editing === 'data') return <DataForm person={person} onClose={close} />
  const facts = [
    ['Nome', person?.nome],
    ['Email', person?.email],
    ['Celular', person && (person.celular ? maskPhone(person.celular) : 'Não informado')],
    ['Conta criada em', person && formatInstantDate(person.criadaEm ?? '')],
  ] as const
  return (
    <div ref={place} className="grid gap-4">
      <dl className="[&>div]:border-line [&>div]:border-b">
        {facts.map(([name, value]) => (
          <div key={name} className="grid min-h-9 items-center gap-x-4 py-1.5 sm:grid-cols-[10rem_minmax(0,1fr)]">
            <dt className="text-muted">{name}</dt>
            <dd className="break-words font-semibold tabular-nums">{value ?? <Skeleton className="w-40" />}</dd>
          </div>
        ))}
      </dl>
      {person?.emailNovo && (
        <Notice
          tone="info"
          title={`Falta confirmar ${person.emailNovo}`}
          action={
            <Button variant="outline" size="sm" busy={drop.isPending} onClick={() => drop.mutate({})}>
              Desistir
            </Button>
          }
        >
          Abra o link que enviamos a ele em até 24 horas: até lá o e-mail da conta continua o mesmo.
        </Notice>
      )}
      {editing === 'email' ? (
        <EmailForm onClose={close} />
      ) : (
        person && (
          <Changes by={updateAccount}>
            <div className="flex flex-wrap gap-2">
              <Button data-editing variant="outline" size="sm" onClick={() => setEditing('data')}>
                Editar dados
              </Button>
              <Button variant="outline" size="sm" onClick={() => setEditing('email')}>
                Trocar e-mail
              </Button>
            </div>
          </Changes>
        )
      )}
    </div>
  )
}

function DataForm({ person, onClose }: { person: Person; onClose: () => void }) {
  const { register, handleSubmit, formState, setFocus } = useForm({
    resolver: zodResolver(AccountForm),
    defaultValues: { nome: person.nome, celular: person.celular ? maskPhone(person.celular) : '' },
  })
  const action = useAction(updateAccount, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const { errors } = formState
  useEffect(() => setFocus('nome'), [setFocus])
  return (
    <form className="grid max-w-sm gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <Field label="Nome" required error={errors.nome?.message}>
        {(control) => <Input {...control} {...register('nome')} autoComplete="name" />}
      </Field>
      <Field label="Celular" error={errors.celular?.message}>
        {(control) => <PhoneInput {...control} {...register('celular')} />}
      </Field>
      <Buttons busy={action.isPending} words="Salvar" onClose={onClose} />
    </form>
  )
}

const wrongPassword = 'A senha atual não confere.'

function EmailForm({ onClose }: { onClose: () => void }) {
  const { register, handleSubmit, formState, setError, setFocus } = useForm({
    resolver: zodResolver(ChangeEmailForm),
    defaultValues: { email: '', senhaAtual: '' },
  })
  const isWrong = (error: Error) => error instanceof ApiError && actionMessage(error) === wrongPassword
  const action = useAction(changeEmail, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess('Confirme o novo e-mail', { description: message })
      onClose()
    },
    onError: (error) => {
      if (isWrong(error)) setError('senhaAtual', { message: wrongPassword }, { shouldFocus: true })
    },
  })
  const { errors } = formState
  useEffect(() => setFocus('email'), [setFocus])
  return (
    <form className="grid max-w-sm gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && !isWrong(action.error) && (
        <Notice tone="error" title={actionMessage(action.error)}>
          O e-mail continua o mesmo.
        </Notice>
      )}
      <Field label="Novo email" required error={errors.email?.message}>
        {(control) => <Input {...control} {...register('email')} type="email" autoComplete="email" />}
      </Field>
      <Field label="Senha atual" required error={errors.senhaAtual?.message}>
        {(control) => <PasswordInput {...control} {...register('senhaAtual')} autoComplete="current-password" />}
      </Field>
      <Buttons busy={action.isPending} words="Enviar link" onClose={onClose} />
    </form>
  )
}

function Buttons({ busy, words, onClose }: { busy: boolean; words: string; onClose: () => void }) {
  return (
    <div className="flex flex-wrap gap-2">
      <Button type="submit" busy={busy}>
        {words}
      </Button>
      <Button variant="outline" onClick={onClose}>
        Cancelar
      </Button>
    </div>
  )
}
