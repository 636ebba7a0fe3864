import { localDateTime } from '../clock.ts'
import { createRandom, type Random } from '../generate/random.ts'
import { type Caso, casos, type Linha, surpresa } from './cases.ts'
import { type Dia, type Entrega, entregas } from './office.ts'
import type { Play, SaleOrder } from './play.ts'
import { supplierOf } from './taxpayers.ts'

// Makes the days of the story of its data. Everything follows from the first start and the day, so that each start makes the same.

/** A document or an event of the story, made when its time has come. */
export interface Step {
  at: number
  make(): Promise<Uint8Array>
}

const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000

/** How long before the first start the trade begins: the authority keeps 90 days. */
const storyDays = 89
// Few answers fall due in the week of the first start, because notes of 83 to 90 days ago are few.
const quietDays = 7
// The term of the Ciência: what is older was answered in the system that was used before.
const answerDays = 10
/** How long after a delivery something may still happen to it. */
const consequencesMs = 5 * dayMs

const weekdays: readonly (Dia | 'dom')[] = ['dom', 'seg', 'ter', 'qua', 'qui', 'sex', 'sáb']
// Hours in which each delivery of a supplier falls, by the place of the client: no two of its notes are of one minute.
const firstHour = 8
const clientMs = 2 * hourMs

/** Everything that happens after an instant and until another. */
export function stepsBetween(play: Play, began: number, after: number, until: number): Step[] {
  const first = dayOf(began) - storyDays * dayMs
  const steps: Step[] = []
  for (let day = Math.max(first, dayOf(after - consequencesMs)); day <= until; day += dayMs)
    for (const delivery of entregas)
      if (comes(delivery, day, (day - first) / dayMs)) steps.push(...deliverySteps(play, delivery, day, began))
  for (const one of casos) steps.push(...caseSteps(play, one, began))
  return steps.filter(({ at }) => at > after && at <= until).sort((a, b) => a.at - b.at)
}

/** The note of a start that is cancelled while somebody looks, and its cancellation at another instant. */
export function surpriseAt(play: Play, start: number) {
  const at = start - surpresa.horasAntes * hourMs
  const order: SaleOrder = { at, de: surpresa.de, para: surpresa.para, linhas: surpresa.linhas, frete: 'CIF' }
  const key = `surpresa ${at}`
  return {
    note: () => play.note(key, order),
    answer: () => play.answer(key, order, at + hourMs),
    cancel: (cancelledAt: number) => play.cancel(key, order, cancelledAt),
  }
}

/** Midnight of an instant in Brasília. */
function dayOf(at: number): number {
  return Date.parse(`${localDateTime(at).slice(0, 10)}T00:00:00-03:00`)
}

function weekdayOf(day: number): number {
  return new Date(`${localDateTime(day).slice(0, 10)}T12:00:00Z`).getUTCDay()
}

function comes({ dias, quinzenal }: Entrega, day: number, since: number): boolean {
  const weekday = weekdayOf(day)
  if (since < quietDays) return weekday === 2 && dias.includes('ter')
  const week = Math.floor((day / dayMs + 4) / 7)
  return dias.some((dia) => dia === weekdays[weekday]) && (!quinzenal || week % 2 === 0)
}

function deliverySteps(play: Play, delivery: Entrega, day: number, began: number): Step[] {
  const { de, para, frete, transportadora } = delivery
  const key = `${de} ${para} ${localDateTime(day).slice(0, 10)}`
  const random = createRandom(key)
  const place = entregas.filter((one) => one.de === de).indexOf(delivery)
  const at = day + firstHour * hourMs + place * clientMs + random.integer(0, 110) * minuteMs
  const order: SaleOrder = {
    at,
    de,
    para,
    linhas: chosenLines(random, delivery),
    frete,
    transportadora,
    nivel: level(day),
  }
  const steps: Step[] = [{ at, make: async () => (await play.note(key, order)).bytes }]
  const add = (hours: [number, number], make: (at: number) => Promise<Uint8Array>) => {
    const later = at + random.integer(hours[0] * 60, hours[1] * 60) * minuteMs
    steps.push({ at: later, make: () => make(later) })
    return later
  }
  if (transportadora !== undefined) {
    const vezes = 0.94 + random.next() * 0.12
    const leaves = add(
      [2, 6],
      async (later) => (await play.freight(key, order, { at: later, key, por: transportadora, vezes })).bytes,
    )
    const passed = random.chance(0.6) ? ([610600, 610614] as const) : ([610600] as const)
    for (const tpEvento of passed) {
      const seen = leaves + random.integer(3, 90) * minuteMs
      steps.push({ at: seen, make: async () => play.trail(key, order, tpEvento, seen) })
    }
  }
  if (random.chance(0.04))
    add([3, 30], (later) =>
      play.letter(key, order, later, `Onde se lê peso bruto, considerar ${random.integer(90, 900)} kg.`),
    )
  if (day < began - answerDays * dayMs || random.chance(0.8)) add([3, 40], (later) => play.answer(key, order, later))
  return steps
}

function chosenLines(random: Random, { de, itens }: Entrega): Linha[] {
  const left = [...supplierOf(de).produtos]
  return Array.from({ length: random.integer(...itens) }, (): Linha => {
    const [product] = left.splice(random.integer(0, left.length - 1), 1)
    if (product === undefined) throw new RangeError(`${de} sells fewer products than a note of it has`)
    return [product.nome, random.integer(...product.quantidade)]
  })
}

// Prices rise a little from month to month.
function level(day: number): number {
  const months = (Number(localDateTime(day).slice(0, 4)) - 2026) * 12 + Number(localDateTime(day).slice(5, 7))
  return 1 + 0.004 * months
}

function caseSteps(play: Play, { conta, atos, ocultas = [] }: Caso, began: number): Step[] {
  const orders = new Map<string, SaleOrder>()
  const orderOf = (name: string) => {
    const order = orders.get(name)
    if (order === undefined) throw new Error(`${conta}: não há a nota "${name}"`)
    return order
  }
  return atos.flatMap((ato): Step[] => {
    const at = instantBefore(began, ato.dias, ato.hora)
    if ('nota' in ato) {
      const { nota, ciencia } = ato
      const order = { ...ato, at, nivel: level(at) }
      orders.set(nota, order)
      const answered = at + (ciencia ?? 0) * hourMs
      return [
        ...(ocultas.includes(nota) ? [] : [{ at, make: async () => (await play.note(nota, order)).bytes }]),
        ...(ciencia === undefined ? [] : [{ at: answered, make: () => play.answer(nota, order, answered) }]),
      ]
    }
    if ('frete' in ato)
      return [
        { at, make: async () => (await play.freight(ato.da, orderOf(ato.da), { ...ato, at, key: ato.frete })).bytes },
      ]
    if ('cancela' in ato) return [{ at, make: () => play.cancel(ato.cancela, orderOf(ato.cancela), at) }]
    return [{ at, make: () => play.letter(ato.carta, orderOf(ato.carta), at, ato.texto) }]
  })
}

// An hour of a working day so many working days before an instant.
function instantBefore(began: number, workingDays: number, hour: string): number {
  let day = dayOf(began)
  for (let left = workingDays; left > 0; ) {
    day -= dayMs
    if (weekdayOf(day) % 6 !== 0) left--
  }
  return Date.parse(`${localDateTime(day).slice(0, 10)}T${hour}:00-03:00`)
}
