import { parseArgs } from 'node:util'
import {
  backUp,
  type Config,
  listCopies,
  type MasterKeyCheck,
  type Restored,
  restore,
  tryRestore,
} from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment } from './screen.ts'

const say = (text: string) => console.log(`  ${text}`)

const backupUsage = 'Use: npm run admin -- backup, backup listar ou backup conferir [--ate "AAAA-MM-DD HH:MM"].'

/** Makes a copy of the database, lists those that there are, or restores one into a folder that is removed again. */
export async function manageBackup(config: Config, args: string[]): Promise<void> {
  const [task, ...rest] = args
  if (task === undefined) {
    const { base, removed } = await backUp(config, say)
    console.log(`\nCópia feita: ${base.name}, ${sizeOf(base.bytes)}, do que havia até ${moment(base.endedAt)}.`)
    if (removed.length > 0) console.log(`Cópias antigas apagadas: ${removed.join(', ')}.`)
    console.log(
      'Confira-a com: npm run admin -- backup conferir. A chave mestra dos certificados e BACKUP_KEY não estão nela: guarde as duas em outro lugar.',
    )
  } else if (task === 'listar' && rest.length === 0) console.log(describeCopies(await listCopies(config)))
  else if (task === 'conferir') {
    const restored = await tryRestore(config, readMoment(rest, backupUsage).until, say)
    console.log(`\nA cópia pôde ser restaurada. ${describeRestored(restored)}`)
  } else throw new StartError(backupUsage)
}

const restoreUsage = 'Use: npm run admin -- restore [--ate "AAAA-MM-DD HH:MM[:SS]"] [--fazer].'

/** Says what would be restored, or restores it. */
export async function restoreDatabase(config: Config, args: string[]): Promise<void> {
  const { until, isDone } = readMoment(args, restoreUsage)
  if (!isDone) {
    console.log(describeCopies(await listCopies(config)))
    console.log(
      `\nNada foi alterado. Com --fazer, o banco de dados volta ao que era ${until ? `em ${moment(until)}` : 'no último momento que as cópias têm'}.`,
    )
    return
  }
  const restored = await restore(config, until, say)
  console.log(`\nO banco de dados foi restaurado. ${describeRestored(restored)}\n${keySentences[restored.masterKey]}`)
  console.log(
    'Inicie o programa: ele captura de novo o que falta, e nenhuma manifestação sai até npm run admin -- restauracao liberar.',
  )
}

const keySentences: Record<MasterKeyCheck, string> = {
  right: 'A chave mestra confere: os certificados abrem.',
  missing:
    'Falta a chave mestra (MASTER_KEY, MASTER_KEY_COMMAND ou master.key em DATA_DIR): sem a que estava em uso, o programa não inicia.',
  other: 'A chave mestra não é a que estava em uso: com esta, o programa não inicia. Ponha a de antes no lugar dela.',
  elsewhere: 'A chave mestra está com o assinador (SIGNER_SOCKET): se não for a de antes, ele não inicia.',
  'not-needed': 'O banco de dados ainda não usava uma chave mestra.',
}

/** The moment and the consent that `args` give; throws a `StartError` for the person when they are wrong. */
export function readMoment(args: string[], usage: string): { until?: Date; isDone: boolean } {
  let values: { ate?: string; fazer?: boolean }
  try {
    values = parseArgs({ args, options: { ate: { type: 'string' }, fazer: { type: 'boolean' } } }).values
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  const { ate, fazer = false } = values
  if (ate === undefined) return { isDone: fazer }
  const found = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d:\d\d)?$/.exec(ate)
  const [, day, time, seconds = ':00', offset = '-03:00'] = found ?? []
  const until = new Date(`${day}T${time}${seconds}${offset}`)
  if (!found || Number.isNaN(until.getTime()))
    throw new StartError(
      `--ate deve ser um momento como "2026-11-27 14:05" (hora de Brasília) ou "2026-11-27 14:05:30+00:00". Nada foi alterado. ${usage}`,
    )
  if (until.getTime() > Date.now()) throw new StartError(`--ate está no futuro. Nada foi alterado. ${usage}`)
  return { until, isDone: fazer }
}

/** The copies, for a terminal. */
export function describeCopies({ bases, damaged, until, place }: Awaited<ReturnType<typeof listCopies>>): string {
  const lines = bases.map(
    ({ name, bytes, endedAt, contents }) =>
      `  ${name}  ${sizeOf(bytes)} · de ${moment(endedAt)} · ${contents.companies} empresas, ${contents.receipts} arquivos recebidos`,
  )
  for (const name of damaged)
    lines.push(`  ${name}  não abre: a chave não é a de BACKUP_KEY, ou o arquivo foi danificado`)
  const [first] = bases
  if (!first) return [`Em ${place} não há uma cópia que abra.`, ...lines].join('\n')
  const last = bases.at(-1)!.endedAt
  const reached = until && until > last ? until : last
  return [
    `Cópias em ${place}:`,
    ...lines,
    '',
    `Pode-se voltar a momentos de ${moment(first.endedAt)} até cerca de ${moment(reached)} (hora de Brasília), se nenhum trecho do registro faltar.`,
  ].join('\n')
}

function describeRestored({ base, contents }: Restored): string {
  const { workspaces, companies, receipts, documents, waitingEvents, markedAt } = contents
  return `Da cópia ${base.name}, até cerca de ${moment(markedAt)}: ${workspaces} contas, ${companies} empresas, ${receipts} arquivos recebidos, ${documents} documentos e ${waitingEvents} manifestações por enviar.`
}

function sizeOf(bytes: number): string {
  const megabytes = bytes / 1_000_000
  return `${megabytes.toLocaleString('pt-BR', { maximumFractionDigits: megabytes < 10 ? 1 : 0 })} MB`
}
