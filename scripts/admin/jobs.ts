import { type JobsOfKind, listJobs } from '@vigia/server/operations/jobs'
import { type Config, operate } from '@vigia/server/start'
import { moment, printable } from './screen.ts'

/** Prints jobs, their failures, and the times of their retries. */
export async function showJobs(config: Config): Promise<void> {
  console.log((await operate(config, listJobs)).map(describeJobs).join('\n'))
}

/** The jobs of a kind for a terminal. */
export function describeJobs({ trabalho, nome, esperam, executando, falhando, proximo, erro }: JobsOfKind): string {
  const facts = [
    `${esperam} na fila`,
    ...(executando > 0 ? [`${executando} em execução`] : []),
    ...(falhando > 0 ? [`${falhando} com falha`] : []),
    ...(proximo ? [`o próximo em ${moment(proximo)}`] : []),
  ]
  return printable(`${nome} (${trabalho}): ${facts.join(' · ')}${erro ? `\n  ${erro}` : ''}`)
}
