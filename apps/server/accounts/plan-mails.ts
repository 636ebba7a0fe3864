import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import type { Letter, MailKind, WaitingMail } from '../platform/mail.ts'
import {
  activate,
  countArrivals,
  dayText,
  keptByAuthority,
  momentText,
  type Plan,
  readPlan,
  reasonOf,
  thisMonth,
  whatIsSafe,
} from './plans.ts'

const why =
  'Você recebe este aviso porque tem uma conta neste workspace. Avisamos antes de o teste ou o plano terminar e quando ele termina.'

/** The letters about plans, by kind. */
export const planMails: Readonly<Record<string, MailKind>> = {
  'plano-termina': (ctx, mail) =>
    writeOf(ctx, mail, (plan, { endsAt }: { endsAt: string }) =>
      plan.situation !== 'ended' && plan.endsAt?.toISOString() === endsAt ? endsSoon(ctx.config, plan) : null,
    ),

  'plano-terminou': (ctx, mail) =>
    writeOf(ctx, mail, (plan, { endsAt }: { endsAt: string }) =>
      plan.situation === 'ended' && plan.endsAt?.toISOString() === endsAt ? hasEnded(ctx.config, plan) : null,
    ),

  'plano-documentos': (ctx, mail) =>
    writeOf(ctx, mail, async (plan, { month }: { month: string }, ctx) => {
      if (plan.documentsPerMonthMax === null || (await thisMonth(ctx)) !== month) return null
      return manyDocuments(ctx.config, plan, await countArrivals(ctx, mail.workspaceId!), plan.documentsPerMonthMax)
    }),
}

// Of the plan as it stands when the letter leaves.
async function writeOf<Payload>(
  ctx: Context,
  { workspaceId, payload }: WaitingMail,
  write: (plan: Plan, payload: Payload, ctx: Context) => Letter | null | Promise<Letter | null>,
): Promise<Letter | null> {
  if (workspaceId === null) return null
  return readWorkspace(ctx, workspaceId, async (ctx) =>
    write(await readPlan(ctx, workspaceId), payload as Payload, ctx),
  )
}

function endsSoon(config: Context['config'], plan: Plan): Letter {
  const { name, endsWith, endsAt, leftMs } = plan
  const what = endsWith === 'trial' ? `O período de teste do ${config.productName}` : `O plano ${name}`
  const days = Math.max(1, Math.ceil((leftMs ?? 0) / 86_400_000))
  return {
    subject: `${what} termina em ${days === 1 ? '1 dia' : `${days} dias`}`,
    paragraphs: [
      `${what} termina em ${momentText(endsAt!)}, no horário de Brasília. Até lá nada muda.`,
      `Depois, sem um plano ativo, a captura pausa: nada mais é consultado na SEFAZ e a ciência automática para. ${whatIsSafe} As manifestações que você pedir continuam sendo enviadas.`,
      keptByAuthority,
      activate(config),
    ],
    ...contact(config),
    footnote: why,
  }
}

function hasEnded(config: Context['config'], plan: Plan): Letter {
  return {
    subject: `A captura foi pausada: ${plan.endsWith === 'trial' ? 'o período de teste' : `o plano ${plan.name}`} terminou em ${dayText(plan.endsAt!)}`,
    paragraphs: [
      `${reasonOf(plan)}. Desde então a captura está pausada em todas as empresas: nada é consultado na SEFAZ e a ciência automática parou.`,
      `${whatIsSafe} As manifestações que você pedir continuam sendo enviadas.`,
      keptByAuthority,
      activate(config),
    ],
    ...contact(config),
    footnote: why,
  }
}

function manyDocuments(config: Context['config'], { name }: Plan, n: number, max: number): Letter {
  const [arrived, allowed] = [n, max].map((count) => count.toLocaleString('pt-BR'))
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
      `Se os próximos meses forem assim, o plano Profissional não tem limite de documentos. ${activate(config)}`,
    ],
    ...contact(config),
    footnote:
      'Você recebe este aviso porque tem uma conta neste workspace. Avisamos uma vez perto do limite do mês e uma vez quando ele é passado.',
  }
}

function contact({ contactEmail, productName, publicUrl }: Context['config']): Pick<Letter, 'button' | 'replyTo'> {
  return {
    button: { label: 'Fale com a Gente', url: `${publicUrl}/#contato` },
    ...(contactEmail !== undefined && { replyTo: { name: productName, address: contactEmail } }),
  }
}
