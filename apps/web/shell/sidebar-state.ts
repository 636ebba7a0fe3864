const name = 'vigia_sidebar'
const weekSeconds = 7 * 24 * 60 * 60

/** The remembered choice for wide screens; without one, open. */
export function readSidebarOpen(cookies: string): boolean {
  return !cookies.split('; ').includes(`${name}=closed`)
}

export function sidebarCookie(open: boolean): string {
  return `${name}=${open ? 'open' : 'closed'}; path=/; max-age=${weekSeconds}; samesite=lax`
}
