/** Fetches what /login and /register consist of as soon as somebody turns to a link there; the build writes down what that is. */
export function prefetchApplication() {
  const turned = (event: Event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || !/^\/(login|register)\b/.test(link.getAttribute('href') ?? '')) return
    for (const type of events) document.removeEventListener(type, turned)
    const files = document.querySelector<HTMLMetaElement>('meta[name=application]')?.content.split(' ') ?? []
    for (const file of files) {
      document.head.append(Object.assign(document.createElement('link'), { rel: 'prefetch', href: file }))
    }
  }
  for (const type of events) document.addEventListener(type, turned, { passive: true })
}

const events = ['pointerover', 'focusin', 'touchstart']
