import { updateWorkspace } from '@vigia/contract/team'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Notice } from '../ui/notice.tsx'

/** How the workspace is called, and how its people have to come in. */
export function WorkspaceSettings({ name, requiresFactor }: { name: string; requiresFactor: boolean }) {
  const [nome, setNome] = useState(name)
  const [exigeSegundoFator, setExige] = useState(requiresFactor)
  const action = useAction(updateWorkspace, {
    errorToast: false,
    onSuccess: ({ message }) => notifySuccess(message),
  })
  return (
    <form
      noValidate
      className="grid max-w-prose gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        action.mutate({ body: { nome, exigeSegundoFator } })
      }}
    >
      <Field label="Nome do workspace" required help="Nome que aparece para quem participa de mais de uma conta.">
        {(control) => (
          <Input {...control} value={nome} maxLength={100} onChange={({ target }) => setNome(target.value)} />
        )}
      </Field>
      <Checkbox
        className="items-start! py-1"
        checked={exigeSegundoFator}
        onChange={({ target }) => setExige(target.checked)}
        label={
          <span className="-mt-0.5 min-w-0">
            <span className="font-semibold">Exigir de todos verificação em duas etapas ou entrada com passkey</span>
            <span className="block text-muted text-sm">
              Quem entra só com a senha usa apenas a própria conta, até ligar uma delas.
            </span>
          </span>
        }
      />
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <div>
        <Button type="submit" busy={action.isPending}>
          Salvar
        </Button>
      </div>
    </form>
  )
}
