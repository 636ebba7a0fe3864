import { expect, test } from 'vitest'
import { readSidebarOpen, sidebarCookie } from './sidebar-state.ts'

test('the navigation is open until somebody folds it', () => {
  expect(readSidebarOpen('a=b')).toBe(true)
  expect(readSidebarOpen('a=b; vigia_sidebar=open')).toBe(true)
  expect(readSidebarOpen('vigia_sidebar=closed; a=b')).toBe(false)
})

test('the choice is kept for seven days', () => {
  expect(sidebarCookie(false)).toBe('vigia_sidebar=closed; path=/; max-age=604800; samesite=lax')
})
