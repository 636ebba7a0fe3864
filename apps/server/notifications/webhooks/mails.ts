import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { z } from 'zod'
import { readWorkspace } from '../../platform/database.ts'
import { type MailKind, whyReceived } from '../../platform/mail/mail.ts'
import { patienceDays } from './deliveries.ts'

/** An address was paused; not said any more when it was wanted again or removed meanwhile. */
const paused: MailKind = async (ctx, { workspaceId, payload }) => {
  const { webhook } = payload as { webhook: string }
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
  return {
    subject: 'Um webhook foi pausado',
    paragraphs: [
      `Um endereço que recebe avisos do que muda no seu workspace (webhook) foi pausado: não os aceita há ${patienceDays} dias, disse que já não existe ou ficou para trás. ${row.problem ?? ''}`.trim(),
      `Nenhum documento se perdeu: ${waiting}, e o que mudar até lá também. Peça a quem cuida do outro sistema que o conserte e reative o webhook em Integrações: tudo sai na ordem.`,
    ],
    footnote: whyReceived(ctx.config),
  }
}

const Told = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  host: z.string(),
  how: z.enum(['criado', 'mudado']),
})

const told: MailKind = async ({ config: { productName, publicUrl } }, { payload }) => {
  const { at, address, host, how } = Told.parse(payload)
  const moment = `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, alguém que estava na sua conta`
  return {
    subject:
      how === 'criado'
        ? `Um webhook foi criado na sua conta no ${productName}`
        : `Um webhook da sua conta no ${productName} mudou de endereço`,
    paragraphs: [
      how === 'criado'
        ? `${moment} criou um webhook para ${host}: esse endereço é avisado do que muda nos documentos.`
        : `${moment} mudou o endereço de um webhook para ${host}: ele é avisado agora do que muda nos documentos.`,
      'Se foi você, não é preciso fazer nada.',
      'Se não foi, apague o webhook agora em Integrações e troque a senha: trocar a senha não apaga o webhook. Suas empresas e seus documentos continuam guardados.',
    ],
    button: { label: 'Abrir Integrações', url: `${publicUrl}/integracoes#webhooks` },
    ...(address && { footnote: `Isso veio do endereço de rede ${address}.` }),
  }
}

export const webhookMails: Record<string, MailKind> = { 'webhook-pausado': paused, 'webhook-novo': told }
