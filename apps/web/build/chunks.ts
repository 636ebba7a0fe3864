import path from 'node:path'
import type { Rolldown } from 'vite'

// A few files, because each costs a request. Each depends on earlier ones only.
export const chunks: Rolldown.CodeSplittingGroup[] = [
  { name: 'react', test: modules('react|react-dom|scheduler') },
  { name: 'router', test: modules('react-router') },
  { name: (id, context) => (isOnLanding(id, context) ? 'base' : null), minShareCount: 2 },
  { name: (id, context) => (isPiece(id, context) ? 'pieces' : null), minShareCount: 2 },
  {
    name: 'data',
    test: modules(
      '@tanstack/(react-query|query-core)',
      '/web/(lib/(companies|notify|query)|ui/(company-name|copy-button|period/date-range-picker|overlay/(lazy-with-trigger|tooltip)))',
    ),
  },
  // Components that open over a screen and load after it: see ui/overlay/lazy-with-trigger.tsx.
  {
    name: 'floating',
    test: modules(
      '@radix-ui|@floating-ui|react-remove-scroll(-bar)?|react-style-singleton|use-sidecar|use-callback-ref|aria-hidden|get-nonce|tslib',
      '/web/ui/',
    ),
    minShareCount: 2,
  },
]

// Matches modules of these libraries, or of our folder.
function modules(libraries: string, folder?: string): RegExp {
  return new RegExp(`/node_modules/(${libraries})(?![\\w-])${folder ? `|${folder}` : ''}`.replaceAll('/', '[\\\\/]'))
}

// Small libraries that nearly every module needs.
const small = modules('clsx|class-variance-authority|lucide-react')

// Modules shared with the landing page are a file of their own, because it must load little.
function isOnLanding(id: string, context: Rolldown.ChunkingContext): boolean {
  const reached = new Set<string>()
  const reach = (from: string) => {
    if (reached.has(from) || !/[\\/]apps[\\/]web[\\/](?!node_modules).*\.tsx?$/.test(from)) return
    reached.add(from)
    for (const imported of context.getModuleInfo(from)?.importedIds ?? []) reach(imported)
  }
  reach(path.join(import.meta.dirname, '../landing.tsx'))
  return small.test(id) || reached.has(id)
}

// Modules shared by screens opened after the lists, which load without them.
const later = /[\\/](contract[\\/]freight|web[\\/](lib[\\/]freight|ui[\\/]period[\\/]month))/

// Modules of ui, lib and the packages that need no library.
function isPiece(id: string, context: Rolldown.ChunkingContext): boolean {
  if (later.test(id)) return false
  if (/[\\/]packages[\\/](dfe|contract[\\/](?!forms|fields))/.test(id)) return true
  if (small.test(id) || modules('react').test(id)) return true
  if (!/[\\/]web[\\/](ui|lib)[\\/]/.test(id)) return false
  return context.getModuleInfo(id)?.importedIds.every((imported) => isPiece(imported, context)) === true
}
