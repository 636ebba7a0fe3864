import { formatCount } from '@vigia/contract/text'
import type { Restored } from '@vigia/server/operations/backup/backup'
import { backUp, beginCopies, type Config, listCopies, restore, tryRestore } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment } from './screen.ts'

const say = (text: string) => console.log(`  ${text}`)

const backupUsage =
  'Use: npm run admin -- backup, backup iniciar [--mesmo-disco], backup listar ou backup conferir [CÓPIA].'

/** Begins copies in a place, makes a copy of the database, lists those that there are, or restores one into a folder that is removed again. */
export async function manageBackup(config: Config, args: string[]): Promise<void> {
  const [task, option, ...more] = args
  if (more.length > 0) throw new StartError(backupUsage)
  const begins = task === 'iniciar' && (option === undefined || option === '--mesmo-disco')
  if (begins) await beginCopies(config, { sameDisk: option !== undefined }, say)
  if (begins || task === undefined) {
    const { copy, removed } = await backUp(config, say)
    console.log(`\nCópia feita: ${copy.name}, ${sizeOf(copy.bytes)}, do que havia até ${moment(copy.endedAt)}.`)
    if (removed.length > 0) console.log(`Cópias antigas apagadas: ${removed.join(', ')}.`)
    console.log(
      'Confira-a com: npm run admin -- backup conferir. A chave mestra dos certificados e BACKUP_KEY não estão nela: guarde as duas em outro lugar.',
    )
  } else if (task === 'listar' && option === undefined) console.log(describeCopies(await listCopies(config)))
  else if (task === 'conferir' && !option?.startsWith('-')) {
    const restored = await tryRestore(config, option, say)
    console.log(`\nA cópia pôde ser restaurada. ${describeRestored(restored)}`)
  } else throw new StartError(backupUsage)
}

const restoreUsage = 'Use: npm run admin -- restore [CÓPIA] [--fazer].'

/** Says what would be restored, or restores it. */
export async function restoreDatabase(config: Config, args: string[]): Promise<void> {
  const isDone = args.includes('--fazer')
  const [name, ...more] = args.filter((arg) => arg !== '--fazer')
  if (more.length > 0 || name?.startsWith('-')) throw new StartError(restoreUsage)
  if (!isDone) {
    console.log(describeCopies(await listCopies(config)))
    console.log(
      `\nNada foi alterado. Com --fazer, o banco de dados volta ao que era ${name ? `na cópia ${name}` : 'na cópia mais nova'}.`,
    )
    return
  }
  const restored = await restore(config, name, say)
  console.log(`\nO banco de dados foi restaurado. ${describeRestored(restored)}`)
  console.log(
    'Inicie o programa, que precisa da chave mestra que estava em uso (MASTER_KEY ou master.key em DATA_DIR): ele captura de novo o que falta, e nenhuma manifestação sai até npm run admin -- restauracao liberar. O que as pessoas fizeram aqui depois da cópia precisa ser feito de novo.',
  )
}

/** The copies, for a terminal. */
export function describeCopies({ copies, damaged, place }: Awaited<ReturnType<typeof listCopies>>): string {
  const shown = copies.map(
    ({ name, bytes, endedAt, contents }) =>
      `  ${name}  ${sizeOf(bytes)} · de ${moment(endedAt)} · ${companiesAndFiles(contents)}`,
  )
  for (const name of damaged)
    shown.push(`  ${name}  não abre: a chave não é a de BACKUP_KEY, ou o arquivo foi danificado`)
  return [copies.length > 0 ? `Cópias em ${place}:` : `Em ${place} não há uma cópia que abra.`, ...shown].join('\n')
}

const companiesAndFiles = ({ companies, receipts }: Pick<Restored['contents'], 'companies' | 'receipts'>) =>
  `${formatCount(companies, 'empresa', 'empresas')}, ${formatCount(receipts, 'arquivo recebido', 'arquivos recebidos')}`

function describeRestored({ copy, contents }: Restored): string {
  const { workspaces, documents, waitingEvents } = contents
  return `Da cópia ${copy.name}, de ${moment(copy.endedAt)}: ${formatCount(workspaces, 'conta', 'contas')}, ${companiesAndFiles(contents)}, ${formatCount(documents, 'documento', 'documentos')} e ${formatCount(waitingEvents, 'manifestação', 'manifestações')} por enviar.`
}

function sizeOf(bytes: number): string {
  const megabytes = bytes / 1_000_000
  return `${megabytes.toLocaleString('pt-BR', { maximumFractionDigits: megabytes < 10 ? 1 : 0 })} MB`
}
