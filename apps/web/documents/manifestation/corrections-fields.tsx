import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useFieldArray } from 'react-hook-form'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import type { AnswerForm } from './answer-form.ts'

const badName = 'Use o nome que está no XML: até 20 letras e números.'
const texts = {
  grupoAlterado: badName,
  campoAlterado: badName,
  nroItemAlterado: 'De 1 a 99.',
  valorAlterado: 'Escreva o novo valor, com até 500 caracteres.',
}

/** CT-e fields that a Carta de Correção corrects; without any, the text is the correction. */
export function CorrectionsFields({ form }: { form: AnswerForm }) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'correcoes' })
  return (
    <fieldset className="grid gap-3">
      <legend className="font-semibold text-sm">Campos corrigidos (opcional)</legend>
      <p className="text-muted text-sm">
        {fields.length === 0
          ? 'Sem campos, a carta leva o texto acima como observação do CT-e. Para corrigir um campo, diga o grupo e o nome dele no XML.'
          : 'A carta leva só os campos abaixo; o texto acima fica guardado aqui com o pedido.'}
      </p>
      {fields.map((field, index) => (
        <CorrectionRow key={field.id} form={form} index={index} onRemove={() => remove(index)} />
      ))}
      <div>
        <Button
          variant="outline"
          size="sm"
          disabled={fields.length >= 50}
          onClick={() => append({ grupoAlterado: '', campoAlterado: '', valorAlterado: '' })}
        >
          <Plus aria-hidden className="size-4" />
          Corrigir um campo
        </Button>
      </div>
    </fieldset>
  )
}

interface CorrectionProps {
  form: AnswerForm
  index: number
  onRemove: () => void
}

function CorrectionRow({ form: { register, formState }, index, onRemove }: CorrectionProps) {
  const { submitCount, touchedFields, errors } = formState
  const [bornAt] = useState(submitCount)
  // Errors only after an edit, because adding a correction also validates the new, empty one.
  const problem = (field: keyof typeof texts) => {
    const looked = submitCount > bornAt || touchedFields.correcoes?.[index]?.[field]
    return looked && errors.correcoes?.[index]?.[field] ? texts[field] : undefined
  }
  return (
    <div className="grid grid-cols-[1fr_1fr_5rem] gap-2 border-line border-l-2 pl-3 max-sm:grid-cols-2">
      <Field label="Grupo" error={problem('grupoAlterado')}>
        {(props) => (
          <Input {...props} {...register(`correcoes.${index}.grupoAlterado`)} placeholder="compl" spellCheck={false} />
        )}
      </Field>
      <Field label="Campo" error={problem('campoAlterado')}>
        {(props) => (
          <Input {...props} {...register(`correcoes.${index}.campoAlterado`)} placeholder="xObs" spellCheck={false} />
        )}
      </Field>
      <Field label="Item" error={problem('nroItemAlterado')}>
        {(props) => (
          <Input
            {...props}
            {...register(`correcoes.${index}.nroItemAlterado`, { setValueAs: itemNumber })}
            inputMode="numeric"
          />
        )}
      </Field>
      <div className="col-span-full flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field label="Novo valor" error={problem('valorAlterado')}>
            {(props) => <Input {...props} {...register(`correcoes.${index}.valorAlterado`)} />}
          </Field>
        </div>
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Remover a correção ${index + 1}`}
          // Keeps the focus, because an error on blur would move this button while it is pressed.
          onMouseDown={(event) => event.preventDefault()}
          onClick={onRemove}
        >
          <Trash2 aria-hidden className="size-4" />
        </Button>
      </div>
    </div>
  )
}

function itemNumber(text: unknown): number | undefined {
  return text === '' || text === undefined || text === null ? undefined : Number(text)
}
