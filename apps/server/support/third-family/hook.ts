import { registerHooks } from 'node:module'

// Loaded before a program (`node --import`), and by each of its threads: the product then knows a third family.
const root = new URL('../../../../', import.meta.url)
const replaced = new Map(
  [
    ['packages/dfe/families/all.ts', 'families.ts'],
    ['apps/server/capture/sources.ts', 'sources.ts'],
    ['apps/server/events/protocols.ts', 'protocols.ts'],
  ].map(([real, own]) => [new URL(real!, root).href, new URL(own!, import.meta.url).href]),
)

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const own = replaced.get(resolved.url)
    return own ? { ...resolved, url: own } : resolved
  },
})
