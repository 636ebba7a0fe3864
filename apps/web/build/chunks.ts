import path from 'node:path'
import type { Rolldown } from 'vite'

// Few files instead of one for each piece: every one costs a journey to the server. Each stands on those before it alone.
export const chunks: Rolldown.CodeSplittingGroup[] = [
  // What start.ts asks with: it waits for nothing else.
  {
    name: 'ahead',
    test: /\/web\/lib\/(ahead|piece|stored-session)\.ts$|\/packages\/contract\/(companies|workspace)\.ts$/,
  },
  { name: 'react', test: modules('react|react-dom|scheduler') },
  { name: 'router', test: modules('react-router') },
  { name: (id, context) => (isOnLanding(id, context) ? 'base' : null), minShareCount: 2 },
  { name: (id, context) => (isPiece(id, context) ? 'pieces' : null), minShareCount: 2 },
  {
    name: 'data',
    test: modules(
      '@tanstack/(react-query|query-core)',
      '/web/(lib/(companies|notify|query|quiet)|ui/(copy-button|date-range-picker|opener|tooltip))',
    ),
  },
  // What opens over a screen, which is drawn before it: see ui/opener.tsx.
  {
    name: 'floating',
    test: modules(
      '@radix-ui|@floating-ui|react-remove-scroll(-bar)?|react-style-singleton|use-sidecar|use-callback-ref|aria-hidden|get-nonce|tslib',
      '/web/ui/',
    ),
    minShareCount: 2,
  },
]

// Paths of modules, by the library that they are of or by our folder.
function modules(libraries: string, folder?: string): RegExp {
  return new RegExp(`/node_modules/(${libraries})(?![\\w-])${folder ? `|${folder}` : ''}`.replaceAll('/', '[\\\\/]'))
}

// So common that nearly everything needs them.
const small = modules('clsx|class-variance-authority|lucide-react')

// The landing page is read by people who came for one page: what it shares with the others comes without the rest of theirs.
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

// Of the interface and of the product's knowledge, what brings no library along.
function isPiece(id: string, context: Rolldown.ChunkingContext): boolean {
  if (/[\\/]packages[\\/](dfe|contract[\\/](?!forms|fields))/.test(id)) return true
  if (small.test(id) || modules('react').test(id)) return true
  if (!/[\\/]web[\\/](ui|lib)[\\/]/.test(id)) return false
  return context.getModuleInfo(id)?.importedIds.every((imported) => isPiece(imported, context)) === true
}
