import { sql } from 'kysely'
import { keptDays } from '../changes/changes.ts'
import { type MailKind, whyReceived } from '../mail/mail.ts'
import { readWorkspace } from '../platform/database.ts'
import { patienceDays } from './deliveries.ts'

/** An address was paused; not said any more when it was wanted again or removed meanwhile. */
const paused: MailKind = async (ctx, { workspaceId, payload }) => {
  const { webhook, behind = false } = payload as { webhook: string; behind?: boolean }
  const { rows } = await readWorkspace(ctx, workspaceId!, ({ db }) =>
    sql<{ problem: string | null; waiting: number }>`
      select problem, (select count(*)::int from webhook_delivery d
                        where d.workspace_id = ${workspaceId} and d.webhook_id = w.id and d.state = 'waiting') as waiting
        from webhook w where workspace_id = ${workspaceId} and public_id = ${webhook}::uuid and paused_at is not null`.execute(
      db,
    ),
  )
  const [row] = rows
  if (!row) return null
  const waiting = row.waiting === 1 ? '1 entrega espera' : `${row.waiting} entregas esperam`
  if (behind)
    return {
      subject: 'Um webhook foi pausado',
      paragraphs: [
        `Um endereço que recebe avisos do que muda no seu workspace (webhook) ficou para trás e foi pausado. ${row.problem ?? ''}`.trim(),
        `Nenhum documento se perdeu, mas o outro sistema não será avisado de uma parte do que mudou: as alterações são guardadas por ${keptDays} dias. Peça a quem cuida dele que reative o webhook em Integrações e leia os documentos pelas listas. Quando ele for reativado, o que já esperava sai na ordem (${waiting}).`,
      ],
      footnote: whyReceived(ctx.config),
    }
  return {
    subject: 'Um webhook foi pausado',
    paragraphs: [
      `Um endereço que recebe avisos do que muda no seu workspace (webhook) não os aceita há ${patienceDays} dias, ou disse que já não existe, e foi pausado. ${row.problem ?? ''}`.trim(),
      `Nada se perdeu: ${waiting}, e o que mudar até lá também. Peça a quem cuida do outro sistema que o conserte e reative o webhook em Integrações: tudo sai na ordem.`,
    ],
    footnote: whyReceived(ctx.config),
  }
}

export const webhookMails: Record<string, MailKind> = { 'webhook-pausado': paused }
