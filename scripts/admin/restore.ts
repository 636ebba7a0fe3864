import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { type Config, isTooSoon, listHeld, operate, releaseHeld } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { moment, printable } from './screen.ts'

const use =
  'Use: npm run admin -- restauracao, ou npm run admin -- restauracao liberar [--sem-ciencia] [--sem-avisos] [--fazer].'

/** Prints what waits for the release of a restore, or releases it. */
export async function manageRestore(config: Config, args: string[]): Promise<void> {
  const [task, ...options] = args
  const known = task === 'liberar' ? ['--sem-ciencia', '--sem-avisos', '--fazer'] : []
  const isKnown = task === undefined || task === 'liberar'
  if (!isKnown || options.some((one, n) => !known.includes(one) || options.indexOf(one) !== n))
    throw new StartError(use)
  const held = await operate(config, listHeld)
  if (!held) {
    console.log('Nada espera: o banco de dados não voltou de uma cópia, ou isso já foi liberado.')
    return
  }
  if (task === 'liberar') {
    if (!held.isFirst) console.log(describeReadBack(held).join('\n'))
    refuseTooSoon(held, options)
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

type Held = NonNullable<Awaited<ReturnType<typeof listHeld>>>

/** Throws while what leaves may repeat what was done after the copy, unless it is to leave nevertheless: who waits for the command learns it, too. */
export function refuseTooSoon(held: Pick<Held, 'companies' | 'readBack'>, options: readonly string[]): void {
  if (!isTooSoon(held) || options.includes('--fazer')) return
  const again = ['restauracao liberar', ...options, '--fazer'].join(' ')
  throw new StartError(
    `Nada foi liberado: o que espera pode repetir ou contradizer o que já foi feito depois da cópia. Espere e rode de novo, ou libere assim mesmo com: npm run admin -- ${again}`,
  )
}

const namedMax = 10

/** What is known of what happened after the copy, for a terminal. */
export function describeReadBack({
  companies,
  readBack: { events, read, unread, unasked },
}: Pick<Held, 'companies' | 'readBack'>): string[] {
  const names = new Map(companies.map(({ cnpj, name }) => [cnpj, name]))
  const list = (cnpjs: readonly string[]) => [
    ...cnpjs.slice(0, namedMax).map((cnpj) => printable(`    ${formatCnpj(cnpj)}  ${names.get(cnpj) ?? ''}`.trimEnd())),
    ...(cnpjs.length > namedMax ? [`    e mais ${cnpjs.length - namedMax}`] : []),
  ]
  const holding = unasked.filter((cnpj) => names.has(cnpj))
  return [
    events
      ? '  As manifestações registradas depois da cópia, das quais DATA_DIR deste computador tem anotação, foram lidas de volta.'
      : '  As manifestações registradas depois da cópia ainda não foram lidas de volta das anotações em DATA_DIR deste computador: o programa faz isso ao iniciar, e a cada minuto até conseguir.',
    `  ${read === 0 ? 'Nenhuma empresa foi consultada' : formatCount(read, 'empresa já foi consultada', 'empresas já foram consultadas')} na SEFAZ até o fim desde que o banco voltou.`,
    ...(unread.length > 0
      ? [
          `  ${formatCount(unread.length, 'empresa ainda não foi', 'empresas ainda não foram')}: o que a SEFAZ tem desde a cópia, como cancelamentos e respostas já dadas, pode não estar aqui.`,
          ...list(unread),
        ]
      : []),
    ...(unasked.length > 0
      ? [
          `  ${formatCount(unasked.length, 'empresa não é consultada', 'empresas não são consultadas')} agora (captura desligada, em pausa, parada ou sem certificado)${holding.length > 0 ? `, e de ${holding.length} delas esperam manifestações ou está ligada a Ciência automática:` : '.'}`,
          ...list(holding),
        ]
      : []),
  ]
}

/** What is held, for a terminal. */
export function describeHeld(held: Held): string {
  const { isFirst, foundAt, copyOf, companies, rules, mails, deliveries } = held
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
    ...(isFirst
      ? [
          `Esta instalação começou no ambiente de produção em ${moment(foundAt)}. Nenhuma manifestação sai até ser liberada.`,
        ]
      : [
          `O banco de dados voltou${when}; isso foi notado em ${moment(foundAt)}. Nenhuma manifestação sai até ser liberada.`,
          'As opções abaixo são as da cópia: quem as mudou depois precisa mudá-las de novo.',
        ]),
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
    ...(isFirst ? [] : ['', ...describeReadBack(held)]),
    '',
    'Para liberar tudo:                                npm run admin -- restauracao liberar',
    'Para desligar antes a Ciência automática de todas: npm run admin -- restauracao liberar --sem-ciencia',
    ...(isFirst
      ? []
      : ['Para não repetir o que já esperava na cópia:        npm run admin -- restauracao liberar --sem-avisos']),
  ].join('\n')
}
