import { requestPlan } from '@vigia/contract/workspace'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { plans } from '../lib/plans.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'

type PlanType = keyof typeof plans

const types: readonly PlanType[] = [1, 2]

/** Asks us for a plan. `current`: the paid one that lasts. */
export function PlanRequest({ current, suggested }: { current: number | null; suggested: PlanType }) {
  const [asking, setAsking] = useState(false)
  const [chosen, setChosen] = useState(suggested)
  const action = useAction(requestPlan, {
    errorToast: false,
    onSuccess: ({ message }) => {
      setAsking(false)
      notifySuccess('Pedido enviado', { description: message })
    },
  })
  return (
    <>
      <Button variant="outline" className="mt-5" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {current === null ? 'Ativar um plano' : 'Mudar de plano'}
      </Button>
      <ConfirmDialog
        open={asking}
        title="Qual plano?"
        confirm="Enviar pedido"
        busy={action.isPending}
        onConfirm={() => action.mutate({ body: { tipoPlano: chosen } })}
        onCancel={() => {
          setAsking(false)
          action.reset()
        }}
      >
        <fieldset className="grid gap-2">
          <legend className="sr-only">Plano</legend>
          {types.map((type) => (
            <label
              key={type}
              className="flex cursor-pointer items-start gap-3 rounded border border-line px-3 py-2.5 has-checked:border-brand has-checked:bg-brand-soft"
            >
              <input
                type="radio"
                name="plan"
                checked={chosen === type}
                onChange={() => setChosen(type)}
                className="mt-1 size-4 shrink-0 accent-brand"
              />
              <span>
                <span className="font-semibold">{plans[type].name}</span>{' '}
                <span className="tabular-nums">{plans[type].price} por mês</span>
                {type === current && <span className="text-muted"> · o seu plano</span>}
                <span className="block text-muted text-sm">{plans[type].features.join(' · ')}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <p>Nada é cobrado agora: respondemos pelo e-mail da conta com o que falta para ativar.</p>
        {action.error && (
          <Notice tone="error" title="O pedido não foi enviado">
            {actionMessage(action.error)}
          </Notice>
        )}
      </ConfirmDialog>
    </>
  )
}
