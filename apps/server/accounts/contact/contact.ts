import type { RouteInput } from '@vigia/contract/route'
import { sendContact } from '@vigia/contract/site'
import { sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { asOperator } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { countTry, type Limit, networkOf } from '../../platform/http/throttle.ts'
import { type MailKind, queueMail } from '../../platform/mail/mail.ts'
import { isMailbox } from '../../platform/mail/message.ts'

const perAddress: Limit = { name: 'contact by address', times: 10, withinMs: 3_600_000 }

export const contactRoutes = [
  handle(sendContact, async (ctx, { body, caller }) => {
    await countTry(ctx, perAddress, networkOf(caller.address))
    await keepMessage(ctx, body)
    return {
      data: null,
      message: `Recebemos sua mensagem. Quando respondermos, será pelo e-mail ${body.email}.`,
    }
  }),
]

/** Keeps a message and, where the configuration names somebody to read it, mails it; a program that fills the hidden field is stored, but mailed to nobody. */
export async function keepMessage(
  ctx: WithConfig,
  { nome, email, celular, empresa, mensagem, confirmacao }: RouteInput<typeof sendContact>['body'],
): Promise<void> {
  const recipient = ctx.config.contactEmail
  const suspect = Boolean(confirmacao?.trim())
  await asOperator(ctx, async (ctx) => {
    const { rows } = await sql<{ id: bigint }>`
      insert into contact_message (name, email, phone, company, message, suspect)
      values (${nome}, ${email}, ${celular ?? null}, ${empresa || null}, ${mensagem}, ${suspect})
      returning id`.execute(ctx.db)
    const { id } = rows[0]!
    if (recipient && !suspect) await queueMail(ctx, { kind: 'contato', recipient, payload: { message: String(id) } })
  })
}

interface ContactRow {
  name: string
  email: string
  phone: string | null
  company: string | null
  message: string
}

export async function listContactMessages(ctx: WithDatabase) {
  return asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<ContactRow & { at: Date; suspect: boolean }>`
      select at, name, email, phone, company, message, suspect
        from contact_message order by at desc, id desc`.execute(db)
    return rows
  })
}

const writeContact: MailKind = async (ctx, { payload }) => {
  const { message: id } = payload as { message: string }
  const { rows } = await asOperator(ctx, ({ db }) =>
    sql<ContactRow & { at: string }>`
      select name, email, phone, company, message, to_char(at at time zone 'America/Sao_Paulo', 'DD/MM/YYYY HH24:MI') as at
        from contact_message where id = ${BigInt(id)}`.execute(db),
  )
  const row = rows[0]
  if (!row) return null
  const [name, email, company] = [row.name, row.email, row.company ?? ''].map(onOneLine) as [string, string, string]
  const from = [
    `Nome: ${name}`,
    `E-mail: ${email}`,
    ...(row.phone ? [`Celular: ${row.phone}`] : []),
    ...(company ? [`Empresa: ${company}`] : []),
    `Recebida em: ${row.at} (horário de Brasília)`,
  ]
  const canAnswer = isMailbox(row.email)
  return {
    subject: `Fale com a Gente: mensagem ${id}`,
    paragraphs: [
      'Uma pessoa escreveu pelo "Fale com a Gente", ou pediu um plano em "Minha conta".',
      from.join('\n'),
      'O que ela escreveu vem depois de ">", linha por linha:',
      quote(row.message),
    ],
    footnote: `${canAnswer ? 'Ao responder este e-mail, a resposta vai para quem escreveu. ' : ''}Todas as mensagens: npm run admin -- contatos.`,
    ...(canAnswer && { replyTo: { name, address: row.email } }),
  }
}

// Quotes each line of a visitor's message and removes bidi controls, so no text of it looks like ours.
function quote(message: string): string {
  return message
    .split(/\r\n?|[\n\v\f\x85\p{Zl}\p{Zp}]/u)
    .map((line) => `> ${onOneLine(line)}`.trimEnd())
    .join('\n')
}

function onOneLine(text: string): string {
  return text.replace(/[\u202A-\u202E\u2066-\u2069]/g, '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** The letters of this slice. */
export const contactMails: Readonly<Record<string, MailKind>> = { contato: writeContact }
