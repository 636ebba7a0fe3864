import path from 'node:path'
import { listUnsentMails, retryFailedMails } from '@vigia/server/platform/mail/queue'
import { type Config, operate } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

type Mail = Awaited<ReturnType<typeof listUnsentMails>>[number]

/** Prints the e-mails that were not sent, or queues those that failed again. */
export async function showMails(config: Config, args: string[]): Promise<void> {
  if (args.length > 1 || (args[0] !== undefined && args[0] !== 'tentar'))
    throw new StartError('Use: npm run admin -- emails, ou npm run admin -- emails tentar.')
  if (args[0] === 'tentar') {
    const count = await operate(config, retryFailedMails)
    console.log(describeRetry(count))
    return
  }
  const mails = await operate(config, listUnsentMails)
  const { smtpUrl } = config.mail
  console.log(
    smtpUrl
      ? `Os e-mails saem por ${new URL(smtpUrl).host}.`
      : `Sem SMTP_URL, cada e-mail vira um arquivo em ${path.join(config.dataDir, 'outbox')}.`,
  )
  console.log(describeMails(mails))
}

function describeRetry(count: number): string {
  if (count === 0) return 'Nenhum e-mail falhou: não há o que tentar de novo.'
  const what = count === 1 ? '1 e-mail volta' : `${count} e-mails voltam`
  return `${what} para a fila e ${count === 1 ? 'sai' : 'saem'} assim que o programa estiver no ar.`
}

/** `mails` for a terminal. */
export function describeMails(mails: readonly Mail[]): string {
  if (mails.length === 0) return '\nTudo o que devia sair saiu.'
  const failed = mails.filter(({ state }) => state === 'failed').length
  const hint = failed > 0 ? ['\nPara tentar de novo os que falharam: npm run admin -- emails tentar'] : []
  return [...mails.map(describeMail), ...hint].join('\n')
}

const words = { waiting: 'espera', failed: 'falhou', dropped: 'ficou tarde', sent: 'saiu' } as const

function describeMail({ id, kind, recipient, state, failures, problem, createdAt, nextAt }: Mail): string {
  const facts = [
    `pedido em ${moment(createdAt)}`,
    ...(failures > 0 ? [`${failures} ${failures === 1 ? 'tentativa falhou' : 'tentativas falharam'}`] : []),
    ...(nextAt ? [`sai a partir de ${moment(nextAt)}`] : []),
  ]
  const lines = [`${words[state]}  ${kind} para ${recipient} (${id})`, `  ${facts.join(' · ')}`]
  if (problem) lines.push(`  ${problem}`)
  return `\n${printable(lines.join('\n'))}`
}
