import { queryClient } from './query.ts'

const restMs = 2_000

/** Fetches what the screen can be read without: never while something on it still travels. What is given back calls it off. */
export function whenQuiet(fetchCode: () => Promise<unknown>): () => void {
  const timer = setInterval(() => {
    if (queryClient.isFetching() > 0) return
    clearInterval(timer)
    // Whoever needs it asks again, and says what did not arrive.
    fetchCode().catch(() => undefined)
  }, restMs)
  return () => clearInterval(timer)
}
