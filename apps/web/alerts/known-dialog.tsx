import { type Alert, alertMax, listAlertRules, setAlertState } from '@vigia/contract/alerts'
import { writeBrasiliaTime } from '@vigia/contract/text'
import { useState } from 'react'
import { parseAmount } from '../lib/amount.ts'
import { useCompanyText } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { DialogForm, toggle } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Select } from '../ui/form/select.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { nameOf } from './words.ts'

interface KnownDialogProps {
  alert: Alert
  onClose: () => void
}

const periods = [1, 3, 6, alertMax.knownMonths]

/** Marks reasons as known for this issuer and company, up to an amount and a day. */
export function KnownDialog({ alert, onClose }: KnownDialogProps) {
  const { data: all = [] } = useScreenQuery(listAlertRules, {})
  const fixed = new Set(all.flatMap(({ id, fixa }) => (fixa ? id : [])))
  const offered = alert.motivos.filter(({ regra }) => !fixed.has(regra))
  const [unchosen, setUnchosen] = useState<readonly string[]>([])
  const rules = offered.flatMap(({ regra }) => (unchosen.includes(regra) ? [] : regra))
  const [ceiling, setCeiling] = useState('')
  const [months, setMonths] = useState(alertMax.knownMonths)
  const textOf = useCompanyText()
  const [problem, setProblem] = useState<{ rules?: string; ceiling?: string }>({})
  const action = useAction(setAlertState, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const amount = ceiling.trim() === '' ? null : parseAmount(ceiling)
    const found = {
      ...(rules.length === 0 && { rules: 'Escolha ao menos um motivo.' }),
      ...(ceiling.trim() !== '' && !Number(amount) && { ceiling: 'Escreva um valor, como 1.500,00.' }),
    }
    setProblem(found)
    if (Object.keys(found).length > 0) return
    action.mutate({
      body: {
        idsDFe: [alert.idDFe],
        estado: 'conhecida',
        regras: [...rules],
        ...(amount !== null && { teto: Number(amount) }),
        ate: inMonths(months),
      },
    })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Ignorar este motivo"
      description={`${nameOf(alert)} de ${alert.emitente}, para ${textOf(alert.idEmpresa, alert.empresa)}.`}
    >
      <DialogForm save="Ignorar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        <fieldset className="grid gap-1">
          <legend className="mb-1 font-semibold text-sm">Motivos a ignorar deste emitente</legend>
          {offered.map(({ regra, nome }) => (
            <Checkbox
              key={regra}
              label={nome}
              checked={rules.includes(regra)}
              onChange={({ target }) => setUnchosen(toggle(unchosen, regra, !target.checked))}
            />
          ))}
          {problem.rules && <p className="text-error text-sm">{problem.rules}</p>}
        </fieldset>
        <Field
          label="Só até o valor de"
          error={problem.ceiling}
          help="Documentos mais caros voltam a dar alerta. Vazio: qualquer valor."
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              placeholder="R$ 0,00"
              maxLength={20}
              value={ceiling}
              onChange={({ target }) => setCeiling(target.value)}
            />
          )}
        </Field>
        <Field label="Por quanto tempo" help="Documentos emitidos depois voltam a dar alerta.">
          {(control) => (
            <Select {...control} value={months} onChange={({ target }) => setMonths(Number(target.value))}>
              {periods.map((count) => (
                <option key={count} value={count}>
                  {count === 1 ? '1 mês' : `${count} meses`}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

// End of the day in Brasília time; the server limits it to its maximum.
function inMonths(count: number): string {
  const date = new Date()
  date.setMonth(date.getMonth() + count)
  return `${writeBrasiliaTime(date).slice(0, 10)}T23:59:59`
}
