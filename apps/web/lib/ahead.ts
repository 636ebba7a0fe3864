// What the first screen will ask is asked while its code still travels; the screen takes the answers instead of asking again.
const freshMs = 20_000

interface Asked {
  token: string
  at: number
  answer: Promise<Response>
  stop: AbortController
}

const asked = new Map<string, Asked>()

/** Asks for what can be read at `url`. */
export function askAhead(url: string, token: string) {
  const stop = new AbortController()
  const headers = { Accept: 'application/json', Authorization: `Bearer ${token}` }
  const answer = fetch(url, { headers, signal: stop.signal })
  // Whoever takes it is told.
  answer.catch(() => undefined)
  asked.set(url, { token, at: Date.now(), answer, stop })
}

/** The answer to the same question of the same session, if it is on its way and still young; it is given once. */
export function takeAhead(url: string, token: string | undefined, signal: AbortSignal): Promise<Response> | undefined {
  const known = asked.get(url)
  asked.delete(url)
  if (!known || known.token !== token || Date.now() - known.at > freshMs) return undefined
  if (signal.aborted) known.stop.abort()
  else signal.addEventListener('abort', () => known.stop.abort(), { once: true })
  return known.answer
}

/** What was asked before something was done says nothing of what is true after it. */
export function forgetAhead() {
  asked.clear()
}
