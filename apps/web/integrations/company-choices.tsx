import { formatCount } from '@vigia/contract/text'
import { Search } from 'lucide-react'
import { useId, useState } from 'react'
import { useCompanies } from '../lib/companies.ts'
import { hasWords, isPartOfCnpj } from '../lib/matching.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Input } from '../ui/form/input.tsx'
import { toggle } from './form.tsx'

interface CompanyChoicesProps {
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
}

// Nobody scrolls through more; a letter more finds the others.
const shownMax = 50

/** Several of the companies, which an office has hundreds of. */
export function CompanyChoices({ chosen, onChange }: CompanyChoicesProps) {
  const { data: companies = [] } = useCompanies()
  const [typed, setTyped] = useState('')
  const id = useId()
  const found = companies.filter(({ razaoSocial, cnpj }) => hasWords(razaoSocial, typed) || isPartOfCnpj(cnpj, typed))
  const rest = found.length - shownMax
  return (
    <div className="grid gap-2">
      <div className="relative">
        <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
        <Input
          type="search"
          aria-label="Buscar empresa por nome, CNPJ..."
          placeholder="Buscar por nome, CNPJ..."
          aria-controls={id}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={typed}
          className="pl-8.5"
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={(event) => {
            // It would send the form.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
      </div>
      <fieldset id={id} className="max-h-48 overflow-y-auto rounded-control border border-line px-3 py-1.5">
        <legend className="sr-only">Empresas</legend>
        {found.slice(0, shownMax).map(({ id, razaoSocial }) => (
          <Checkbox
            key={id}
            label={<span className="min-w-0 break-words">{razaoSocial}</span>}
            checked={chosen.includes(id)}
            onChange={({ target }) => onChange(toggle(chosen, id, target.checked))}
          />
        ))}
        {found.length === 0 && (
          <p className="py-1 text-muted">
            {companies.length === 0 ? 'Nenhuma empresa cadastrada.' : 'Nenhuma empresa com isso no nome ou no CNPJ.'}
          </p>
        )}
        {rest > 0 && <p className="py-1 text-muted">E mais {rest}: busque pelo nome.</p>}
      </fieldset>
      <p role="status" className="text-muted text-sm">
        {formatCount(chosen.length, 'empresa escolhida', 'empresas escolhidas')}
      </p>
    </div>
  )
}
