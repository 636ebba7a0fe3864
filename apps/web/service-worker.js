// Caches the page and the code of the application for offline use. API responses neither are cached
// nor pass through here.
// The build writes `version`, `entry` and `files` before it (build/offline.ts).
// A new version waits until pages of the previous one are closed, because they need its code. With
// a connection the page comes from the server.
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
  // During a deployment the page may be of another version than this file.
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
  // Statuses of a proxy or a starting server: the cached application explains them better.
  if (!response || [502, 503, 504].includes(response.status)) return kept(page, request)
  if (!response.headers.get('content-type')?.startsWith('text/html')) return response
  return pageWith(await response.text(), response)
}

// Removes modulepreload: Chrome discards preloads from a service worker with a warning, and the
// files are cached anyway (https://github.com/vite-pwa/vite-plugin-pwa/issues/945).
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
