import { currentSession, ownerOf, readOwned, searchesKey } from '../../lib/session.ts'

// Recent searches stay in this browser and are deleted with the session.

const keptMax = 6

export function recentSearches(): string[] {
  const kept = readOwned(localStorage, searchesKey)
  if (kept?.owner !== ownerOf(currentSession()) || !Array.isArray(kept?.texts)) return []
  return kept.texts.filter((text: unknown) => typeof text === 'string')
}

export function rememberSearch(text: string): void {
  if (text === '') return
  const texts = [text, ...recentSearches().filter((one) => one !== text)].slice(0, keptMax)
  localStorage.setItem(searchesKey, JSON.stringify({ owner: ownerOf(currentSession()), texts }))
}
