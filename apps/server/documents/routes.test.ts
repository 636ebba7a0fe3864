import { countOutsidePeriod, listDocuments, suggestIssuers } from '@vigia/contract/documents'
import { expect, test } from 'vitest'
import { documentRoutes } from './routes.ts'

test.each([listDocuments, countOutsidePeriod, suggestIssuers])(
  '$path is slow when a text is looked for',
  (searching) => {
    expect(documentRoutes(async () => []).find(({ route }) => route === searching)!.cost).toBe('search')
  },
)
