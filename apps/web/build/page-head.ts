import type { Plugin } from 'vite'

/**
 * Preloads the styles, which block painting, and the one font, because a late font moves the text.
 * A browser requests six files at a time, in page order.
 */
export function pageHead(font: string): Plugin {
  return {
    name: 'page-head',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const styles = /\s*<link rel="stylesheet"[^>]*>/g
        const withStylesFirst = html
          .replace(styles, '')
          .replace(/\s*<script/, (script) => (html.match(styles) ?? []).join('') + script)
        const file = Object.keys(bundle ?? {}).find((key) => key.includes(`${font}-`) && key.endsWith('.woff2'))
        const attrs = { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: '' }
        return { html: withStylesFirst, tags: file ? [{ tag: 'link', attrs, injectTo: 'head' }] : [] }
      },
    },
  }
}
