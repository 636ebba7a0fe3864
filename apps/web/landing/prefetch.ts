const events = ['pointerover', 'focusin', 'touchstart']

/** Calls `fetchCode` once a person points at, focuses or touches a link to /login or /register. */
export function prefetchApplication(fetchCode: () => Promise<unknown>) {
  const onTurn = (event: Event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || !/^\/(login|register)\b/.test(link.getAttribute('href') ?? '')) return
    for (const type of events) document.removeEventListener(type, onTurn)
    // After a failure the page that the link leads to fetches it again.
    fetchCode().catch(() => undefined)
  }
  for (const type of events) document.addEventListener(type, onTurn, { passive: true })
}
