import { parseArgs } from 'node:util'
import { listStopped, wakeStopped } from '@vigia/server/capture/wake'
import { type Config, operate } from '@vigia/server/start'
import { StartError } from '../lifetime.ts'
import { printable } from './screen.ts'

type StopReason = Awaited<ReturnType<typeof listStopped>>[number]

const usage = 'Use: npm run admin -- wake, wake --cstat CÓDIGO ou wake --cstat CÓDIGO --fazer.'

/** Shows which captures have stopped and why, what waking those of one reason would do, or wakes them. */
export async function wake(config: Config, args: string[]): Promise<void> {
  const { cStat, isDone } = readWakeOrder(args)
  await operate(config, async (ctx) => {
    const reasons = await listStopped(ctx)
    if (cStat === null) return console.log(describeStopped(reasons))
    const reason = reasons.find((one) => one.cStat === cStat)
    if (!reason)
      throw new StartError(
        `Nenhuma captura está parada com o código ${cStat}. Nada foi alterado.\n${describeStopped(reasons)}`,
      )
    console.log(isDone ? describeWoken(await wakeStopped(ctx, cStat)) : describePlan(reason))
  })
}

/** The order that `args` give; throws a `StartError` with a message for the person when they are wrong. */
export function readWakeOrder(args: string[]): { cStat: number | null; isDone: boolean } {
  let values: { cstat?: string[]; fazer?: boolean }
  try {
    values = parseArgs({
      args,
      options: { cstat: { type: 'string', multiple: true }, fazer: { type: 'boolean' } },
    }).values
  } catch (cause) {
    throw new StartError(usage, { cause })
  }
  const { cstat = [], fazer = false } = values
  const [text] = cstat
  if (cstat.length > 1) throw new StartError(`--cstat foi informado mais de uma vez. Nada foi alterado. ${usage}`)
  if (text === undefined && fazer) throw new StartError(`Falta --cstat. Nada foi alterado. ${usage}`)
  if (text !== undefined && !/^\d{1,4}$/.test(text))
    throw new StartError(`--cstat deve ser o código da SEFAZ, como 999. Nada foi alterado. ${usage}`)
  return { cStat: text === undefined ? null : Number(text), isDone: fazer }
}

/** `reasons` for a terminal. */
export function describeStopped(reasons: readonly StopReason[]): string {
  if (reasons.length === 0) return 'Nenhuma captura está parada.'
  const lines = reasons.map(({ cStat, xMotivo, lines }) =>
    cStat === null
      ? `${counted(lines)} sem certificado que a SEFAZ aceite: só um certificado novo ajuda`
      : `${counted(lines)} com ${cStat}: ${xMotivo.replaceAll('\n', ' ')}`,
  )
  const hint = reasons.some(({ cStat }) => cStat !== null)
    ? ['', 'Corrigida a causa, veja o que seria feito com: npm run admin -- wake --cstat CÓDIGO']
    : []
  return printable([...lines, ...hint].join('\n'))
}

function describePlan({ cStat, lines }: StopReason): string {
  const one = lines === 1
  return `${counted(lines)} com ${cStat} ${one ? 'voltaria' : 'voltariam'} a consultar, ${one ? 'dentro de' : 'uma a uma, espalhadas por'} uma hora e nenhuma antes de a SEFAZ permitir. Se a causa não foi corrigida, ${one ? 'ela para' : 'elas param'} de novo com a mesma resposta.\nNada foi alterado. Para fazer: npm run admin -- wake --cstat ${cStat} --fazer`
}

function describeWoken(lines: number): string {
  const one = lines === 1
  return `${formatted(lines)} ${one ? 'captura volta' : 'capturas voltam'} a consultar, ${one ? 'dentro de' : 'espalhadas por'} uma hora.`
}

const formatted = (n: number) => n.toLocaleString('pt-BR')
const counted = (n: number) => `${formatted(n)} ${n === 1 ? 'captura parada' : 'capturas paradas'}`
