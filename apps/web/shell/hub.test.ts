import { expect, test } from 'vitest'
import { reconnectDelaysMs } from './hub.ts'

test('pages come back within three seconds of a restart, and not all at once', () => {
  expect(reconnectDelaysMs(() => 0.5)).toEqual([1_500, 2_000, 10_000, 30_000])
})
