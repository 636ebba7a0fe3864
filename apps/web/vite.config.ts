import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const resolve = createRequire(import.meta.url).resolve
const api = process.env.VIGIA_API ?? 'http://localhost:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), preloadFont('source-sans-3-latin-wght-normal'), pdfFonts()],
  build: {
    // The content security policy allows fonts and images from 'self' only, so nothing is inlined as data:.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every screen needs, and what every screen but the landing page needs: two files instead of fifteen.
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler|react-router)[\\/]/, priority: 2 },
            { name: 'data', test: /node_modules[\\/](zod|@tanstack|sonner)[\\/]|packages[\\/]/, priority: 1 },
          ],
        },
      },
    },
    // pdf.js alone is larger than the usual limit; it is loaded when a document is opened.
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: { '/v1': api, '/health': api, '/docs': api },
  },
})

// Without this the text appears in the fallback face first and moves when the real one arrives.
function preloadFont(name: string): Plugin {
  return {
    name: 'preload-font',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((key) => key.includes(`${name}-`) && key.endsWith('.woff2'))
        if (!file) return []
        const attrs = { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: '' }
        return [{ tag: 'link', attrs, injectTo: 'head-prepend' }]
      },
    },
  }
}

// The forms use the base-14 fonts, which a PDF does not carry; pdf.js asks for them by name under one address.
function pdfFonts(): Plugin {
  const manifest = resolve('pdfjs-dist/package.json')
  const directory = path.join(path.dirname(manifest), 'standard_fonts')
  const base = `assets/pdf-fonts-${JSON.parse(readFileSync(manifest, 'utf8')).version}/`
  const fonts = readdirSync(directory).filter((file) => /\.(pfb|ttf)$/.test(file))
  return {
    name: 'pdf-fonts',
    generateBundle() {
      for (const file of fonts) {
        this.emitFile({ type: 'asset', fileName: base + file, source: readFileSync(path.join(directory, file)) })
      }
    },
    configureServer(server) {
      server.middlewares.use(`/${base}`, (request, response, next) => {
        const file = path.basename(request.url ?? '')
        if (!fonts.includes(file)) return next()
        response.end(readFileSync(path.join(directory, file)))
      })
    },
  }
}
