import { formatCount } from '@vigia/contract/text'
import { useDisconnectedSince } from './connection.ts'
import { hasWords, isPartOfCnpj } from './matching.ts'
import { useScreenQuery } from './query.ts'
import { type CompanyRow, companiesQuery } from './response-adapter.ts'

/** How often a list of companies is refreshed: thousands of them are megabytes. */
export function companiesRefreshMs(companies: readonly CompanyRow[] | undefined): number {
  return companies && companies.length > 500 ? 60_000 : 10_000
}

/** All companies of the workspace, for every screen that shows something of them. */
export function useCompanies({ errorToast = false }: { errorToast?: boolean } = {}) {
  return useScreenQuery(companiesQuery, { query: {} }, { refreshMs: companiesRefreshMs, errorToast })
}

/** The companies, unless the server does not respond or the last refresh failed: then the known state of their captures may be outdated. */
export function useWatchedCompanies() {
  const { data, error } = useCompanies()
  const away = useDisconnectedSince() !== null
  const lost = away || error !== null
  return { known: lost ? undefined : data, lost }
}

/** The companies as something to choose from, and its words. */
export function useCompanyChoices() {
  const { data: items = [] } = useCompanies()
  return {
    label: 'De quais empresas',
    all: 'Todas, também as que vierem depois',
    some: 'Só as que eu escolher',
    count: (chosen: number) => formatCount(chosen, 'empresa escolhida', 'empresas escolhidas'),
    legend: 'Empresas',
    search: 'Buscar empresa por nome, CNPJ...',
    items,
    idOf: ({ id }: CompanyRow) => id,
    labelOf: ({ razaoSocial }: CompanyRow) => razaoSocial,
    matches: ({ razaoSocial, cnpj }: CompanyRow, typed: string) =>
      hasWords(razaoSocial, typed) || isPartOfCnpj(cnpj, typed),
    none: 'Nenhuma empresa cadastrada.',
    nothing: 'Nenhuma empresa com isso no nome ou no CNPJ.',
  }
}
