import path from 'node:path'
import react from '@vitejs/plugin-react'
import { type Plugin, runnerImport } from 'vite'

/** The exports of prerender.tsx. */
interface Source {
  prerendered: Readonly<Record<string, (() => string) | undefined>>
  fillForDevelopment: (html: string) => string
}

// Renders the finished pages, with placeholders that the server fills. The development server fills them itself.
export function finishedPages(names: readonly string[]): Plugin {
  const source = path.join(import.meta.dirname, '../prerender.tsx')
  const addresses = new Map(names.map((name) => [name === 'landing' ? '/' : `/${name}`, `/${name}.html`]))
  return {
    name: 'finished-pages',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { path: page, server }) {
        const { fillForDevelopment, prerendered } = server
          ? ((await server.ssrLoadModule(source)) as Source)
          : (await runnerImport<Source>(source, { configFile: false, plugins: [react()], logLevel: 'error' })).module
        const written = html.replace('<!--page-->', () => prerendered[page]?.() ?? '')
        return server ? fillForDevelopment(written) : written
      },
    },
    configureServer(server) {
      server.middlewares.use((request, _, next) => {
        const [address = '', query] = (request.url ?? '').split('?')
        const page = addresses.get(address)
        if (page) request.url = query === undefined ? page : `${page}?${query}`
        next()
      })
    },
  }
}
