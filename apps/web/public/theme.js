// Runs before the first paint, so that a remembered theme never flashes (lib/theme.ts writes the choice) and who has a session sees that it is
// being checked (index.html).
try {
  const choice = localStorage.getItem('vigia.theme')
  const dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
  document.documentElement.toggleAttribute('data-session', localStorage.getItem('vigia.session') !== null)
} catch {
  // Storage may be forbidden; the light theme stays.
}
