import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { holdByHand, listHeld } from '@vigia/server/operations/held'
import { type Config, operate, releaseHeld } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

const use =
  'Use: npm run admin -- restauracao, restauracao segurar, ou restauracao liberar [--sem-ciencia] [--sem-avisos].'
const optionsOf: Record<string, string[]> = { listar: [], segurar: [], liberar: ['--sem-ciencia', '--sem-avisos'] }

/** Prints what waits for a release, holds what leaves, or releases it. */
export async function manageHold(config: Config, [task = 'listar', ...options]: string[]): Promise<void> {
  const known = optionsOf[task]
  if (!known || options.some((option) => !known.includes(option))) throw new StartError(use)
  if (task === 'segurar') {
    await operate(config, holdByHand)
    return console.log(
      'Seguro: nenhuma manifestação sai, nem os webhooks e e-mails que já esperavam, até npm run admin -- restauracao liberar.',
    )
  }
  const held = await operate(config, listHeld)
  if (!held) return console.log('Nada espera: o envio não está retido.')
  if (task === 'listar') return console.log(describeHeld(held))
  await operate(config, (ctx) =>
    releaseHeld(ctx, {
      withoutAutomatic: options.includes('--sem-ciencia'),
      withoutNotices: options.includes('--sem-avisos'),
    }),
  )
  if (options.includes('--sem-avisos')) console.log(`${noticesOf(held)} que já esperavam não saem.`)
  console.log('Liberado: o que espera sai nos próximos segundos, se o programa estiver no ar.')
}

type Held = NonNullable<Awaited<ReturnType<typeof listHeld>>>

const noticesOf = ({ mails, deliveries }: Pick<Held, 'mails' | 'deliveries'>) =>
  `${formatCount(mails, 'e-mail', 'e-mails')} e ${formatCount(deliveries, 'entrega', 'entregas')} a webhooks`

/** Text for a terminal. */
export function describeHeld(held: Held): string {
  const { since, why, companies, rules } = held
  const lines = companies.map(({ name, cnpj, acknowledgesSince, automatic, requested }) => {
    const ciencia = acknowledgesSince
      ? `Ciência automática ligada em ${moment(acknowledgesSince)}`
      : 'Ciência automática desligada'
    return printable(
      `  ${formatCnpj(cnpj)}  ${name}\n    ${ciencia} · esperam ${automatic} automáticas e ${requested} pedidas por pessoas`,
    )
  })
  return [
    why,
    `Desde ${moment(since)} nenhuma manifestação sai até ser liberada. As opções abaixo são as de agora.`,
    '',
    ...(rules > 0
      ? [
          `  ${rules === 1 ? 'Está ligada 1 regra' : `Estão ligadas ${rules} regras`} de resposta que registram a Ciência sem uma pessoa.`,
        ]
      : []),
    ...(lines.length > 0 ? lines : ['  Nenhuma empresa tem Ciência automática nem manifestações à espera.']),
    '',
    `  Esperam também ${noticesOf(held)}, que podem ter saído depois da cópia, se o banco voltou de uma.`,
    '',
    'Para liberar tudo:                                 npm run admin -- restauracao liberar',
    'Para desligar antes a Ciência automática de todas: npm run admin -- restauracao liberar --sem-ciencia',
    'Para não enviar os e-mails e webhooks que esperam: npm run admin -- restauracao liberar --sem-avisos',
  ].join('\n')
}
