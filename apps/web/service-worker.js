// What keeps the application open without a connection: its page and its code. No response of the API is kept here, and none passes through.
// The build writes `version`, `entry` and `files` before it (build/offline.ts).
// A new version waits until the pages of the one before are closed, so that an open page finds all its code; it needs no waiting itself,
// because with a connection the page comes from the server.
const cacheName = `vigia.shell ${version}`
const page = '/dashboard'
const notOfApplication = /^\/(v1|docs|metrics|health|notification-hub|termos|privacidade|cookies)(\/|$)|^\/$|\.\w+$/

self.addEventListener('install', (event) => event.waitUntil(keep()))
self.addEventListener('activate', (event) => event.waitUntil(takeOver()))
self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate') {
    if (!notOfApplication.test(pathname)) event.respondWith(openPage(request))
  } else if (files.includes(pathname)) {
    event.respondWith(
      pathname.startsWith('/assets/') ? kept(pathname, request) : fetch(request).catch(() => kept(pathname, request)),
    )
  }
})

async function keep() {
  const cache = await caches.open(cacheName)
  const response = await fetch(page, { cache: 'no-cache' })
  const html = await response.text()
  // While a new version is brought out, the page may be of another one than this file.
  if (!response.ok || !html.includes(entry)) throw new Error('the page is of another version')
  await cache.addAll(files)
  await cache.put(page, pageWith(html, response))
}

async function takeOver() {
  for (const other of await caches.keys()) if (other !== cacheName) await caches.delete(other)
  await clients.claim()
}

async function openPage(request) {
  const response = await fetch(request).catch(() => null)
  // With these a proxy, or a server that is starting, says that nobody responds yet: the application says it better.
  if (!response || [502, 503, 504].includes(response.status)) return kept(page, request)
  if (!response.headers.get('content-type')?.startsWith('text/html')) return response
  return pageWith(await response.text(), response)
}

// Chrome throws away what a page fetches ahead when it comes from a service worker, and complains; the files of this version are here already
// (https://github.com/vite-pwa/vite-plugin-pwa/issues/945).
function pageWith(html, { status, headers: received }) {
  const text = html.includes(entry) ? html.replace(/<link rel="modulepreload"[^>]*>/g, '') : html
  const headers = new Headers(received)
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(text, { status, headers })
}

async function kept(path, request) {
  const cache = await caches.open(cacheName)
  return (await cache.match(path, { ignoreVary: true })) ?? fetch(request)
}
