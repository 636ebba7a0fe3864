import { AppError } from './errors.ts'

/** Owner of the work: a workspace, or the network of a stranger. */
type Owner = number | string

/** Takes a place for `owner`, until it is disposed of. */
export type Limiter = (owner: Owner) => Promise<Disposable>

const retryAfterMs = 2_000

/** Runs `each` tasks per owner at once; `waiting` more wait in order, others are refused with `full`. */
export function createLimiter({ each, waiting, full }: { each: number; waiting: number; full: string }): Limiter {
  const owners = new Map<Owner, { running: number; queue: (() => void)[] }>()
  return async (owner) => {
    const own = owners.get(owner) ?? { running: 0, queue: [] }
    owners.set(owner, own)
    if (own.running < each) own.running++
    else if (own.queue.length >= waiting) throw new AppError('too-many', full, { retryAfterMs })
    else await new Promise<void>((resolve) => own.queue.push(resolve))
    let isReleased = false
    return {
      [Symbol.dispose]() {
        if (isReleased) return
        isReleased = true
        const next = own.queue.shift()
        if (next) next()
        else if (--own.running === 0) owners.delete(owner)
      },
    }
  }
}
