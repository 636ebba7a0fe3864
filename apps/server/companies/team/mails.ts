import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { z } from 'zod'
import type { MailKind } from '../../platform/mail/mail.ts'
import { readLetter } from './invitations.ts'

/** An invitation. Neither the workspace nor who invites is named: both names were typed by somebody, and anybody may be written to. */
const invitation: MailKind = async (ctx, { workspaceId, payload }) => {
  const { productName, publicUrl } = ctx.config
  const letter = workspaceId === null ? null : await readLetter(ctx, workspaceId, Sent.parse(payload))
  if (!letter) return null
  return {
    subject: `Você foi convidado a entrar em um workspace no ${productName}`,
    paragraphs: [
      `Alguém que usa o ${productName} convidou este e-mail a trabalhar nos documentos fiscais de um workspace. Abra o endereço abaixo para ver qual é, quem convida e o que você poderá fazer; só depois você aceita ou não.`,
      `O link vale até ${formatBrasiliaDayAndTime(letter.expiresAt)}, no horário de Brasília, e uma vez só.`,
      'Se você não espera um convite, não é preciso fazer nada: sem a sua resposta nada acontece.',
    ],
    button: { label: 'Ver o convite', url: `${publicUrl}/convite/${letter.token}` },
  }
}

const Sent = z.object({ id: z.int(), at: z.iso.datetime() })

const administrator: MailKind = async ({ config: { productName, publicUrl } }, { payload }) => {
  const { at, address, email, by, how } = Administrator.parse(payload)
  const moment = `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, alguém que estava na conta ${by ? `de ${by}` : 'de quem administra o workspace'}`
  return {
    subject: `Mais alguém vai administrar o seu workspace no ${productName}`,
    paragraphs: [
      how === 'convidado'
        ? `${moment} convidou ${email} para administrar o workspace. Quem aceita pode tudo: certificados, empresas, respostas à SEFAZ e quem mais entra.`
        : `${moment} mudou o papel de ${email} para administrador. Agora essa pessoa pode tudo: certificados, empresas, respostas à SEFAZ e quem mais entra.`,
      'Se vocês combinaram isso, não é preciso fazer nada.',
      how === 'convidado'
        ? 'Se não, cancele o convite agora em "Equipe" e, se foi com a sua conta, troque a senha. Os documentos guardados continuam seguros.'
        : 'Se não, mude o papel de volta agora em "Equipe" e, se foi com a sua conta, troque a senha. Os documentos guardados continuam seguros.',
    ],
    button: { label: 'Abrir a equipe', url: `${publicUrl}/equipe` },
    ...(address && { footnote: `Isso veio do endereço de rede ${address}.` }),
  }
}

const Administrator = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  email: z.string(),
  by: z.string().optional(),
  how: z.enum(['convidado', 'mudado']),
})

/** The letters about the people of a workspace, by kind. */
export const teamMails: Record<string, MailKind> = { convite: invitation, 'administrador-novo': administrator }
