import { clsx } from 'clsx'
import { useNamesakeCnpj } from '../lib/companies.ts'

interface CompanyNameProps {
  id: string | null | undefined
  name: string
  /** The name may be cut to fit into so many lines; the CNPJ never is. */
  lines?: 1 | 2
}

/** The name of a company, with its CNPJ where another one has the same name. */
export function CompanyName({ id, name, lines }: CompanyNameProps) {
  const cnpj = useNamesakeCnpj(id)
  if (!cnpj) return name
  if (!lines)
    return (
      <>
        {name} <span className="whitespace-nowrap tabular-nums">({cnpj})</span>
      </>
    )
  return (
    <span className={clsx('flex', lines === 1 && 'gap-x-0.5', lines === 2 && 'flex-wrap')}>
      <span className="min-w-0 truncate">{name}</span>
      <span className="shrink-0 tabular-nums">{cnpj}</span>
    </span>
  )
}
