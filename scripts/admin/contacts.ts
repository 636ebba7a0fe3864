import { listContactMessages } from '@vigia/server/accounts/contact/contact'
import { type Config, operate } from '@vigia/server/start'
import { moment, printable } from './screen.ts'

type Message = Awaited<ReturnType<typeof listContactMessages>>[number]

/** Prints what visitors wrote in "Fale com a Gente". */
export async function showContacts(config: Config): Promise<void> {
  const messages = await operate(config, listContactMessages)
  const to = config.contactEmail
  console.log(to ? `Cada mensagem é enviada também para ${to}.` : 'Sem CONTACT_EMAIL, as mensagens só ficam aqui.')
  console.log(describeMessages(messages))
}

/** `messages` for a terminal. */
export function describeMessages(messages: readonly Message[]): string {
  if (messages.length === 0) return '\nNenhuma mensagem ainda.'
  return messages.map(describeMessage).join('\n')
}

function describeMessage({ at, name, email, phone, company, message, suspect }: Message): string {
  const about = [email, ...(phone ? [`celular ${phone}`] : []), ...(company ? [company] : [])]
  const lines = [
    `${moment(at)}  ${name.replaceAll('\n', ' ')}${suspect ? '  [suspeita: veio de um programa; não foi enviada por e-mail]' : ''}`,
    `  ${about.join(' · ').replaceAll('\n', ' ')}`,
    ...message.split(/\r?\n/).map((line) => `  | ${line}`),
  ]
  return `\n${printable(lines.join('\n'))}`
}
