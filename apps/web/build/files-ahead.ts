import path from 'node:path'
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'

const web = path.join(import.meta.dirname, '..')

// A browser that learns of a file from a script has waited for that script. So the page of the application names what it will always ask
// for, and the landing page, for landing/prefetch.ts, what /login and /register consist of.
export function filesAhead(): Plugin {
  return {
    name: 'files-ahead',
    transformIndexHtml: {
      order: 'post',
      handler(html, { path: page, bundle }) {
        if (!bundle) return html
        const written = lookFirst(html)
        return { html: written, tags: tagsOf(page, written, bundle) }
      },
    },
  }
}

function tagsOf(page: string, html: string, bundle: Rolldown.OutputBundle): HtmlTagDescriptor[] {
  if (page === '/index.html') {
    const hrefs = filesOf(bundle, ['main.tsx']).filter((href) => !html.includes(href))
    return hrefs.map((href) => ({
      tag: 'link',
      attrs: { rel: 'modulepreload', crossorigin: '', href },
      injectTo: 'head',
    }))
  }
  if (page !== '/landing.html') return []
  const files = filesOf(bundle, ['start.ts', 'main.tsx', 'accounts/login-page.tsx', 'accounts/register-page.tsx'])
  return [{ tag: 'meta', attrs: { name: 'application', content: files.join(' ') }, injectTo: 'head' }]
}

// Nothing is seen before the styles have arrived, and a browser asks for six files at a time, in the order of the page.
function lookFirst(html: string): string {
  const styles = /\s*<link rel="stylesheet"[^>]*>/g
  return html.replace(styles, '').replace(/\s*<script/, (script) => (html.match(styles) ?? []).join('') + script)
}

// The files that modules of ours stand in, with those that they need.
function filesOf(bundle: Rolldown.OutputBundle, sources: readonly string[]): string[] {
  const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const files = new Set<string>()
  const add = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    for (const imported of named.get(file)?.imports ?? []) add(imported)
  }
  for (const source of sources) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => path.relative(web, id) === source))
    if (!chunk) throw new Error(`${source} is in no file of the build: name it as it is called now`)
    add(chunk.fileName)
  }
  return [...files].map((file) => `/${file}`)
}
