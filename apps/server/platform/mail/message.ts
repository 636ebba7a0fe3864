import MailComposer from 'nodemailer/lib/mail-composer'
import type { Config } from '../../config.ts'
import type { Letter, LetterLine } from './mail.ts'

export interface Stamp {
  recipient: string
  /** The same for every attempt, so that a mail program recognizes a second copy. */
  messageId: string
}

type Sender = Pick<Config, 'mail' | 'productName' | 'publicUrl'>

/** `letter` as the bytes that leave: text and HTML, headers in ASCII. */
export async function writeMessage(config: Sender, letter: Letter, { recipient, messageId }: Stamp): Promise<Buffer> {
  const { from } = config.mail
  const { replyTo, stopUrl } = letter
  const message = new MailComposer({
    from: { name: headerText(config.productName), address: from },
    to: { name: '', address: recipient },
    ...(replyTo && isMailbox(replyTo.address) && { replyTo: { ...replyTo, name: headerText(replyTo.name) } }),
    subject: headerText(letter.subject),
    messageId: `<${messageId}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    date: new Date(),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'Content-Language': 'pt-BR',
      ...(stopUrl && { 'List-Unsubscribe': `<${stopUrl}>` }),
      // One click is for addresses of HTTPS only.
      ...(stopUrl?.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    text: asText(config, letter),
    html: asHtml(config, letter),
    newline: 'windows',
  })
  return message.compile().build()
}

/** Whether `address` is one mailbox to every server, whatever it makes of quotes, lists, routes and comments. */
export function isMailbox(address: string): boolean {
  return /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u.test(address)
}

// A line that begins in a value would be a header of its own.
function headerText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 500)
    .toWellFormed()
}

function bodyText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\p{Zl}\p{Zp}]/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
}

function asText(
  { productName, publicUrl }: Sender,
  { paragraphs, lines = [], button, footnote, stopUrl }: Letter,
): string {
  const list = lines.map(({ title, detail, url }) =>
    [`• ${bodyText(title)}`, ...(detail ? [bodyText(detail)] : []), url].join('\n  '),
  )
  const parts = [...paragraphs.map(bodyText), ...list, ...(button ? [`${button.label}:\n${button.url}`] : [])]
  const small = [
    ...(footnote ? [bodyText(footnote)] : []),
    ...(stopUrl ? [`${stopLabel}:\n${stopUrl}`] : []),
    `${productName} · ${publicUrl}`,
  ]
  return `${[...parts, '-- ', ...small].join('\n\n')}\n`
}

const stopLabel = 'Deixar de receber e-mails como este'

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
// Fainter than the rest in whatever colours the reader's program has.
const small = `${font};font-size:13px;line-height:1.5;opacity:0.75`

// No background of its own, and the colours that the reader's program has: it can be read in the light and in the dark.
function asHtml(
  { productName, publicUrl }: Sender,
  { subject, paragraphs, lines = [], button, footnote, stopUrl }: Letter,
): string {
  const paragraph = (text: string) =>
    `<p style="${font};font-size:16px;line-height:1.55;margin:0 0 16px">${escapeHtml(bodyText(text)).replaceAll('\n', '<br>')}</p>`
  const line = ({ title, detail, url }: LetterLine) =>
    `<li style="${font};font-size:16px;line-height:1.55;margin:0 0 12px"><a href="${escapeHtml(url)}" style="color:inherit;font-weight:600">${escapeHtml(bodyText(title))}</a>${detail ? `<br>${escapeHtml(bodyText(detail)).replaceAll('\n', '<br>')}` : ''}</li>`
  const url = button && escapeHtml(button.url)
  const action = button
    ? `<p style="margin:24px 0"><a href="${url}" style="${font};font-size:16px;font-weight:600;display:inline-block;padding:12px 22px;border-radius:8px;background-color:#0b5673;color:#ffffff;text-decoration:none">${escapeHtml(button.label)}</a></p>
<p style="${small};margin:0 0 16px;word-break:break-all">Se o botão não abrir, copie este endereço:<br><a href="${url}" style="color:inherit">${url}</a></p>`
    : ''
  const page = [
    '<!doctype html>',
    '<html lang="pt-BR">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(headerText(subject))}</title></head>`,
    '<body style="margin:0;padding:24px 16px">',
    '<div style="max-width:560px;margin:0 auto">',
    `<p style="${font};font-size:18px;font-weight:700;margin:0 0 24px">${escapeHtml(productName)}</p>`,
    ...paragraphs.map(paragraph),
    lines.length > 0 ? `<ul style="margin:0 0 16px;padding:0 0 0 20px">${lines.map(line).join('\n')}</ul>` : '',
    action,
    '<hr style="border:0;border-top:1px solid #808080;margin:24px 0 16px">',
    footnote ? `<p style="${small};margin:0 0 8px">${escapeHtml(bodyText(footnote)).replaceAll('\n', '<br>')}</p>` : '',
    stopUrl
      ? `<p style="${small};margin:0 0 8px"><a href="${escapeHtml(stopUrl)}" style="color:inherit">${stopLabel}</a></p>`
      : '',
    `<p style="${small};margin:0">${escapeHtml(productName)} · <a href="${escapeHtml(publicUrl)}" style="color:inherit">${escapeHtml(publicUrl)}</a></p>`,
    '</div>',
    '</body>',
    '</html>',
  ]
  return `${page.filter(Boolean).join('\n')}\n`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
