import { formatInteger } from '@vigia/contract/text'
import { type Plan, requestPlan } from '@vigia/contract/workspace'
import { planSituation } from '../lib/plan-situation.ts'
import { plans } from '../lib/plans.ts'
import { useMay } from '../lib/rights.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Changes } from '../ui/changes.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { PlanRequest } from './plan-request.tsx'

const tones: Record<Plan['situacao'], Tone> = { teste: 'blue', ativo: 'green', encerrado: 'red' }

export function PlanCard({ plan }: { plan: Plan | undefined }) {
  const mayManage = useMay('administrador')
  if (!plan) {
    return (
      <div aria-hidden className="grid h-44 content-start gap-4 py-1">
        <Skeleton className="h-5! w-48" />
        <Skeleton className="w-full" />
        <Skeleton className="w-3/5" />
      </div>
    )
  }
  const price = plan.tipoPlano === 1 || plan.tipoPlano === 2 ? plans[plan.tipoPlano].price : null
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-semibold text-lg">{plan.nome}</span>
        {price && <span className="text-muted tabular-nums">{price} por mês</span>}
        <Badge tone={tones[plan.situacao]}>{planSituation(plan)}</Badge>
      </p>
      <p className="mt-2 max-w-prose">{plan.mensagem}</p>
      <dl className="mt-4 grid gap-4 sm:grid-cols-2">
        <Usage name="Empresas cadastradas" {...plan.empresas} />
        <Usage name="Documentos que chegaram neste mês" {...plan.documentosNoMes} />
      </dl>
      {mayManage && (
        <Changes by={requestPlan}>
          <PlanRequest plan={plan} />
        </Changes>
      )}
    </>
  )
}

function Usage({ name, usadas, limite }: { name: string; usadas: number; limite: number | null }) {
  const over = limite !== null && usadas > limite
  return (
    <div>
      <dt className="text-muted text-sm">{name}</dt>
      <dd className="tabular-nums">
        <span className="font-semibold text-xl">{formatInteger(usadas)}</span>{' '}
        <span className="text-muted">{limite === null ? 'sem limite' : `de ${formatInteger(limite)}`}</span>
        {over && <span className="ml-2 font-semibold text-warning">acima do plano</span>}
        {limite !== null && (
          <span aria-hidden className="mt-1 block h-1.5 w-full max-w-60 rounded-full bg-line">
            <span
              className={over ? 'block h-full rounded-full bg-warning' : 'block h-full rounded-full bg-brand'}
              style={{ width: `${Math.min(100, (usadas / limite) * 100)}%` }}
            />
          </span>
        )}
      </dd>
    </div>
  )
}
