import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { type Config, listHeld, operate, releaseHeld } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

const use = 'Use: npm run admin -- restauracao, ou npm run admin -- restauracao liberar [--sem-ciencia] [--sem-avisos].'

/** Prints what waits for the release of a restore, or releases it. */
export async function manageRestore(config: Config, args: string[]): Promise<void> {
  const [task, ...options] = args
  const known = task === 'liberar' ? ['--sem-ciencia', '--sem-avisos'] : []
  const isKnown = task === undefined || task === 'liberar'
  if (!isKnown || options.some((one, n) => !known.includes(one) || options.indexOf(one) !== n))
    throw new StartError(use)
  const held = await operate(config, listHeld)
  if (!held) {
    console.log('Nada espera: o banco de dados não voltou de uma cópia, ou isso já foi liberado.')
    return
  }
  if (task === 'liberar') {
    await operate(config, (ctx) =>
      releaseHeld(ctx, {
        withoutAutomatic: options.includes('--sem-ciencia'),
        withoutNotices: options.includes('--sem-avisos'),
      }),
    )
    if (options.includes('--sem-avisos'))
      console.log(
        `${formatCount(held.mails, 'e-mail', 'e-mails')} e ${formatCount(held.deliveries.fromCopy, 'entrega', 'entregas')} a webhooks que já esperavam na cópia não saem.`,
      )
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
  mails,
  deliveries,
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
    ...(mails + deliveries.waiting > 0
      ? [
          '',
          `  Esperam também ${formatCount(mails, 'e-mail', 'e-mails')} e ${formatCount(deliveries.waiting, 'entrega', 'entregas')} a webhooks; ${mails} e ${deliveries.fromCopy} já esperavam na cópia, e podem ter saído depois dela: com --sem-avisos, essas não saem.`,
        ]
      : []),
    '',
    'Para liberar tudo:                                npm run admin -- restauracao liberar',
    'Para desligar antes a Ciência automática de todas: npm run admin -- restauracao liberar --sem-ciencia',
    'Para não repetir o que já esperava na cópia:        npm run admin -- restauracao liberar --sem-avisos',
  ].join('\n')
}
