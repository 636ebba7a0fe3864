import { parseArgs } from 'node:util'
import { formatCount } from '@vigia/contract/text'
import {
  backUp,
  beginCopies,
  type Config,
  listCopies,
  type MasterKeyCheck,
  type Restored,
  restore,
  type Target,
  tryRestore,
} from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment } from './screen.ts'

const say = (text: string) => console.log(`  ${text}`)

const backupUsage =
  'Use: npm run admin -- backup, backup iniciar [--mesmo-disco], backup listar ou backup conferir [--ate "AAAA-MM-DD HH:MM"] [--linha N].'

/** Begins copies in a place, makes a copy of the database, lists those that there are, or restores one into a folder that is removed again. */
export async function manageBackup(config: Config, args: string[]): Promise<void> {
  const [task, ...rest] = args
  const [option, ...more] = rest
  const begins = task === 'iniciar' && (option === undefined || option === '--mesmo-disco') && more.length === 0
  if (begins) await beginCopies(config, { sameDisk: option !== undefined }, say)
  if (begins || (task === undefined && rest.length === 0)) {
    const { base, removed } = await backUp(config, say)
    console.log(`\nCópia feita: ${base.name}, ${sizeOf(base.bytes)}, do que havia até ${moment(base.endedAt)}.`)
    if (removed.length > 0) console.log(`Cópias antigas apagadas: ${removed.join(', ')}.`)
    console.log(
      'Confira-a com: npm run admin -- backup conferir. A chave mestra dos certificados e BACKUP_KEY não estão nela: guarde as duas em outro lugar.',
    )
  } else if (task === 'listar' && rest.length === 0) console.log(describeCopies(await listCopies(config)))
  else if (task === 'conferir') {
    const restored = await tryRestore(config, readTarget(rest, backupUsage), say)
    console.log(`\nA cópia pôde ser restaurada. ${describeRestored(restored)}`)
  } else throw new StartError(backupUsage)
}

const restoreUsage = 'Use: npm run admin -- restore [--ate "AAAA-MM-DD HH:MM[:SS]"] [--linha N] [--fazer].'

/** Says what would be restored, or restores it. */
export async function restoreDatabase(config: Config, args: string[]): Promise<void> {
  const { isDone, ...target } = readTarget(args, restoreUsage)
  const { until } = target
  if (!isDone) {
    console.log(describeCopies(await listCopies(config)))
    console.log(
      `\nNada foi alterado. Com --fazer, o banco de dados volta ao que era ${until ? `em ${moment(until)}` : 'no último momento que as cópias têm'}.`,
    )
    return
  }
  const restored = await restore(config, target, say)
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

/** The moment, the line and the consent that `args` give; throws a `StartError` for the person when they are wrong. */
export function readTarget(args: string[], usage: string): Target & { isDone: boolean } {
  let values: { ate?: string; linha?: string; fazer?: boolean }
  try {
    const options = { ate: { type: 'string' }, linha: { type: 'string' }, fazer: { type: 'boolean' } } as const
    values = parseArgs({ args, options }).values
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  const { ate, linha, fazer = false } = values
  if (linha !== undefined && !/^[1-9]\d{0,8}$/.test(linha))
    throw new StartError(`--linha é o número que backup listar mostra. Nada foi alterado. ${usage}`)
  const read = { isDone: fazer, ...(linha === undefined ? {} : { line: Number(linha) }) }
  if (ate === undefined) return read
  const found = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d:\d\d)?$/.exec(ate)
  const [, day, time, seconds = ':00', offset = '-03:00'] = found ?? []
  const until = new Date(`${day}T${time}${seconds}${offset}`)
  if (!found || Number.isNaN(until.getTime()))
    throw new StartError(
      `--ate deve ser um momento como "2026-11-27 14:05" (hora de Brasília) ou "2026-11-27 14:05:30+00:00". Nada foi alterado. ${usage}`,
    )
  if (until.getTime() > Date.now()) throw new StartError(`--ate está no futuro. Nada foi alterado. ${usage}`)
  return { until, ...read }
}

/** The copies, for a terminal. */
export function describeCopies({
  bases,
  damaged,
  lines,
  until,
  place,
}: Awaited<ReturnType<typeof listCopies>>): string {
  const shown = bases.map(
    ({ name, bytes, endedAt, timeline, contents }) =>
      `  ${name}  ${sizeOf(bytes)} · de ${moment(endedAt)} · linha ${timeline} · ${companiesAndFiles(contents)}`,
  )
  for (const name of damaged)
    shown.push(`  ${name}  não abre: a chave não é a de BACKUP_KEY, ou o arquivo foi danificado`)
  const [first] = bases
  if (!first) return [`Em ${place} não há uma cópia que abra.`, ...shown].join('\n')
  const last = bases.at(-1)!.endedAt
  const reached = until && until > last ? until : last
  return [
    `Cópias em ${place}:`,
    ...shown,
    ...(lines.length > 1
      ? [
          '',
          'Uma restauração segue a linha que contava no momento pedido; outra, só com --linha:',
          ...lines.map(({ timeline, since }) =>
            since.getTime() > 0 ? `  linha ${timeline}, desde ${moment(since)}` : `  linha ${timeline}, antes`,
          ),
        ]
      : []),
    '',
    `Pode-se voltar a momentos de ${moment(first.endedAt)} até cerca de ${moment(reached)} (hora de Brasília), se nenhum trecho do registro faltar.`,
  ].join('\n')
}

const companiesAndFiles = ({ companies, receipts }: Pick<Restored['contents'], 'companies' | 'receipts'>) =>
  `${formatCount(companies, 'empresa', 'empresas')}, ${formatCount(receipts, 'arquivo recebido', 'arquivos recebidos')}`

function describeRestored({ base, line, contents }: Restored): string {
  const { workspaces, documents, waitingEvents, markedAt } = contents
  return `Da cópia ${base.name}, pela linha ${line}, até cerca de ${moment(markedAt)}: ${formatCount(workspaces, 'conta', 'contas')}, ${companiesAndFiles(contents)}, ${formatCount(documents, 'documento', 'documentos')} e ${formatCount(waitingEvents, 'manifestação', 'manifestações')} por enviar.`
}

function sizeOf(bytes: number): string {
  const megabytes = bytes / 1_000_000
  return `${megabytes.toLocaleString('pt-BR', { maximumFractionDigits: megabytes < 10 ? 1 : 0 })} MB`
}
