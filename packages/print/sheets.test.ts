import { expect, test } from 'vitest'
import { readObjects } from './support/graphics.ts'
import { sheetGoals } from './support/sheet-goals.ts'

test.each(sheetGoals)('%s: at most %i sheets', (_, goal, print) => {
  const pages = [...readObjects(print()).values()].filter(({ head }) => head.includes('/Type/Page/'))
  expect(pages.length).toBeGreaterThan(0)
  expect(pages.length).toBeLessThanOrEqual(goal)
})
