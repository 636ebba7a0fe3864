import { AppError } from './errors.ts'

/** How much of one kind of work goes on at the same time in this process. */
interface PlacesOptions {
  /** Places of all together. */
  all: number
  /** Places of each, at least as many as one takes at once. */
  each: number
  /** How many of each may wait for a place. */
  waiting: number
  /** What is said to who has more than that. */
  full: string
}

/** Places for work that costs, given to all in turns: who asks for much waits for their own, not the others for them. */
export interface Places {
  /** As many places as `weight` for `who`, until disposed; refuses when too many of theirs wait already. */
  take(who: number | string, weight?: number): Promise<Disposable>
}

const retryAfterMs = 2_000

export function createPlaces({ all, each, waiting, full }: PlacesOptions): Places {
  const busy = new Map<number | string, number>()
  // In the order of their turns: who was served goes to the end.
  const queues = new Map<number | string, { weight: number; begin: () => void }[]>()
  let total = 0
  const enter = (who: number | string, weight: number): Disposable => {
    total += weight
    busy.set(who, (busy.get(who) ?? 0) + weight)
    let isLeft = false
    return {
      [Symbol.dispose]() {
        if (isLeft) return
        isLeft = true
        total -= weight
        const left = busy.get(who)! - weight
        if (left > 0) busy.set(who, left)
        else busy.delete(who)
        admit()
      },
    }
  }
  const findNext = () => {
    for (const [who, queue] of queues) {
      const { weight } = queue[0]!
      if ((busy.get(who) ?? 0) + weight > each) continue
      // Whose turn it is waits for enough places, without lighter work of others passing.
      return total + weight <= all ? { who, queue } : null
    }
    return null
  }
  const admit = () => {
    for (let next = findNext(); next; next = findNext()) {
      const { who, queue } = next
      queues.delete(who)
      const { begin } = queue.shift()!
      if (queue.length > 0) queues.set(who, queue)
      begin()
    }
  }
  return {
    take(who, weight = 1) {
      return new Promise((resolve, reject) => {
        const queue = queues.get(who) ?? []
        queue.push({ weight, begin: () => resolve(enter(who, weight)) })
        queues.set(who, queue)
        admit()
        if (queue.length <= waiting) return
        queue.pop()
        if (queue.length === 0) queues.delete(who)
        reject(new AppError('too-many', full, { retryAfterMs }))
      })
    },
  }
}
