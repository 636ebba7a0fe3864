import type { Plugin } from 'vite'

// Without this the text appears in the fallback face first and moves when the real one arrives.
export function preloadFont(name: string): Plugin {
  return {
    name: 'preload-font',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((key) => key.includes(`${name}-`) && key.endsWith('.woff2'))
        if (!file) return []
        const attrs = { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: '' }
        return [{ tag: 'link', attrs, injectTo: 'head' }]
      },
    },
  }
}
