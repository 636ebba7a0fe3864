import { expect, test } from 'vitest'
import { InstallationError } from '../installation.ts'
import { requireVersion } from './migrate.ts'

test.each(['18.0', '18.1 (Debian 18.1-1)', '19beta1'])('PostgreSQL %s is new enough', (version) => {
  requireVersion(version)
})

test.each([
  ['17.6 (Debian 17.6-1)', 'PostgreSQL 17.6,'],
  ['9.6.24', 'PostgreSQL 9.6.24,'],
])('PostgreSQL %s is refused with a sentence that names it', (version, named) => {
  expect(() => requireVersion(version)).toThrow(InstallationError)
  expect(() => requireVersion(version)).toThrow(named)
})
