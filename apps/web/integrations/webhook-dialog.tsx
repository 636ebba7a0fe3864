import { addWebhook, changeWebhook } from '@vigia/contract/changes'
import { changeKinds } from '@vigia/contract/codes'
import { WebhookForm } from '@vigia/contract/forms'
import { useState } from 'react'
import { useCompanyChoices } from '../lib/companies.ts'
import { problemsOf } from '../lib/problems.ts'
import { useAction } from '../lib/query.ts'
import { AllOrChosen } from '../ui/form/all-or-chosen.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { DialogForm, toggle } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { Choices } from './choices.tsx'
import type { Webhook } from './rows.ts'
import { ShownOnce } from './shown-once.tsx'
import { kindLabel } from './words.ts'

interface WebhookDialogProps {
  /** Null: a new one. */
  webhook: Webhook | null
  onClose: () => void
  onMade: (secret: string) => void
}

/** Form for the URL, message kinds and companies of a webhook. */
export function WebhookDialog({ webhook, onClose, onMade }: WebhookDialogProps) {
  const [endereco, setEndereco] = useState(webhook?.endereco ?? 'https://')
  const [tipos, setTipos] = useState<readonly string[]>(webhook?.tipos ?? changeKinds)
  const [chosen, setChosen] = useState<readonly string[] | null>(webhook?.idsEmpresas ?? null)
  const [problems, setProblems] = useState<Record<string, string>>({})
  const add = useAction(addWebhook, { errorToast: false, onSuccess: ({ data }) => data && onMade(data.segredo) })
  const companies = useCompanyChoices()
  const change = useAction(changeWebhook, { errorToast: false, onSuccess: onClose })
  const action = webhook ? change : add
  const save = () => {
    const choice = { endereco, tipos: [...tipos], idsEmpresas: chosen && [...chosen] }
    const { data: body } = WebhookForm.safeParse(choice)
    setProblems(problemsOf(WebhookForm, choice))
    if (!body) return
    if (webhook) change.mutate({ body: { ...body, idWebhook: webhook.idWebhook, ativo: webhook.ativo } })
    else add.mutate({ body })
  }
  return (
    <Dialog open onClose={onClose} title={webhook ? 'Mudar o webhook' : 'Novo webhook'}>
      <DialogForm
        save={webhook ? 'Salvar' : 'Criar webhook'}
        busy={action.isPending}
        error={action.error}
        onSave={save}
        onCancel={onClose}
      >
        <Field
          label="Endereço"
          required
          error={problems.endereco}
          help="O que o outro sistema informou para receber avisos. Começa por https://."
        >
          {(control) => (
            <Input
              {...control}
              type="url"
              inputMode="url"
              value={endereco}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => setEndereco(target.value)}
            />
          )}
        </Field>
        <Choices legend="Avisar quando" error={problems.tipos}>
          {changeKinds.map((kind) => (
            <Checkbox
              key={kind}
              label={kindLabel(kind)}
              checked={tipos.includes(kind)}
              onChange={({ target }) => setTipos(toggle(tipos, kind, target.checked))}
            />
          ))}
        </Choices>
        <AllOrChosen offered={companies} chosen={chosen} onChange={setChosen} error={problems.idsEmpresas} />
      </DialogForm>
    </Dialog>
  )
}

/** Shows the secret of a webhook, once. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="O segredo do webhook">
      <div className="overflow-y-auto px-5 py-4">
        <ShownOnce label="Segredo" text={secret} lost="Se o perder, troque-o por outro." onClose={onClose}>
          <p>
            Informe-o ao outro sistema. Com ele, quem recebe confere a assinatura de cada aviso e sabe que veio daqui.
          </p>
        </ShownOnce>
      </div>
    </Dialog>
  )
}
