import { listCompanies } from '@vigia/contract/companies'
import type { CompanyRow } from './answers.ts'
import { useSilentSince } from './connection.ts'
import { useRoute } from './query.ts'

/** How long a list of companies stays: thousands of them are megabytes. */
export function companiesRefreshMs(companies: readonly CompanyRow[] | undefined): number {
  return companies && companies.length > 500 ? 60_000 : 10_000
}

/** All companies of the workspace, for every screen that tells something of them. */
export function useCompanies({ errorToast = false }: { errorToast?: boolean } = {}) {
  return useRoute(listCompanies, { query: {} }, { refreshMs: companiesRefreshMs, errorToast })
}

/** What is known of their captures now: what was heard before the server fell silent, or before it refused to tell, says nothing of now. */
export function useWatchedCompanies() {
  const { data, error } = useCompanies()
  const away = useSilentSince() !== null
  const lost = away || error !== null
  return { known: lost ? undefined : data, lost }
}
