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

export function createPlaces({ all, heavy: heavyMax = all, each, waiting, full }: PlacesOptions): Places {
  const busy = new Map<Who, number>()
  const asked = createTurns<Asked>()
  let total = 0
  let heavy = 0
  const add = (who: Who, weight: number, sign: 1 | -1) => {
    total += sign * weight
    if (weight > 1) heavy += sign * weight
    const left = (busy.get(who) ?? 0) + sign * weight
    if (left > 0) busy.set(who, left)
    else busy.delete(who)
  }
  const enter = (who: Who, weight: number): Disposable => {
    add(who, weight, 1)
    let isLeft = false
    return {
      [Symbol.dispose]() {
        if (isLeft) return
        isLeft = true
        add(who, weight, -1)
        admit()
      },
    }
  }
  const look = (who: Who, { weight }: Asked) => {
    if ((busy.get(who) ?? 0) + weight > each) return 'pass'
    // Whoever waits for the end of other heavy work does not keep out what has places of its own.
    if (weight > 1 && heavy + weight > heavyMax) return 'pass'
    // Whose turn it is waits for enough places, without lighter work of others passing.
    return total + weight <= all ? 'take' : 'stop'
  }
  const admit = () => {
    for (let next = asked.take(look); next; next = asked.take(look)) next.begin()
  }
  return {
    take(who, weight = 1) {
      return new Promise((resolve, reject) => {
        const takeBack = asked.add(who, { weight, begin: () => resolve(enter(who, weight)) })
        admit()
        if (asked.count(who) <= waiting) return
        takeBack()
        reject(new AppError('too-many', full, { retryAfterMs }))
      })
    },
  }
}
