import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { useDisconnectedSince } from './connection.ts'
import { bareCnpj, hasWords, isPartOfCnpj, plain } from './matching.ts'
import { useScreenQuery } from './query.ts'

/** Refresh interval by number of companies, because thousands are megabytes. */
export function companiesRefreshMs(companies: readonly CompanyRow[] | undefined): number {
  return companies && companies.length > 500 ? 60_000 : 10_000
}

/** All companies of the workspace. */
export function useCompanies({ errorToast = false }: { errorToast?: boolean } = {}) {
  return useScreenQuery(listCompanies, { query: {} }, { refreshMs: companiesRefreshMs, errorToast })
}

/** The companies, unless the server is down or the last refresh failed: captures may be stale. */
export function useWatchedCompanies() {
  const { data, error } = useCompanies()
  const away = useDisconnectedSince() !== null
  const lost = away || error !== null
  return { known: lost ? undefined : data, lost }
}

type Named = Pick<CompanyRow, 'id' | 'razaoSocial' | 'cnpj'>

const namesakes = new WeakMap<readonly Named[], ReadonlyMap<string, string>>()

// The CNPJ of each company that shares its name with another, by id.
function namesakesOf(companies: readonly Named[]): ReadonlyMap<string, string> {
  const known = namesakes.get(companies)
  if (known) return known
  const counts = new Map<string, number>()
  const key = ({ razaoSocial }: Named) => plain(razaoSocial).trim()
  for (const company of companies) counts.set(key(company), (counts.get(key(company)) ?? 0) + 1)
  const found = new Map(
    companies
      .filter((company) => counts.get(key(company))! > 1)
      .map(({ id, cnpj }) => [id, formatCnpj(bareCnpj(cnpj))]),
  )
  namesakes.set(companies, found)
  return found
}

/** A company as text; its CNPJ is added where another one has the same name. */
export function companyText(
  { id, razaoSocial }: { id: string | null | undefined; razaoSocial: string },
  among: readonly Named[],
): string {
  const cnpj = !id ? undefined : namesakesOf(among).get(id)
  return cnpj ? `${razaoSocial} (${cnpj})` : razaoSocial
}

/** The companies as the options of a select. */
export const companyOptions = (companies: readonly Named[]) =>
  companies.map((company) => [company.id, companyText(company, companies)] as const)

const none: readonly CompanyRow[] = []

// Reads the list that the menu keeps, because a row must not ask for it.
const useKnownCompanies = () => useScreenQuery(listCompanies, { query: {} }, { enabled: false }).data ?? none

/** `companyText` among all companies of the workspace. */
export function useCompanyText() {
  const companies = useKnownCompanies()
  return (id: string | null | undefined, razaoSocial: string) => companyText({ id, razaoSocial }, companies)
}

/** The CNPJ of a company, if another one has the same name. */
export function useNamesakeCnpj(id: string | null | undefined): string | undefined {
  const companies = useKnownCompanies()
  return !id ? undefined : namesakesOf(companies).get(id)
}

/** Choices of companies. Always shows the CNPJ, because a choice here gives access. */
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
    labelOf: ({ razaoSocial, cnpj }: CompanyRow) => `${razaoSocial} (${formatCnpj(bareCnpj(cnpj))})`,
    matches: ({ razaoSocial, cnpj }: CompanyRow, typed: string) =>
      hasWords(razaoSocial, typed) || isPartOfCnpj(cnpj, typed),
    none: 'Nenhuma empresa cadastrada.',
    nothing: 'Nenhuma empresa com isso no nome ou no CNPJ.',
  }
}
