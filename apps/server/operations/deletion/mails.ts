import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { readWorkspace } from '../../platform/database.ts'
import { type MailKind, whyReceived } from '../../platform/mail/mail.ts'

/** The letters about a deletion, by kind. */
export const deletionMails: Readonly<Record<string, MailKind>> = {
  'exclusao-pedida': async (ctx, { workspaceId }) => {
    if (workspaceId === null) return null
    const workspace = await readWorkspace(ctx, workspaceId, ({ db }) =>
      db.selectFrom('workspace').select('erase_at').where('id', '=', workspaceId).executeTakeFirst(),
    )
    // It was taken back, or is over.
    if (!workspace?.erase_at || workspace.erase_at <= new Date()) return null
    const { productName, publicUrl } = ctx.config
    const when = formatBrasiliaDayAndTime(workspace.erase_at)
    return {
      subject: `A exclusão da sua conta no ${productName} foi pedida`,
      paragraphs: [
        `Alguém que sabe a senha da conta, ou quem administra o sistema a pedido, pediu que ela seja excluída. Em ${when}, no horário de Brasília, são apagados para sempre as empresas, os documentos guardados, a auditoria e o seu cadastro.`,
        'As chaves privadas dos certificados digitais já foram apagadas, e nada mais é consultado na SEFAZ com eles.',
        'A lei manda guardar os documentos fiscais por pelo menos cinco anos: se você ainda não os levou, entre antes desse dia e, em “Minha conta”, escolha “Exportar todos os dados”.',
        'Se você mudou de ideia, ou se não foi você, entre, abra “Minha conta” e escolha “Manter a conta”. Se não foi você, troque também a senha. Depois, envie os certificados de novo para a captura continuar.',
      ],
      button: { label: 'Abrir a minha conta', url: `${publicUrl}/conta#excluir` },
      footnote: whyReceived(ctx.config),
    }
  },
}
