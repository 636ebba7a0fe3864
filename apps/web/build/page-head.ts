import type { Plugin } from 'vite'

/**
 * What a page fetches first: its styles, before which nothing is painted, and its one font, without which the text would appear in the
 * fallback face and move. A browser asks for six files at a time, in the order of the page.
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
