import { type AlertLetters, changeLetterChoice, type DeadlineLetters, getLetterChoice } from '@vigia/contract/letters'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { hasPlans } from '../lib/site.ts'
import { Skeleton } from '../ui/skeleton.tsx'

const alertWords: Record<AlertLetters, string> = {
  criticos: 'Alertas críticos, na hora',
  'criticos-e-resumo': 'Alertas críticos na hora, e um resumo diário de todos os novos',
  resumo: 'Só o resumo diário',
  nenhum: 'Nenhum e-mail',
}
const deadlineWords: Record<DeadlineLetters, string> = {
  diario: 'Resumo diário: o que termina em 7 dias',
  semanal: 'Resumo às segundas-feiras: o que termina em 15 dias',
  nenhum: 'Nenhum e-mail',
}

/** Choice of e-mails about alerts and deadlines; each change is saved at once. */
export function LetterChoice() {
  const { data, error } = useScreenQuery(getLetterChoice, {}, { errorToast: false })
  const [wanted, setWanted] = useState<typeof data>()
  const action = useAction(changeLetterChoice, {
    onSuccess: ({ message }) => notifySuccess(message),
    onError: () => setWanted(undefined),
  })
  if (error)
    return <p className="text-muted">Não foi possível ler a sua escolha. Nada foi alterado; recarregue a página.</p>
  if (!data) return <Skeleton className="w-3/5" />
  const chosen = wanted ?? data
  const set = (change: Partial<typeof data>) => {
    const body = { ...chosen, ...change }
    setWanted(body)
    action.mutate({ body })
  }
  return (
    <div className="grid gap-6">
      <Choice
        name="alertas"
        title="Alertas"
        words={alertWords}
        chosen={chosen.alertas}
        onChoose={(alertas) => set({ alertas })}
      />
      <Choice
        name="prazos"
        title="Prazos de respostas e certificados"
        words={deadlineWords}
        chosen={chosen.prazos}
        onChoose={(prazos) => set({ prazos })}
      />
      <p className="text-muted text-sm">
        Vale para este workspace, e só do que você pode ver nele. Os resumos saem às 7h, no horário de Brasília, quando
        há o que dizer. Os avisos sobre certificados, captura{hasPlans && ', plano'} e segurança saem sempre.
      </p>
    </div>
  )
}

function Choice<Value extends string>({
  name,
  title,
  words,
  chosen,
  onChoose,
}: {
  name: string
  title: string
  words: Record<Value, string>
  chosen: Value
  onChoose: (value: Value) => void
}) {
  return (
    <fieldset>
      <legend className="font-semibold">{title}</legend>
      {(Object.keys(words) as Value[]).map((value) => (
        <label key={value} className="flex min-h-9 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => onChoose(value)}
            className="size-4 shrink-0 accent-brand"
          />
          {words[value]}
        </label>
      ))}
    </fieldset>
  )
}
