import { AppError } from './errors.ts'
import { createTurns, type Who } from './turns.ts'

/** How much of one kind of work goes on at the same time in this process. */
interface PlacesOptions {
  /** Places of all together. */
  all: number
  /** Of these, what work of more than one place may take together: the others are left for light work. Absent: all. */
  heavy?: number
  /** Places of each, at least as many as one takes at once. */
  each: number
  /**
   * How many things of one may go on at once, whatever their weight, while others are here too; what takes longer than a second does not count any more. So who
   * waits for many leaves processors to who waits for one. Absent: as many as there are places.
   */
  beside?: number | undefined
  /** How many of each may wait for a place. */
  waiting: number
  /** What is said to who has more than that. */
  full: string
}

/** Places for work that costs, given to all in turns. */
export interface Places {
  /** As many places as `weight` for `who`, until disposed; refuses when too many of theirs wait already. */
  take(who: Who, weight?: number): Promise<Disposable>
}

const retryAfterMs = 2_000

interface Asked {
  weight: number
  begin: () => void
}

// Who had a place so recently is here, and will probably ask for the next thing: so long people look at a page before they click.
const hereMs = 10_000
// What takes longer does not hold up what else its own people want.
const longMs = 1_000
const lookAgainMs = 250

export function createPlaces({
  all,
  heavy: heavyMax = all,
  each,
  beside = each,
  waiting,
  full,
}: PlacesOptions): Places {
  const busy = new Map<Who, number>()
  // When what each has under way began.
  const begun = new Map<Who, number[]>()
  // The last two that left a place.
  let left: { who: Who; at: number }[] = []
  let timer: NodeJS.Timeout | undefined
  // Of these, by heavy work.
  const busyHeavily = new Map<Who, number>()
  // Apart, so that nobody's light work waits behind heavy work that others hold up.
  const lanes = { heavy: createTurns<Asked>(), light: createTurns<Asked>() }
  let total = 0
  let heavy = 0
  const change = (places: Map<Who, number>, who: Who, by: number) => {
    const left = (places.get(who) ?? 0) + by
    if (left > 0) places.set(who, left)
    else places.delete(who)
  }
  const add = (who: Who, weight: number, sign: 1 | -1) => {
    total += sign * weight
    change(busy, who, sign * weight)
    if (weight === 1) return
    heavy += sign * weight
    change(busyHeavily, who, sign * weight)
  }
  const enter = (who: Who, weight: number): Disposable => {
    add(who, weight, 1)
    const at = performance.now()
    begun.set(who, [...(begun.get(who) ?? []), at])
    let isLeft = false
    return {
      [Symbol.dispose]() {
        if (isLeft) return
        isLeft = true
        add(who, weight, -1)
        const others = begun.get(who)!.toSpliced(begun.get(who)!.indexOf(at), 1)
        if (others.length > 0) begun.set(who, others)
        else begun.delete(who)
        left = [{ who, at: performance.now() }, ...left.filter((one) => one.who !== who)].slice(0, 2)
        admit()
      },
    }
  }
  // Whoever waits for the end of other heavy work does not keep out what has places of its own.
  const waitsForHeavy = (who: Who, weight: number) =>
    heavy + weight > heavyMax || (busyHeavily.get(who) ?? 0) + weight > each
  const leavesRoom = (who: Who): boolean => {
    const now = performance.now()
    const own = begun.get(who) ?? []
    if (own.filter((at) => now - at < longMs).length < beside) return true
    const areOthersHere =
      busy.size > (busy.has(who) ? 1 : 0) || left.some((one) => one.who !== who && now - one.at < hereMs)
    if (areOthersHere && !timer) timer = setTimeout(lookAgain, lookAgainMs).unref()
    return !areOthersHere
  }
  const lookAgain = () => {
    timer = undefined
    admit()
  }
  const look = (who: Who, { weight }: Asked) => {
    if ((busy.get(who) ?? 0) + weight > each || !leavesRoom(who)) return 'pass'
    const own = lanes.heavy.first(who)
    if (weight > 1 ? waitsForHeavy(who, weight) : own && !waitsForHeavy(who, own.weight)) return 'pass'
    // Whose turn it is waits for enough places, without lighter work of others passing.
    return total + weight <= all ? 'take' : 'stop'
  }
  let next: keyof typeof lanes = 'heavy'
  const admitOne = (): boolean => {
    for (const lane of [next, next === 'heavy' ? 'light' : 'heavy'] as const) {
      let isStopped = false
      const asked = lanes[lane].take((who, asked) => {
        const found = look(who, asked)
        isStopped = found === 'stop'
        return found
      })
      if (asked) {
        // Of the two kinds each has its turn.
        next = lane === 'heavy' ? 'light' : 'heavy'
        asked.begin()
        return true
      }
      if (isStopped) return false
    }
    return false
  }
  const admit = () => {
    while (admitOne());
  }
  return {
    take(who, weight = 1) {
      return new Promise((resolve, reject) => {
        const takeBack = lanes[weight > 1 ? 'heavy' : 'light'].add(who, {
          weight,
          begin: () => resolve(enter(who, weight)),
        })
        admit()
        if (lanes.heavy.count(who) + lanes.light.count(who) <= waiting) return
        takeBack()
        reject(new AppError('too-many', full, { retryAfterMs }))
      })
    },
  }
}
