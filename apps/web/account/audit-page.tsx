import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { formatCount } from '@vigia/contract/text'
import { auditActions, exportAudit, listAudit } from '@vigia/contract/workspace'
import { clsx } from 'clsx'
import { Download, FileSearch, ScrollText, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { call, errorMessage, usualMessage } from '../lib/api.ts'
import { notifyInfo } from '../lib/notify.ts'
import { dataOf, useAction } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/form/input.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { Select } from '../ui/form/select.tsx'
import { useNarrow } from '../ui/hooks/narrow.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { DateRangePicker } from '../ui/period/date-range-picker.tsx'
import { startDownload } from '../ui/save-file.ts'
import {
  type AuditFilters,
  actionNames,
  offeredActions,
  readAuditFilters,
  toAuditQuery,
  writeAuditFilters,
} from './audit-filter.ts'
import { AuditItems, AuditTable } from './audit-list.tsx'

const noFilters: AuditFilters = { search: '', action: '', period: null, page: 1 }

export function AuditPage() {
  const frame = useRef<HTMLElement>(null)
  const narrow = useNarrow(frame, 760)
  const [params, setParams] = useSearchParams()
  const filters = readAuditFilters(params)
  const audit = useAudit(filters)
  const { data, error } = audit
  const apply = (part: Partial<AuditFilters>) => {
    setParams(writeAuditFilters({ ...filters, page: 1, ...part }))
    if (part.page) window.scrollTo(0, 0)
  }
  const List = narrow ? AuditItems : AuditTable
  return (
    <Page
      title="Auditoria"
      site={productName}
      subtitle="Quem fez o quê, quando e de onde. Nada daqui pode ser mudado ou apagado."
      action={<ExportButton />}
    >
      <section ref={frame} aria-label="Registros">
        <AuditFilterBar filters={filters} onApply={apply} />
        <p role="status" className="sr-only">
          {audit.isPending && 'Carregando registros...'}
        </p>
        {data?.note && (
          <div className="mt-4">
            <Notice tone="info" title={data.note} />
          </div>
        )}
        {error && (
          <div className="mt-4">
            <Notice
              tone="error"
              title={`Erro ao carregar dados: ${errorMessage(error)}`}
              action={
                <Button variant="outline" size="sm" busy={audit.isFetching} onClick={() => void audit.refetch()}>
                  Tentar novamente
                </Button>
              }
            >
              Os registros continuam guardados.
            </Notice>
          </div>
        )}
        {(data || !error) && (
          <div className={clsx('ledger mt-5 transition-opacity duration-150', audit.isPlaceholderData && 'opacity-60')}>
            {data?.items.length === 0 ? (
              <NoEntries filters={filters} pageCount={data.totalDePaginas} onApply={apply} />
            ) : (
              <List rows={data?.items} />
            )}
          </div>
        )}
        {data && <Pagination page={filters.page} pageCount={data.totalDePaginas} onPage={(page) => apply({ page })} />}
      </section>
    </Page>
  )
}

function ExportButton() {
  const download = useAction(exportAudit, {
    onSuccess: ({ data }) => {
      if (!data) return
      startDownload(data.endereco, data.nome)
      notifyInfo('O download da auditoria começou.', {
        description: 'São todos os registros, também os que o filtro não mostra.',
      })
    },
  })
  return (
    <Button variant="outline" busy={download.isPending} onClick={() => download.mutate({})}>
      <Download aria-hidden className="size-4" />
      Exportar tudo em CSV
    </Button>
  )
}

// The message of the response says when older audit entries were not searched.
function useAudit(filters: AuditFilters) {
  const query = toAuditQuery(filters)
  return useQuery({
    queryKey: [listAudit.path, query],
    queryFn: async ({ signal }) => {
      const envelope = await call(listAudit, { query }, { signal })
      return { ...dataOf(envelope), note: envelope.message === usualMessage ? null : envelope.message }
    },
    placeholderData: keepPreviousData,
  })
}

interface AuditFilterBarProps {
  filters: AuditFilters
  onApply: (part: Partial<AuditFilters>) => void
}

function AuditFilterBar({ filters, onApply }: AuditFilterBarProps) {
  const [text, setText] = useState(filters.search)
  const applied = useRef(filters.search)
  // Follows the filter in the address, but keeps the text while the person types.
  useEffect(() => {
    if (filters.search === applied.current) return
    applied.current = filters.search
    setText(filters.search)
  }, [filters.search])
  const apply = (part: Partial<AuditFilters>) => {
    applied.current = text.trim()
    onApply({ search: text.trim(), ...part })
  }
  return (
    <form
      aria-label="Filtrar registros"
      className="grid gap-2.5 sm:grid-cols-2 lg:grid-cols-[minmax(0,1fr)_13rem_14rem_auto]"
      onSubmit={(event) => {
        event.preventDefault()
        apply({})
      }}
    >
      <Labelled id="audit-search" label="Pesquisar">
        <div className="relative">
          <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
          <Input
            id="audit-search"
            type="search"
            value={text}
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            placeholder="Pessoa, empresa, CNPJ…"
            className="pl-8.5"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      </Labelled>
      <Labelled id="audit-action" label="Ação">
        <Select
          id="audit-action"
          value={filters.action}
          onChange={({ target }) => {
            const action = auditActions.find((one) => one === target.value) ?? ''
            apply({ action })
          }}
        >
          <option value="">Todas</option>
          {offeredActions.map((action) => (
            <option key={action} value={action}>
              {actionNames[action]}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id="audit-period" label="Período">
        <DateRangePicker id="audit-period" value={filters.period} onChange={(period) => apply({ period })} />
      </Labelled>
      <Button type="submit" className="self-end">
        Buscar
      </Button>
    </form>
  )
}

interface NoEntriesProps extends AuditFilterBarProps {
  pageCount: number
}

function NoEntries({ filters, pageCount, onApply }: NoEntriesProps) {
  if (pageCount > 0)
    return (
      <Empty
        icon={<FileSearch />}
        title="Esta página não existe mais"
        action={<Button onClick={() => onApply({ page: 1 })}>Ir para a primeira página</Button>}
      >
        O filtro tem {formatCount(pageCount, 'página', 'páginas')}.
      </Empty>
    )
  if (filters.search || filters.action || filters.period)
    return (
      <Empty
        icon={<FileSearch />}
        title="Nenhum registro com estes filtros"
        action={<Button onClick={() => onApply(noFilters)}>Limpar filtros</Button>}
      >
        A busca olha a descrição e o nome da pessoa, sem diferenciar acentos.
      </Empty>
    )
  return (
    <Empty icon={<ScrollText />} title="Nenhum registro ainda">
      Entradas, mudanças em empresas, certificados e manifestações aparecem aqui quando acontecem.
    </Empty>
  )
}
