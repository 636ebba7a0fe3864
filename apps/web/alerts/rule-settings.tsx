import { type AlertSettings, getAlertSettings, saveAlertSettings } from '@vigia/contract/alert-settings'
import { AlertSettingsForm } from '@vigia/contract/forms'
import { formatCount, formatMoney } from '@vigia/contract/text'
import { useState } from 'react'
import { parseAmount } from '../lib/amount.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Button } from '../ui/button.tsx'
import { DialogForm } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Textarea } from '../ui/form/textarea.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'

/** Settings of the alert rules: the approval limit of purchases, and groups of related CNPJ. */
export function RuleSettings() {
  const settings = useScreenQuery(getAlertSettings, {})
  const may = useMay('administrador')
  const [editing, setEditing] = useState(false)
  return (
    <section aria-labelledby="ajustes" className="mb-10">
      <h2 id="ajustes" className="mb-2 text-lg">
        Parâmetros das regras
      </h2>
      <Loaded query={settings}>
        {(known) => (
          <div className="grid justify-items-start gap-2">
            <p>
              Limite de aprovação: {formatMoney(known.limite)}
              {known.limitePadrao ? ' (padrão)' : ''}. Avisamos quando várias notas ficam pouco abaixo dele.
            </p>
            <p>
              {known.grupos.length === 0
                ? 'Nenhum grupo de empresas relacionadas.'
                : `${formatCount(known.grupos.length, 'grupo', 'grupos')} de empresas relacionadas: ${known.grupos.map((group) => group.join(', ')).join('; ')}.`}{' '}
              Nomes parecidos dentro de um grupo não são mostrados.
            </p>
            {may && (
              <Button variant="outline" size="sm" onClick={() => setEditing(true)}>
                Mudar
              </Button>
            )}
            {editing && <SettingsDialog known={known} onClose={() => setEditing(false)} />}
          </div>
        )}
      </Loaded>
    </section>
  )
}

function SettingsDialog({ known, onClose }: { known: AlertSettings; onClose: () => void }) {
  const [limit, setLimit] = useState(
    known.limitePadrao ? '' : known.limite.toLocaleString('pt-BR', { minimumFractionDigits: 2 }),
  )
  const [groups, setGroups] = useState(known.grupos.map((group) => group.join(', ')).join('\n'))
  const [problems, setProblems] = useState<{ limite?: string; grupos?: string }>({})
  const action = useAction(saveAlertSettings, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const amount = limit.trim() === '' ? null : parseAmount(limit)
    const body = { limite: amount === null ? null : Number(amount), grupos: groupsOf(groups) }
    const issues = AlertSettingsForm.safeParse(body).error?.issues ?? []
    const problemOf = (field: string) => issues.find(({ path }) => path[0] === field)?.message
    const limite = limit.trim() !== '' && amount === null ? 'Escreva um valor, como 50.000,00.' : problemOf('limite')
    const grupos = problemOf('grupos')
    setProblems({ ...(limite && { limite }), ...(grupos && { grupos }) })
    if (!limite && !grupos) action.mutate({ body })
  }
  return (
    <Dialog open onClose={onClose} title="O que as regras levam em conta">
      <DialogForm save="Guardar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        <Field label="Limite de aprovação das compras" help="Vazio: o usual, R$ 100.000,00." error={problems.limite}>
          {(control) => (
            <Input
              {...control}
              data-initial-focus
              inputMode="decimal"
              placeholder="R$ 100.000,00"
              maxLength={20}
              value={limit}
              onChange={({ target }) => setLimit(target.value)}
            />
          )}
        </Field>
        <Field
          label="Grupos de empresas relacionadas"
          help="Um grupo por linha: os CNPJ, ou as raízes deles, separados por vírgula."
          error={problems.grupos}
        >
          {(control) => (
            <Textarea {...control} rows={4} value={groups} onChange={({ target }) => setGroups(target.value)} />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

function groupsOf(text: string): string[][] {
  return text.split('\n').flatMap((line) => {
    const bases = line.split(/[,;]+/).flatMap((one) => one.trim() || [])
    return bases.length > 0 ? [bases] : []
  })
}
