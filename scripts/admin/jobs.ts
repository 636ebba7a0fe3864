import { type JobsOfKind, listJobs } from '@vigia/server/operations/jobs'
import { type Config, operate } from '@vigia/server/start'
import { moment, printable } from './screen.ts'

/** Prints what the system has to do, what fails, and when it is tried again. */
export async function showJobs(config: Config): Promise<void> {
  console.log((await operate(config, listJobs)).map(describeJobs).join('\n'))
}

/** The jobs of a kind for a terminal. */
export function describeJobs({ kind, name, waiting, running, failing, next, error }: JobsOfKind): string {
  const facts = [
    `${waiting} na fila`,
    ...(running > 0 ? [`${running} em execução`] : []),
    ...(failing > 0 ? [`${failing} com falha`] : []),
    ...(next ? [`o próximo em ${moment(next)}`] : []),
  ]
  return printable(`${name} (${kind}): ${facts.join(' · ')}${error ? `\n  ${error}` : ''}`)
}
