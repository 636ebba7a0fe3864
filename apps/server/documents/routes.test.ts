import { countOutsidePeriod, listDocuments, suggestIssuers } from '@vigia/contract/documents'
import { expect, test } from 'vitest'
import { weights } from '../http/http.ts'
import { documentRoutes } from './routes.ts'

test.each([listDocuments, countOutsidePeriod, suggestIssuers])(
  '$path takes the places of heavy work when a text is looked for',
  (searching) => {
    const { weigh } = documentRoutes.find(({ route }) => route === searching)!
    const weightOf = (query: object) => weigh({ query } as Parameters<typeof weigh>[0])
    expect(weightOf({ TipoDFe: 0, CampoPesquisa: 'papelaria' })).toBe(weights.heavy)
    expect(weightOf({ TipoDFe: 0 })).toBe(weights.light)
  },
)
