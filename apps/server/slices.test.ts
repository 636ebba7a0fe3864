import { expect, test } from 'vitest'
import { jobNames } from './operations/jobs.ts'
import { slices } from './slices.ts'

test('every job has a name for people', () => {
  const kinds = slices.flatMap(({ jobs, crons }) =>
    [...jobs, ...crons].map(({ name }) => name.replace(/^forget-.*/, 'forget')),
  )
  expect(kinds.filter((name) => !jobNames[name])).toEqual([])
})
