import { expect, test } from 'vitest'
import { readSidebarOpen, sidebarCookie } from './sidebar-state.ts'

test('without a choice the navigation is open on wide screens', () => {
  expect(readSidebarOpen('', 1280)).toBe(true)
  expect(readSidebarOpen('a=b', 800)).toBe(false)
})

test('the choice counts more than the width', () => {
  expect(readSidebarOpen('a=b; vigia_sidebar=open', 800)).toBe(true)
  expect(readSidebarOpen('vigia_sidebar=closed; a=b', 1280)).toBe(false)
})

test('the choice is kept for seven days', () => {
  expect(sidebarCookie(false)).toBe('vigia_sidebar=closed; path=/; max-age=604800; samesite=lax')
})
