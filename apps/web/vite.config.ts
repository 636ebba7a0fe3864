import path from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { chunks } from './build/chunks.ts'
import { finishedPages } from './build/finished-pages.ts'
import { leanContract } from './build/lean-contract.ts'
import { offline } from './build/offline.ts'
import { pageHead } from './build/page-head.ts'
import { precompress } from './build/precompress.ts'

// Pages that are rendered at build and shown without any script; `landing` is served at the root.
const finished = ['landing', 'termos', 'privacidade', 'cookies']
const font = 'source-sans-3-latin-wght-normal'
const api = process.env.VIGIA_API ?? 'http://localhost:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    react(),
    tailwindcss(),
    leanContract(),
    finishedPages(finished),
    pageHead(font),
    offline(font),
    precompress(),
  ],
  build: {
    // The content security policy allows fonts and images from 'self' only, so nothing is inlined as data:.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // NOTICE names this file: minifying takes the licences out of the code.
    license: { fileName: 'licencas.md' },
    rolldownOptions: {
      input: ['index', ...finished].map((name) => path.join(import.meta.dirname, `${name}.html`)),
      output: {
        codeSplitting: { includeDependenciesRecursively: false, groups: chunks },
      },
    },
    // pdf.js alone is larger than the usual limit; it is loaded when a document is opened.
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: { '/v1': api, '/health': api, '/docs': api, '/notification-hub': { target: api, ws: true } },
  },
})
