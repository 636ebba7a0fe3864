import { AppError } from './errors.ts'

/** How much of one kind of work goes on at the same time in this process. */
interface PlacesOptions {
  /** Of all together. */
  all: number
  /** Of each. */
  each: number
  /** How many of each may wait for a place. */
  waiting: number
  /** What is said to who has more than that. */
  full: string
}

/** Places for work that costs, given to all in turns: who asks for much waits for their own, not the others for them. */
export interface Places {
  /** A place for `who`, until disposed; refuses when too many wait already. */
  take(who: number | string): Promise<Disposable>
}

const retryAfterMs = 2_000

export function createPlaces({ all, each, waiting, full }: PlacesOptions): Places {
  const busy = new Map<number | string, number>()
  // In the order of their turns: who was served goes to the end.
  const queues = new Map<number | string, (() => void)[]>()
  let total = 0
  const isFree = (who: number | string) => total < all && (busy.get(who) ?? 0) < each
  const enter = (who: number | string): Disposable => {
    total++
    busy.set(who, (busy.get(who) ?? 0) + 1)
    let isLeft = false
    return {
      [Symbol.dispose]() {
        if (isLeft) return
        isLeft = true
        total--
        const left = busy.get(who)! - 1
        if (left > 0) busy.set(who, left)
        else busy.delete(who)
        admit()
      },
    }
  }
  const admit = () => {
    for (const [who, queue] of queues) {
      if (total >= all) return
      if (!isFree(who)) continue
      queues.delete(who)
      const next = queue.shift()!
      if (queue.length > 0) queues.set(who, queue)
      next()
      // One that came free may admit one.
      return
    }
  }
  return {
    async take(who) {
      const queue = queues.get(who) ?? []
      if (queue.length === 0 && isFree(who)) return enter(who)
      if (queue.length >= waiting) throw new AppError('too-many', full, { retryAfterMs })
      return new Promise((resolve) => {
        queue.push(() => resolve(enter(who)))
        queues.set(who, queue)
      })
    },
  }
}
