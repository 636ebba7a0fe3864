import { parseArgs } from 'node:util'
import { messageKinds } from '@vigia/contract/workspace'
import { type Announcement, type Config, operate, tellWorkspace } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'

const usage =
  'Use: npm run admin -- notify --workspace ID --header TÍTULO --body TEXTO [--kind sucesso|error|alert] [--count N].'
const [headerMax, bodyMax, countMax] = [100, 500, 1000]

/** A message that somebody wants the people of a workspace to see. */
interface NotifyOrder {
  workspace: string
  announcement: Announcement
  count: number
}

/** Shows a message to everybody who has a page of a workspace open, and to the others when they are back. */
export async function notify(config: Config, args: string[]): Promise<void> {
  const { workspace, announcement, count } = readNotifyOrder(args)
  const found = await operate(config, (ctx) => tellWorkspace(ctx, workspace, announcement, count))
  if (!found)
    throw new StartError(
      `Não há espaço de trabalho com o id ${workspace}. Nada foi enviado. O id é o wsId que o login devolve.`,
    )
  console.log(
    `${count === 1 ? 'A mensagem foi gravada' : `${count} mensagens foram gravadas`}. Quem está com o sistema aberto vê agora; quem volta em uma sessão já iniciada, ao reconectar.`,
  )
}

/** The order that `args` give; throws a `StartError` with a message for the person when they are wrong. */
export function readNotifyOrder(args: string[]): NotifyOrder {
  const { workspace = '', header = '', body = '', kind = 'sucesso', count = '1' } = readOptions(args)
  if (!workspace) throw refusal('Falta --workspace, o wsId que o login devolve.')
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(workspace))
    throw refusal('--workspace deve ser um id como 0b9c2f1e-5a70-4c0e-9a53-6f0d8f6c1a2b, o wsId que o login devolve.')
  if (!header) throw refusal('Falta --header, o título da mensagem.')
  if (header.length > headerMax) throw refusal(`--header deve ter no máximo ${headerMax} caracteres.`)
  if (!body) throw refusal('Falta --body, o texto da mensagem.')
  if (body.length > bodyMax) throw refusal(`--body deve ter no máximo ${bodyMax} caracteres.`)
  const known = messageKinds.find((one) => one === kind)
  if (!known) throw refusal('--kind deve ser sucesso, error ou alert.')
  if (!/^\d{1,4}$/.test(count) || Number(count) < 1 || Number(count) > countMax)
    throw refusal(`--count deve ser um número de 1 a ${countMax}.`)
  return { workspace, announcement: { topic: 'aviso', kind: known, header, body }, count: Number(count) }
}

function refusal(problem: string): StartError {
  return new StartError(`${problem} Nada foi enviado. ${usage}`)
}

const names = ['workspace', 'header', 'body', 'kind', 'count'] as const

function readOptions(args: string[]): Partial<Record<(typeof names)[number], string>> {
  // parseArgs would take the last of two: which one was meant is not known.
  const text = { type: 'string', multiple: true } as const
  let values: Partial<Record<(typeof names)[number], string[]>>
  try {
    const options = { workspace: text, header: text, body: text, kind: text, count: text }
    values = parseArgs({ args, options }).values
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  for (const [name, given] of Object.entries(values))
    if (given.length > 1) throw refusal(`--${name} foi informado mais de uma vez.`)
  return Object.fromEntries(Object.entries(values).map(([name, [given = '']]) => [name, given.trim()]))
}
