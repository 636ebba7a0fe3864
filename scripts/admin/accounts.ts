import { parseArgs } from 'node:util'
import { dropSecondFactorOf } from '@vigia/server/accounts/accounts'
import { confirmEmailOf } from '@vigia/server/accounts/confirmation'
import { findPlan } from '@vigia/server/insights/plans/usage'
import { deleteWorkspaceOf, eraseDue, keepWorkspaceOf } from '@vigia/server/operations/deletion/deletion'
import { type Config, createAccount, operate } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

const usage =
  'Use: npm run admin -- conta criar --email E --nome N, conta excluir --email E [--agora] [--fazer], conta manter --email E, conta confirmar --email E, ou conta duas-etapas --email E (desliga).'

interface AccountOrder {
  task: 'create' | 'delete' | 'keep' | 'confirm' | 'second-factor'
  email: string
  name: string
  now: boolean
  isDone: boolean
}

/** Makes an account, deletes one with its workspace, shows what that would do, takes a request for it back, confirms its e-mail, or switches its second factor off. */
export async function manageAccounts(config: Config, args: string[]): Promise<void> {
  const order = readAccountOrder(args)
  const { email, now } = order
  const unknown = new StartError(
    `Não há conta com o e-mail ${email}. Nada foi alterado. Veja as contas com npm run admin -- plano listar.`,
  )
  await operate(config, async (ctx) => {
    if (order.task === 'create') {
      const password = await createAccount(ctx, { name: order.name, email })
      if (password === null) throw new StartError(`Já há uma conta com o e-mail ${email}. Nada foi alterado.`)
      return console.log(
        `A conta foi criada. Entre em ${config.publicUrl}/login com ${email} e a senha ${password}, e troque-a em “Minha conta”.`,
      )
    }
    if (order.task === 'keep') {
      const kept = await keepWorkspaceOf(ctx, email)
      if (kept === null) throw unknown
      return console.log(
        kept
          ? 'A conta continua. As chaves dos certificados já foram apagadas: é preciso enviá-los de novo.'
          : 'Ninguém pediu a exclusão desta conta. Nada foi alterado.',
      )
    }
    if (order.task === 'confirm') {
      if (!(await confirmEmailOf(ctx, email))) throw unknown
      return console.log('O e-mail está confirmado: a conta guarda certificados e recebe os avisos.')
    }
    if (order.task === 'second-factor') {
      const wasOn = await dropSecondFactorOf(ctx, email)
      if (wasOn === null) throw unknown
      return console.log(
        wasOn
          ? 'A verificação em duas etapas foi desligada: a conta entra só com a senha, e foi avisada por e-mail.'
          : 'A verificação em duas etapas já estava desligada. Nada foi alterado.',
      )
    }
    const listed = await findPlan(ctx, email)
    if (!listed) throw unknown
    if (!order.isDone) return console.log(describePlan(listed, now))
    const at = await deleteWorkspaceOf(ctx, email, { now })
    if (!at) throw unknown
    if (!now) return console.log(`As chaves foram apagadas. O resto é apagado em ${moment(at)}, com o programa no ar.`)
    const left = await eraseDue(ctx)
    console.log(
      left === 0
        ? 'A conta foi excluída, com tudo o que guardava.'
        : 'As chaves e o cadastro foram apagados. O resto espera uma consulta em andamento ou a pausa da SEFAZ, e é apagado sozinho, com o programa no ar.',
    )
  })
}

/** The order that `args` give; throws a `StartError` with a message for the person when they are wrong. */
export function readAccountOrder(args: string[]): AccountOrder {
  let values: { email?: string[]; nome?: string; agora?: boolean; fazer?: boolean }
  let words: string[]
  try {
    const options = {
      email: { type: 'string', multiple: true },
      nome: { type: 'string' },
      agora: { type: 'boolean' },
      fazer: { type: 'boolean' },
    } as const
    const parsed = parseArgs({ args, allowPositionals: true, options })
    values = parsed.values
    words = parsed.positionals
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  const { email = [], nome = '', agora = false, fazer = false } = values
  const tasks = new Map<string | undefined, AccountOrder['task']>([
    ['criar', 'create'],
    ['excluir', 'delete'],
    ['manter', 'keep'],
    ['confirmar', 'confirm'],
    ['duas-etapas', 'second-factor'],
  ])
  const task = tasks.get(words[0])
  if (words.length !== 1 || !task || (task !== 'delete' && (agora || fazer))) throw new StartError(usage)
  if (email.length > 1) throw new StartError(`--email foi informado mais de uma vez. Nada foi alterado. ${usage}`)
  if (!email[0]?.trim()) throw new StartError(`Falta --email. Nada foi alterado. ${usage}`)
  const name = nome.trim()
  if (task === 'create' && (name.length < 3 || name.length > 100))
    throw new StartError(`--nome deve ter de 3 a 100 caracteres. Nada foi alterado. ${usage}`)
  return { task, email: email[0].trim(), name, now: agora, isDone: fazer }
}

type Listed = NonNullable<Awaited<ReturnType<typeof findPlan>>>

/** Describes a planned deletion for a terminal. */
export function describePlan(
  { name, emails, companies }: Pick<Listed, 'name' | 'emails' | 'companies'>,
  now: boolean,
): string {
  const keys = 'as chaves privadas dos certificados são apagadas na hora'
  const rest = now ? 'tudo o resto também, sem volta' : 'tudo o resto em trinta dias; até lá dá para desfazer'
  return [
    printable(
      `${emails.join(', ')}  (${name.replaceAll('\n', ' ')}), ${companies} ${companies === 1 ? 'empresa' : 'empresas'}`,
    ),
    `Seria apagado: ${keys}, e ${rest}: cadastro, empresas, documentos, eventos e auditoria.`,
    'A lei manda a empresa guardar os documentos fiscais por pelo menos cinco anos: ela os exportou?',
    `Nada foi alterado. Para fazer: repita com --fazer.`,
  ].join('\n')
}
