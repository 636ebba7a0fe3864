import { formatBrasiliaDayAndTime } from '@vigia/contract/text'
import { z } from 'zod'
import type { MailKind } from '../mail/mail.ts'
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

/** The letters about the people of a workspace, by kind. */
export const teamMails: Record<string, MailKind> = { convite: invitation }
