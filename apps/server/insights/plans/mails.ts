import { formatBrasiliaDay, formatBrasiliaMoment, formatInteger } from '@vigia/contract/text'
import {
  howToGetPlan,
  keptByAuthority,
  readPlan,
  reasonOf,
  type WorkspacePlan,
  whatIsSafe,
} from '../../accounts/plans.ts'
import { countCompanies } from '../../companies/companies.ts'
import type { Context } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { type Letter, type MailKind, type WaitingMail, whyReceived } from '../../platform/mail/mail.ts'
import { countArrivals, thisMonth } from './usage.ts'

export const planMails: Readonly<Record<string, MailKind>> = {
  'plano-termina': (ctx, mail) =>
    writeOf(ctx, mail, (plan, { endsAt }: { endsAt: string }) =>
      plan.situation !== 'ended' && plan.endsAt?.toISOString() === endsAt ? endsSoon(ctx.config, plan) : null,
    ),

  'plano-terminou': (ctx, mail) =>
    writeOf(ctx, mail, async (plan, { endsAt }: { endsAt: string }, ctx) => {
      if (plan.situation !== 'ended' || plan.endsAt?.toISOString() !== endsAt) return null
      return (await countCompanies(ctx, mail.workspaceId!)) > 0
        ? captureRests(ctx.config, plan)
        : endedUnused(ctx.config, plan)
    }),

  'plano-documentos': (ctx, mail) =>
    writeOf(ctx, mail, async (plan, { month }: { month: string }, ctx) => {
      if (plan.documentsPerMonthMax === null || (await thisMonth(ctx)) !== month) return null
      return manyDocuments(ctx.config, plan, await countArrivals(ctx, mail.workspaceId!), plan.documentsPerMonthMax)
    }),
}

type PlanLetter = Pick<Letter, 'subject' | 'paragraphs'> & { when: string }

// Writes about the plan as it stands when the letter leaves.
async function writeOf<Payload>(
  ctx: Context,
  { workspaceId, recipient, payload }: WaitingMail,
  write: (plan: WorkspacePlan, payload: Payload, ctx: Context) => PlanLetter | null | Promise<PlanLetter | null>,
): Promise<Letter | null> {
  if (workspaceId === null) return null
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const letter = await write(await readPlan(ctx, workspaceId), payload as Payload, ctx)
    if (!letter) return null
    const { when, ...words } = letter
    const { contactEmail, productName, publicUrl } = ctx.config
    return {
      ...words,
      button: { label: 'Fale com a Gente', url: `${publicUrl}/#contato` },
      footnote: `${whyReceived(ctx.config)} A conta é ${recipient}. ${when}`,
      ...(contactEmail !== undefined && { replyTo: { name: productName, address: contactEmail } }),
    }
  })
}

const aroundTheEnd = 'Avisamos antes de o teste ou o plano terminar e quando ele termina.'
const sentAnyway = 'As manifestações que você pedir continuam sendo enviadas.'

function whatEnds({ productName }: Context['config'], { endsWith, name }: WorkspacePlan): string {
  return endsWith === 'trial' ? `O período de teste do ${productName}` : `O plano ${name}`
}

function endsSoon(config: Context['config'], plan: WorkspacePlan): PlanLetter {
  const what = whatEnds(config, plan)
  const days = Math.max(1, Math.ceil((plan.leftMs ?? 0) / 86_400_000))
  return {
    subject: `${what} termina em ${days === 1 ? '1 dia' : `${days} dias`}`,
    paragraphs: [
      `${what} termina em ${formatBrasiliaMoment(plan.endsAt!)}, no horário de Brasília. Até lá nada muda.`,
      `Depois, sem um plano ativo, a captura pausa: nada mais é consultado na SEFAZ e a ciência automática para. ${whatIsSafe} ${sentAnyway}`,
      keptByAuthority('um plano ativado'),
      howToGetPlan(config),
    ],
    when: aroundTheEnd,
  }
}

function captureRests(config: Context['config'], plan: WorkspacePlan): PlanLetter {
  return {
    subject: `A captura foi pausada: ${plan.endsWith === 'trial' ? 'o período de teste' : `o plano ${plan.name}`} terminou em ${formatBrasiliaDay(plan.endsAt!)}`,
    paragraphs: [
      `${reasonOf(plan)}. Desde então a captura está pausada em todas as empresas: nada é consultado na SEFAZ e a ciência automática parou.`,
      `${whatIsSafe} ${sentAnyway}`,
      keptByAuthority('um plano ativado'),
      howToGetPlan(config),
    ],
    when: aroundTheEnd,
  }
}

function endedUnused(config: Context['config'], plan: WorkspacePlan): PlanLetter {
  return {
    subject: `${whatEnds(config, plan)} terminou em ${formatBrasiliaDay(plan.endsAt!)}`,
    paragraphs: [
      `${reasonOf(plan)}. A conta não tem empresas cadastradas, e por isso nada deixou de ser capturado.`,
      'A conta continua aberta. Para cadastrar uma empresa é preciso um plano ativo.',
      howToGetPlan(config),
    ],
    when: aroundTheEnd,
  }
}

function manyDocuments(config: Context['config'], { name }: WorkspacePlan, n: number, max: number): PlanLetter {
  const [arrived, allowed] = [n, max].map(formatInteger)
  const over = n > max
  return {
    subject: over
      ? `Os documentos deste mês passaram do limite do plano ${name}`
      : `Os documentos deste mês estão perto do limite do plano ${name}`,
    paragraphs: [
      `Chegaram ${arrived} documentos neste mês, e o plano ${name} prevê até ${allowed}.`,
      over
        ? 'Nada se perde por isso: todos foram guardados, e os próximos continuam sendo capturados e guardados.'
        : 'Por enquanto nada muda. Mesmo que o limite seja passado, os documentos continuam sendo capturados e guardados.',
      `Se os próximos meses forem assim, o plano Profissional não tem limite de documentos. ${howToGetPlan(config)}`,
    ],
    when: 'Avisamos uma vez perto do limite do mês e uma vez quando ele é passado.',
  }
}
