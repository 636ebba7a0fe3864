import { formatCount } from '@vigia/contract/text'
import { useCompanies } from '../lib/companies.ts'
import { hasWords, isPartOfCnpj } from '../lib/matching.ts'
import { Field } from '../ui/form/field.tsx'
import { SearchedChoices } from '../ui/form/searched-choices.tsx'
import { Select } from '../ui/form/select.tsx'

interface CompanyChoicesProps {
  /** Null: all. */
  chosen: readonly string[] | null
  onChange: (chosen: readonly string[] | null) => void
  error: string | undefined
}

/** All companies, or several of them, which an office has hundreds of. */
export function CompanyChoices({ chosen, onChange, error }: CompanyChoicesProps) {
  const { data: companies = [] } = useCompanies()
  return (
    <>
      <Field label="De quais empresas" error={chosen === null ? undefined : error}>
        {(control) => (
          <Select
            {...control}
            value={chosen === null ? 'todas' : 'escolhidas'}
            onChange={({ target }) => onChange(target.value === 'todas' ? null : [])}
          >
            <option value="todas">Todas, também as que vierem depois</option>
            <option value="escolhidas">Só as que eu escolher</option>
          </Select>
        )}
      </Field>
      {chosen && (
        <>
          <SearchedChoices
            legend="Empresas"
            search="Buscar empresa por nome, CNPJ..."
            items={companies}
            idOf={({ id }) => id}
            labelOf={({ razaoSocial }) => razaoSocial}
            matches={({ razaoSocial, cnpj }, typed) => hasWords(razaoSocial, typed) || isPartOfCnpj(cnpj, typed)}
            chosen={chosen}
            onChange={onChange}
            none="Nenhuma empresa cadastrada."
            nothing="Nenhuma empresa com isso no nome ou no CNPJ."
          />
          <p role="status" className="text-muted text-sm">
            {formatCount(chosen.length, 'empresa escolhida', 'empresas escolhidas')}
          </p>
        </>
      )}
    </>
  )
}
