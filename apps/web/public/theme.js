// Runs before the first paint so that a remembered theme never flashes; lib/theme.ts writes the choice.
try {
  const choice = localStorage.getItem('vigia.theme')
  const dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
} catch {
  // Storage may be forbidden; the light theme stays.
}
