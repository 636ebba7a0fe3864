import { expect, test } from 'vitest'
import { fileName } from './save-file.ts'

test('a file name contains no characters that an operating system forbids', () => {
  expect(fileName('NF-e 12/3 "Sol": A\\B*?<>|\n')).toBe('NF-e 12 3 Sol A B')
})
