import { parseArgs } from 'node:util'
import { withdrawPlan } from '@vigia/server/capture/plan'
import { findPlan, listPlans } from '@vigia/server/insights/plans/usage'
import { type Config, grantPlan, operate } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

type Listed = Awaited<ReturnType<typeof listPlans>>[number]
type PlanType = Listed['plan']['type']

const types: Readonly<Record<string, PlanType>> = { basico: 1, profissional: 2, corporativo: 3 }
const usage =
  'Use: npm run admin -- plano listar, plano ativar --email E --tipo basico|profissional|corporativo [--ate AAAA-MM-DD] ou plano encerrar --email E.'

type PlanOrder =
  | { task: 'list' }
  | { task: 'activate'; email: string; type: PlanType; until: string | null }
  | { task: 'end'; email: string }

/** Shows the plans of all workspaces, or activates or ends one. */
export async function managePlans(config: Config, args: string[]): Promise<void> {
  const order = readPlanOrder(args, new Date())
  // The list is also that of the accounts.
  if (order.task !== 'list' && !config.plans)
    throw new StartError(
      'Esta instalação não tem planos (PLANOS=desligados): nenhuma captura para por causa de um. Nada foi alterado.',
    )
  await operate(config, async (ctx) => {
    if (order.task === 'list') return console.log(describePlans(await listPlans(ctx)))
    const changed =
      order.task === 'activate' ? await grantPlan(ctx, order.email, order) : await withdrawPlan(ctx, order.email)
    const listed = await findPlan(ctx, order.email)
    if (changed === null || listed === null)
      throw new StartError(
        `Não há conta com o e-mail ${order.email}. Nada foi alterado. Veja as contas com npm run admin -- plano listar.`,
      )
    console.log(order.task === 'activate' ? told[`${changed}`].activate : told[`${changed}`].end)
    if (order.task === 'activate') for (const line of describeOverflow(listed)) console.log(line)
    console.log(describePlans([listed]))
  })
}

const told = {
  true: {
    activate: 'O plano está ativo. A captura segue, ou continua de onde parou assim que a SEFAZ permitir.',
    end: 'O plano foi encerrado. Os documentos guardados continuam disponíveis.',
  },
  false: {
    activate: 'O plano já estava assim. Nada foi alterado.',
    end: 'Não havia plano pago ativo. Nada foi alterado.',
  },
} as const

/** The order that `args` give; throws a `StartError` with a message for the person when they are wrong. */
export function readPlanOrder(args: string[], now: Date): PlanOrder {
  const { email, tipo, ate, words } = readOptions(args)
  const [task] = words
  if (words.length !== 1 || (task !== 'listar' && task !== 'ativar' && task !== 'encerrar')) throw new StartError(usage)
  if (task === 'listar') {
    if (email !== undefined || tipo !== undefined || ate !== undefined) throw new StartError(usage)
    return { task: 'list' }
  }
  if (!email?.trim()) throw new StartError(`Falta --email, o e-mail de quem tem a conta. Nada foi alterado. ${usage}`)
  if (task === 'encerrar') {
    if (tipo !== undefined || ate !== undefined) throw new StartError(usage)
    return { task: 'end', email }
  }
  const name = tipo?.toLowerCase() ?? ''
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (!type)
    throw new StartError(
      `--tipo deve ser ${Object.keys(types)
        .join(', ')
        .replace(/, (\w+)$/, ' ou $1')}. Nada foi alterado.`,
    )
  return { task: 'activate', email, type, until: ate === undefined ? null : readDay(ate, now) }
}

function readOptions(args: string[]) {
  // parseArgs would take the last of two: which one was meant is not known.
  const text = { type: 'string', multiple: true } as const
  let parsed: { values: Partial<Record<'email' | 'tipo' | 'ate', string[]>>; positionals: string[] }
  try {
    parsed = parseArgs({ args, allowPositionals: true, options: { email: text, tipo: text, ate: text } })
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  const { values, positionals } = parsed
  for (const [name, given] of Object.entries(values))
    if (given.length > 1) throw new StartError(`--${name} foi informado mais de uma vez. Nada foi alterado. ${usage}`)
  return { email: values.email?.[0], tipo: values.tipo?.[0], ate: values.ate?.[0], words: positionals }
}

function readDay(text: string, now: Date): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T12:00:00Z`) : null
  // 2026-02-30 becomes a day of March.
  if (!day || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text)
    throw new StartError(`--ate deve ser um dia como 2027-01-31, e não ${text}. Nada foi alterado.`)
  const today = now.toLocaleDateString('sv-SE', { timeZone: 'America/Sao_Paulo' })
  if (text < today)
    throw new StartError(
      `O dia ${text} já passou. Nada foi alterado. Para encerrar um plano agora: npm run admin -- plano encerrar --email E.`,
    )
  return text
}

/** A warning about a workspace with more companies than its plan allows. */
export function describeOverflow({ plan, companies }: Pick<Listed, 'plan' | 'companies'>): string[] {
  const max = plan.companiesMax
  if (max === null || companies <= max) return []
  return [`A conta tem ${companies} empresas, e o plano prevê ${max}: as que existem continuam, uma nova não cabe.`]
}

/** `listed` for a terminal. */
export function describePlans(listed: readonly Listed[]): string {
  if (listed.length === 0) return '\nNenhuma conta ainda.'
  return listed.map(describePlan).join('\n')
}

function describePlan({ plan, name, emails, companies }: Listed): string {
  const max = plan.companiesMax === null ? 'sem limite' : `de ${plan.companiesMax}`
  const lines = [
    `${emails.join(', ') || 'sem conta'}  (${name.replaceAll('\n', ' ')})`,
    `  plano ${plan.name}: ${standing(plan)}`,
    `  empresas: ${companies} (${max})${plan.pausedAt === null ? '' : ` · captura pausada desde ${moment(plan.pausedAt)}`}`,
  ]
  return `\n${printable(lines.join('\n'))}`
}

function standing({ situation, trialUntil, paidUntil, endsAt, endsWith }: Listed['plan']): string {
  if (situation === 'active')
    return paidUntil === null ? 'ativo, sem data de término' : `ativo até ${moment(paidUntil)}`
  if (situation === 'trial') return `em teste até ${moment(trialUntil)}`
  return `${endsWith === 'trial' ? 'o teste terminou' : 'terminou'} em ${moment(endsAt ?? trialUntil)}`
}
