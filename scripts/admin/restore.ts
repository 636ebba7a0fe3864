import { formatCnpj } from '@vigia/dfe/cnpj'
import { type Config, listHeld, operate, releaseHeld } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

const use = 'Use: npm run admin -- restauracao, ou npm run admin -- restauracao liberar [--sem-ciencia].'

/** Prints what waits for the release of a restore, or releases it. */
export async function manageRestore(config: Config, args: string[]): Promise<void> {
  const [task, option, ...rest] = args
  const isKnown = task === undefined || (task === 'liberar' && (option === undefined || option === '--sem-ciencia'))
  if (!isKnown || rest.length > 0) throw new StartError(use)
  const held = await operate(config, listHeld)
  if (!held) {
    console.log('Nada espera: o banco de dados não voltou de uma cópia, ou isso já foi liberado.')
    return
  }
  if (task === 'liberar') {
    await operate(config, (ctx) => releaseHeld(ctx, { withoutAutomatic: option === '--sem-ciencia' }))
    console.log('Liberado: o que espera sai nos próximos segundos, se o programa estiver no ar.')
    return
  }
  console.log(describeHeld(held))
}

/** What is held, for a terminal. */
export function describeHeld({
  foundAt,
  copyOf,
  companies,
  rules,
}: NonNullable<Awaited<ReturnType<typeof listHeld>>>): string {
  const when = copyOf ? ` para o que era em ${moment(copyOf)}` : ''
  const lines = companies.map(({ name, cnpj, acknowledgesSince, automatic, requested }) => {
    const ciencia = acknowledgesSince
      ? `Ciência automática ligada em ${moment(acknowledgesSince)}`
      : 'Ciência automática desligada'
    return printable(
      `  ${formatCnpj(cnpj)}  ${name}\n    ${ciencia} · esperam ${automatic} automáticas e ${requested} pedidas por pessoas`,
    )
  })
  return [
    `O banco de dados voltou${when}; isso foi notado em ${moment(foundAt)}. Nenhuma manifestação sai até ser liberada.`,
    'As opções abaixo são as da cópia: quem as mudou depois precisa mudá-las de novo.',
    '',
    ...(rules > 0
      ? [
          `  ${rules === 1 ? 'Está ligada 1 regra' : `Estão ligadas ${rules} regras`} de resposta que registram a Ciência sem uma pessoa.`,
        ]
      : []),
    ...(lines.length > 0 ? lines : ['  Nenhuma empresa tem Ciência automática nem manifestações à espera.']),
    '',
    'Para liberar tudo:                                npm run admin -- restauracao liberar',
    'Para desligar antes a Ciência automática de todas: npm run admin -- restauracao liberar --sem-ciencia',
  ].join('\n')
}
