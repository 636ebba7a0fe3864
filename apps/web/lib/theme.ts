import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

/** Labels of the choices. */
export const themeLabels: Readonly<Record<Theme, string>> = {
  light: 'Claro',
  dark: 'Escuro',
  system: 'Igual ao sistema',
}

const themeKey = 'vigia.theme'
const listeners = new Set<() => void>()
const systemDark = globalThis.matchMedia?.('(prefers-color-scheme: dark)')

systemDark?.addEventListener('change', apply)

function storedTheme(): Theme {
  const stored = localStorage.getItem(themeKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

function isDark(): boolean {
  const theme = storedTheme()
  return theme === 'dark' || (theme === 'system' && systemDark.matches)
}

function apply() {
  document.documentElement.classList.toggle('dark', isDark())
  for (const listener of listeners) listener()
}

export function setTheme(theme: Theme) {
  if (theme === 'system') localStorage.removeItem(themeKey)
  else localStorage.setItem(themeKey, theme)
  apply()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, storedTheme)
}
