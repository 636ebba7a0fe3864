import { zodResolver } from '@hookform/resolvers/zod'
import { addPasskey, removePasskey } from '@vigia/contract/accounts'
import { describeDevice } from '@vigia/contract/device'
import { PasskeyForm } from '@vigia/contract/forms'
import { formatInstantDate } from '@vigia/contract/text'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { notifySuccess } from '../lib/notify.ts'
import { arePasskeysHere, makePasskey } from '../lib/passkeys.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'

interface Passkey {
  idPasskey: string
  nome: string
  criadaEm: string
  usadaEm: string | null
}

interface PasskeysProps {
  /** Null: the address of the product allows none. */
  passkeys: readonly Passkey[] | null
}

/** The passkeys of the account; another one is made, and one is removed. */
export function Passkeys({ passkeys }: PasskeysProps) {
  if (passkeys === null)
    return <p className="max-w-prose">Passkeys funcionam só quando o sistema é aberto por um nome, com https.</p>
  return (
    <div className="grid max-w-prose gap-4">
      <p>
        Entre com a digital, o rosto ou o PIN do aparelho, sem digitar a senha. A chave fica no aparelho, ou no seu
        gerenciador de senhas, e só funciona neste site: ninguém a tira de você por uma página falsa.
      </p>
      {passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="border-line border-t">
          {passkeys.map((passkey) => (
            <Item key={passkey.idPasskey} passkey={passkey} />
          ))}
        </ul>
      )}
      {arePasskeysHere() ? (
        <Add />
      ) : (
        <p className="text-muted">Este navegador não oferece passkeys: cadastre uma em outro.</p>
      )}
    </div>
  )
}

function Item({ passkey: { idPasskey, nome, criadaEm, usadaEm } }: { passkey: Passkey }) {
  const [asking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const removal = useAction(removePasskey, {
    onSuccess: ({ message }) => {
      close()
      notifySuccess(message)
    },
    onError: close,
  })
  return (
    <li className="flex items-center gap-3 border-line border-b py-2">
      <KeyRound aria-hidden className="size-4 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="break-words font-semibold">{nome}</p>
        <p className="text-muted text-sm">
          Cadastrada em {formatInstantDate(criadaEm)}
          {usadaEm ? `, usada em ${formatInstantDate(usadaEm)}` : ', ainda não usada'}
        </p>
      </div>
      <Button variant="outline" size="sm" aria-label={`Remover ${nome}`} onClick={() => setAsking(true)}>
        Remover
      </Button>
      <ConfirmDialog
        open={asking}
        title={`Remover a passkey ${nome}?`}
        confirm="Remover"
        danger
        busy={removal.isPending}
        onConfirm={() => removal.mutate({ body: { idPasskey } })}
        onCancel={close}
      >
        <p>Ela deixa de abrir esta conta. A senha continua a mesma.</p>
      </ConfirmDialog>
    </li>
  )
}

function Add() {
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(PasskeyForm),
    defaultValues: { nome: describeDevice(navigator.userAgent) },
  })
  const action = useAction(addPasskey, {
    errorToast: false,
    onSuccess: ({ message }) => notifySuccess(message),
  })
  const submit = handleSubmit(({ nome }) =>
    action.mutate(async () => ({ body: { nome, resposta: await makePasskey() } })),
  )
  return (
    <form className="grid gap-3" noValidate onSubmit={submit}>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Nome da nova passkey" error={formState.errors.nome?.message}>
          {(control) => <Input {...control} {...register('nome')} maxLength={60} autoComplete="off" className="w-72" />}
        </Field>
        <Button type="submit" busy={action.isPending}>
          Cadastrar passkey
        </Button>
      </div>
    </form>
  )
}
