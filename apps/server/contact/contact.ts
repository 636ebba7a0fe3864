import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator } from '../platform/database.ts'
import { type MailKind, queueMail } from '../platform/mail.ts'

/** What a visitor writes to whoever runs the product. */
export interface ContactMessage {
  name: string
  email: string
  phone?: string
  company?: string
  message: string
  /** It is kept, and mailed to nobody. */
  suspect: boolean
}

/** Keeps a message and, where the configuration names somebody to read it, mails it. */
export async function keepMessage(
  ctx: Pick<Context, 'db' | 'config'>,
  { name, email, phone, company, message, suspect }: ContactMessage,
): Promise<void> {
  const recipient = ctx.config.contactEmail
  await asOperator(ctx, async (ctx) => {
    const { id } = await ctx.db
      .insertInto('contact_message')
      .values({ name, email, phone: phone ?? null, company: company || null, message, suspect })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (recipient && !suspect) await queueMail(ctx, { kind: 'contato', recipient, payload: { message: String(id) } })
  })
}

/** What visitors wrote, newest first. */
export async function listContactMessages(ctx: Pick<Context, 'db'>) {
  return asOperator(ctx, ({ db }) =>
    db
      .selectFrom('contact_message')
      .select(['at', 'name', 'email', 'phone', 'company', 'message', 'suspect'])
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .execute(),
  )
}

const writeContact: MailKind = async (ctx, { payload }) => {
  const { message: id } = payload as { message: string }
  const row = await asOperator(ctx, ({ db }) =>
    db
      .selectFrom('contact_message')
      .select(['name', 'email', 'phone', 'company', 'message'])
      .select(sql<string>`to_char(at at time zone 'America/Sao_Paulo', 'DD/MM/YYYY HH24:MI')`.as('at'))
      .where('id', '=', BigInt(id))
      .executeTakeFirst(),
  )
  if (!row) return null
  const from = [
    `Nome: ${row.name}`,
    `E-mail: ${row.email}`,
    ...(row.phone ? [`Celular: ${row.phone}`] : []),
    ...(row.company ? [`Empresa: ${row.company}`] : []),
    `Recebida em: ${row.at} (horário de Brasília)`,
  ]
  return {
    subject: `Fale com a Gente: ${row.name}${row.company ? ` (${row.company})` : ''}`,
    paragraphs: ['Uma pessoa escreveu pelo formulário "Fale com a Gente" do site:', row.message, from.join('\n')],
    footnote:
      'Ao responder este e-mail, a resposta vai para quem escreveu. Todas as mensagens: npm run admin -- contatos.',
    replyTo: { name: row.name, address: row.email },
  }
}

/** The letters of this slice. */
export const contactMails: Readonly<Record<string, MailKind>> = { contato: writeContact }
