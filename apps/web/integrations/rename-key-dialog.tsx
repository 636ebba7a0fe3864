import { KeyForm } from '@vigia/contract/forms'
import { renameKey } from '@vigia/contract/keys'
import { useState } from 'react'
import { problemsOf } from '../lib/problems.ts'
import { useAction } from '../lib/query.ts'
import { DialogForm } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import type { Key } from './rows.ts'

interface RenameKeyDialogProps {
  apiKey: Key
  onClose: () => void
}

export function RenameKeyDialog({ apiKey, onClose }: RenameKeyDialogProps) {
  const [nome, setNome] = useState(apiKey.nome)
  const [problem, setProblem] = useState('')
  const action = useAction(renameKey, { errorToast: false, onSuccess: onClose })
  const save = () => {
    const { nome: found = '' } = problemsOf(KeyForm.pick({ nome: true }), { nome })
    setProblem(found)
    if (found === '') action.mutate({ body: { idChave: apiKey.idChave, nome } })
  }
  return (
    <Dialog open onClose={onClose} title="Mudar o nome da chave">
      <DialogForm save="Salvar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        <Field label="Nome" required error={problem} help="O que já está na auditoria fica com o nome de antes.">
          {(control) => (
            <Input {...control} value={nome} maxLength={60} onChange={({ target }) => setNome(target.value)} />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}
