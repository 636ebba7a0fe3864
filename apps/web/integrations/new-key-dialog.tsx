import { KeyForm } from '@vigia/contract/forms'
import { addKey } from '@vigia/contract/keys'
import { type Scope, scopes } from '@vigia/contract/route'
import { useState } from 'react'
import { useCompanyChoices } from '../lib/companies.ts'
import { problemsOf } from '../lib/problems.ts'
import { useAction } from '../lib/query.ts'
import { AllOrChosen } from '../ui/form/all-or-chosen.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { DialogForm, toggle } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Select } from '../ui/form/select.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { Choices } from './choices.tsx'
import { ShownOnce } from './shown-once.tsx'
import { scopeWords } from './words.ts'

const ends: readonly [days: number | null, words: string][] = [
  [30, '30 dias'],
  [90, '90 dias'],
  [365, '1 ano'],
  [3 * 365, '3 anos'],
  [null, 'Sem fim, até ser apagada'],
]

/** Asks for name, scopes and end of a new key, and then shows the key, once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null)
  return (
    <Dialog open onClose={onClose} title={made === null ? 'Nova chave de API' : 'A chave está pronta'}>
      {made === null ? (
        <NewKeyForm onMade={setMade} onClose={onClose} />
      ) : (
        <div className="overflow-y-auto px-5 py-4">
          <ShownOnce label="Chave de API" text={made} lost="Se a perder, crie outra e apague esta." onClose={onClose}>
            <p>
              Guarde-a na configuração do outro sistema, nunca em e-mail nem no código. Em cada chamada ele a envia no
              cabeçalho <code className="break-words">Authorization: Bearer {made.slice(0, 14)}…</code>
            </p>
            <p>Quem tem a chave faz o que ela permite. Se ela vazar, apague-a aqui.</p>
          </ShownOnce>
        </div>
      )}
    </Dialog>
  )
}

function NewKeyForm({ onMade, onClose }: { onMade: (key: string) => void; onClose: () => void }) {
  const companies = useCompanyChoices()
  const [nome, setNome] = useState('')
  const [permissoes, setPermissoes] = useState<readonly Scope[]>(['documentos:ler'])
  const [days, setDays] = useState('365')
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const [problems, setProblems] = useState<Record<string, string>>({})
  const action = useAction(addKey, { errorToast: false, onSuccess: ({ data }) => data && onMade(data.chave) })
  const save = () => {
    const validadeEmDias = days === '' ? null : Number(days)
    const body = { nome, permissoes: [...permissoes], validadeEmDias, idsEmpresas: chosen && [...chosen] }
    const found = problemsOf(KeyForm, body)
    setProblems(found)
    if (Object.keys(found).length === 0) action.mutate({ body })
  }
  return (
    <DialogForm save="Criar chave" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
      <Field
        label="Nome"
        required
        error={problems.nome}
        help="O do sistema que vai usá-la, como ERP. É com ele que a chave aparece na auditoria."
      >
        {(control) => (
          <Input {...control} value={nome} maxLength={60} onChange={({ target }) => setNome(target.value)} />
        )}
      </Field>
      <Choices legend="O que a chave pode fazer" error={problems.permissoes}>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            className="items-start! py-1"
            checked={permissoes.includes(scope)}
            onChange={({ target }) => setPermissoes(toggle(permissoes, scope, target.checked))}
            label={
              <span className="-mt-0.5 min-w-0">
                <span className="font-semibold">{scopeWords[scope].label}</span>{' '}
                <code className="text-muted text-sm">{scope}</code>
                <span className="block text-muted text-sm">{scopeWords[scope].about}</span>
              </span>
            }
          />
        ))}
      </Choices>
      <AllOrChosen offered={companies} chosen={chosen} onChange={setChosen} error={problems.idsEmpresas} />
      <Field label="Vale por" error={problems.validadeEmDias}>
        {(control) => (
          <Select {...control} value={days} onChange={({ target }) => setDays(target.value)}>
            {ends.map(([value, words]) => (
              <option key={words} value={value ?? ''}>
                {words}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </DialogForm>
  )
}
