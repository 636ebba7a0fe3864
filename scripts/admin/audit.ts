import { type AuditCheck, type Config, checkAudits, operate } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment } from './screen.ts'

/** Checks that no entry of the audit was changed, added or removed behind the program. */
export async function checkAuditChains(config: Config, args: string[]): Promise<void> {
  if (args.length !== 1 || !['verificar', 'verify'].includes(args[0]!))
    throw new StartError('Use: npm run admin -- auditoria verificar.')
  const broken: string[] = []
  await operate(config, async (ctx) => {
    for await (const check of checkAudits(ctx)) {
      console.log(describeCheck(check))
      if (check.broken.length > 0) broken.push(check.publicId)
    }
  })
  if (broken.length > 0)
    throw new StartError(
      `A auditoria de ${broken.length} ${broken.length === 1 ? 'espaço de trabalho não está' : 'espaços de trabalho não estão'} como foi escrita. O programa não altera nem apaga registros: alguém mexeu no banco por fora dele. Compare com uma cópia de segurança e veja quem tem a senha do banco.`,
    )
  console.log(
    '\nNenhum registro foi alterado, incluído ou tirado do meio. Guarde os resumos fora desta máquina: só comparando com eles se nota que os últimos registros foram cortados.',
  )
}

/** The result of one workspace, for a terminal. */
export function describeCheck({ publicId, entries, unchained, broken, digest }: AuditCheck): string {
  const lines = [
    `${publicId}  ${entries} ${entries === 1 ? 'registro' : 'registros'}${digest ? ` · último resumo ${digest}` : ''}`,
  ]
  if (unchained > 0)
    lines.push(`  ${unchained} de antes de os registros serem encadeados: sobre eles nada se pode afirmar`)
  for (const { id, at } of broken)
    lines.push(`  registro ${id}, de ${moment(at)}: foi alterado ou incluído por fora, ou falta um antes dele`)
  return lines.join('\n')
}
