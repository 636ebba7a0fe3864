import { type Plan, requestPlan } from '@vigia/contract/workspace'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { type PlanType, planChange, suggestedPlan } from '../lib/plan-choice.ts'
import { type PlanOffer, plans } from '../lib/plans.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'

const offers: Readonly<Record<PlanType, PlanOffer>> = {
  ...plans,
  3: { name: 'Corporativo', price: 'Preço combinado', features: ['Empresas sem limite', 'Armazenamento ilimitado'] },
}
const types: readonly PlanType[] = [1, 2, 3]

/** Asks us for a plan; in a trial one with more room counts at once. */
export function PlanRequest({ plan }: { plan: Plan }) {
  const [asking, setAsking] = useState(false)
  const [picked, setPicked] = useState<PlanType>()
  const chosen = picked ?? suggestedPlan(plan)
  const action = useAction(requestPlan, {
    errorToast: false,
    onSuccess: ({ message }) => {
      setAsking(false)
      setPicked(undefined)
      notifySuccess('Pedido enviado', { description: message })
    },
  })
  return (
    <>
      <Button variant="outline" className="mt-5" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {plan.situacao === 'encerrado' ? 'Ativar um plano' : 'Mudar de plano'}
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
                onChange={() => setPicked(type)}
                className="mt-1 size-4 shrink-0 accent-brand"
              />
              <span>
                <span className="font-semibold">{offers[type].name}</span>{' '}
                <span className="tabular-nums">
                  {offers[type].price}
                  {type !== 3 && ' por mês'}
                </span>
                {type === plan.tipoPlano && <span className="text-muted"> · o plano atual</span>}
                <span className="block text-muted text-sm">{offers[type].features.join(' · ')}</span>
                {planChange(plan, type) && <span className="block text-sm">{planChange(plan, type)}</span>}
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
