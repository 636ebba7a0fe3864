import type { Plan } from '@vigia/contract/workspace'

const soonMs = 3 * 24 * 3_600_000

/** How urgent it is to tell a person about the plan; null when all is well. The text is the server's. */
export function planWarning(plan: Plan, now: Date): 'warning' | 'info' | null {
  const { limite, usadas } = plan.documentosNoMes
  if (plan.situacao === 'encerrado' || plan.capturaPausada) return 'warning'
  if (limite !== null && usadas > limite) return 'warning'
  const end = plan.situacao === 'teste' ? plan.testeAte : plan.pagoAte
  return end !== null && Date.parse(end) - now.getTime() <= soonMs ? 'info' : null
}
