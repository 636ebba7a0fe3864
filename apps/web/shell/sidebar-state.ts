const name = 'vigia_sidebar'
const weekSeconds = 7 * 24 * 60 * 60

/** The remembered choice; without one, open on wide screens. */
export function readSidebarOpen(cookies: string, screenWidth: number): boolean {
  const choice = cookies.split('; ').find((cookie) => cookie.startsWith(`${name}=`))
  return choice ? choice === `${name}=open` : screenWidth >= 1024
}

export function sidebarCookie(open: boolean): string {
  return `${name}=${open ? 'open' : 'closed'}; path=/; max-age=${weekSeconds}; samesite=lax`
}
