/** Whose a thing is: a workspace, or the address of a stranger. */
export type Who = number | string

/** What waits, of many: all take turns, so that who has much of it waits for their own, not the others for them. */
export interface Turns<T> {
  /** How many wait, of all or of one. */
  count(who?: Who): number
  /** What of `who` waits longest. */
  first(who: Who): T | undefined
  /** Adds to what waits of `who`; the function returned takes it back. */
  add(who: Who, item: T): () => void
  /**
   * Removes the first item of whose turn it is; they go to the end. `look` may pass over somebody, whose turn it stays, or end the search. Undefined: there
   * is nothing to take.
   */
  take(look?: (who: Who, item: T) => 'take' | 'pass' | 'stop'): T | undefined
}

export function createTurns<T>(): Turns<T> {
  // In the order of their turns.
  const queues = new Map<Who, T[]>()
  let total = 0
  const remove = (who: Who, item: T) => {
    const queue = queues.get(who)
    const at = queue?.indexOf(item) ?? -1
    if (!queue || at === -1) return
    queue.splice(at, 1)
    total--
    if (queue.length === 0) queues.delete(who)
  }
  return {
    count: (who) => (who === undefined ? total : (queues.get(who)?.length ?? 0)),
    first: (who) => queues.get(who)?.[0],
    add(who, item) {
      const queue = queues.get(who)
      if (queue) queue.push(item)
      else queues.set(who, [item])
      total++
      return () => remove(who, item)
    },
    take(look = () => 'take') {
      for (const [who, queue] of queues) {
        const item = queue[0]!
        const found = look(who, item)
        if (found === 'stop') return undefined
        if (found === 'pass') continue
        queues.delete(who)
        queue.shift()
        if (queue.length > 0) queues.set(who, queue)
        total--
        return item
      }
      return undefined
    },
  }
}
