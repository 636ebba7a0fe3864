import type { CompanyRow } from '@vigia/contract/companies'
import { listDocuments } from '@vigia/contract/documents'
import { formatCount } from '@vigia/contract/text'
import { FileSearch, Hourglass, Inbox } from 'lucide-react'
import { Link } from 'react-router'
import type { DocumentKind } from '../../lib/kinds.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { lastDays } from '../../ui/period/days.ts'
import { defaultFilters, type Filters, isCurrentMonth, isNarrowed, toQuery } from './filters.ts'
import { foundText } from './found.ts'

interface EmptyListProps {
  kind: DocumentKind
  filters: Filters
  companies: readonly CompanyRow[] | undefined
  pageCount: number
  /** Whether responses contain the number of documents found. */
  counted: boolean
  onChange: (part: Partial<Filters>) => void
}

/** Says why the list is empty, whether that is all right, and what would show documents. */
export function EmptyList({ kind, filters, companies, pageCount, counted, onChange }: EmptyListProps) {
  const today = new Date()
  const chosen = isNarrowed(filters)
  // The current month has no label: a search must still learn that the note is of another one.
  const wider: Filters = chosen
    ? { ...filters, period: null, page: 1 }
    : { ...filters, period: lastDays(today, 89), page: 1 }
  const others = useScreenQuery(listDocuments, { query: toQuery(wider, kind) }, { enabled: counted })
  const found = others.isPlaceholderData ? undefined : others.data
  const all = found?.totalDeItens ? foundText(found, kind) : null
  const when = filters.period && isCurrentMonth(filters.period, today) ? 'neste mês' : 'neste período'
  if (filters.page > 1 && pageCount > 0) {
    return (
      <Empty
        icon={<FileSearch />}
        title="Esta página não existe mais"
        action={<Button onClick={() => onChange({ page: 1 })}>Ir para a primeira página</Button>}
      >
        O filtro tem {formatCount(pageCount, 'página', 'páginas')}.
      </Empty>
    )
  }
  if (companies?.length === 0) {
    return (
      <Empty
        icon={<Inbox />}
        title={`${kind.none} por enquanto`}
        action={
          <Link to="/empresas/nova" className={buttonClass()}>
            Cadastrar empresa
          </Link>
        }
      >
        Os documentos chegam sozinhos depois que você cadastra a primeira empresa com o certificado digital dela.
      </Empty>
    )
  }
  if (chosen && filters.period && all) {
    return (
      <Empty
        icon={<FileSearch />}
        title={`${kind.none} com estes filtros ${when}`}
        action={<Button onClick={() => onChange(wider)}>Ver {all} de qualquer data</Button>}
      >
        Há {all} com os mesmos filtros em outras datas.
      </Empty>
    )
  }
  if (chosen) {
    return (
      <Empty
        icon={<FileSearch />}
        title={`${kind.none} com estes filtros`}
        action={<Button onClick={() => onChange(defaultFilters(today))}>Limpar filtros</Button>}
      >
        {filters.search
          ? 'A pesquisa acha palavras em qualquer ordem: partes do nome do emitente ou da empresa, o número, o valor (16.471,02 ou >10000), a data (15/10), o CNPJ e a chave ou parte dela. Cada palavra tem de estar no documento: confira o que foi escrito, ou remova um dos filtros acima.'
          : 'Remova um dos filtros acima para ver mais.'}
      </Empty>
    )
  }
  return (
    <Empty
      icon={<Hourglass />}
      title={`${kind.none} ${when}`}
      action={all && <Button onClick={() => onChange(wider)}>Ver {all} dos últimos 90 dias</Button>}
    >
      {all
        ? `Há ${all} nos últimos 90 dias.`
        : 'A SEFAZ é consultada no máximo uma vez por hora, e um documento pode levar algumas horas da emissão até a entrega. O que chegar aparece aqui sozinho.'}
    </Empty>
  )
}
