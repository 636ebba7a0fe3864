import type { Plan } from '@vigia/contract/workspace'

const soonMs = 3 * 24 * 3_600_000

/** Urgency of a notice about the plan; null if there is none. The text comes from the server. */
export function planWarning(plan: Plan, now: Date): 'warning' | 'info' | null {
  const { limite, usadas } = plan.documentosNoMes
  if (plan.situacao === 'encerrado' || plan.capturaPausada) return 'warning'
  if (limite !== null && usadas > limite) return 'warning'
  const end = plan.situacao === 'teste' ? plan.testeAte : plan.pagoAte
  return end !== null && Date.parse(end) - now.getTime() <= soonMs ? 'info' : null
}
