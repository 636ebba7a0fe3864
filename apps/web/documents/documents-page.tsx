import { listCompanies } from '@vigia/contract/companies'
import { type DocumentRow, listDocuments } from '@vigia/contract/documents'
import { clsx } from 'clsx'
import { useRef, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { errorMessage } from '../lib/api.ts'
import { formatCount, formatMoney, formatTime } from '../lib/format.ts'
import { productName } from '../lib/product.ts'
import { useRoute } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { useNarrow } from '../ui/narrow.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { useArrivals } from './arrivals.ts'
import { DocumentViewer } from './document-viewer.tsx'
import { DocumentsItems, DocumentsTable } from './documents-list.tsx'
import { EmptyList } from './empty-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FilterLabels } from './filter-labels.tsx'
import { type Filters, readFilters, toQuery, writeFilters } from './filters.ts'
import { cte, type DocumentKind, nfe } from './kinds.ts'

const refreshMs = 5_000

export function NfePage() {
  return <DocumentsPage kind={nfe} />
}

export function CtePage() {
  return <DocumentsPage kind={cte} />
}

function DocumentsPage({ kind }: { kind: DocumentKind }) {
  const frame = useRef<HTMLElement>(null)
  const narrow = useNarrow(frame, 720)
  const { filters, apply } = useFilters(kind)
  const query = { query: toQuery(filters, kind) }
  const documents = useRoute(listDocuments, query, { refreshMs })
  const companies = useRoute(listCompanies, { query: {} }, { refreshMs: 10_000 })
  const [asked, setAsked] = useState(false)
  const viewing = useViewing()
  const page = documents.data
  const arrived = useArrivals(JSON.stringify(query), documents.isPlaceholderData ? undefined : page?.items)
  const busy = documents.isPending || documents.isPlaceholderData || asked
  const search = (part: Partial<Filters>) => {
    // A new filter is a new question, asked by itself.
    if (apply(part)) return
    setAsked(true)
    void documents.refetch().finally(() => setAsked(false))
  }
  const List = narrow ? DocumentsItems : DocumentsTable
  return (
    <Page title={kind.title} site={productName} subtitle={kind.subtitle}>
      <section ref={frame} aria-labelledby="list-heading" className="@container/list">
        <div className={barClass}>
          <FilterBar
            kind={kind}
            companies={companies.data ?? []}
            filters={filters}
            narrow={narrow}
            busy={busy}
            onChange={apply}
            onSearch={search}
          />
        </div>
        <div className="mt-3 flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-1.5 pb-2">
          <h2 id="list-heading" className="text-lg">
            {kind.heading}
          </h2>
          <FilterLabels kind={kind} companies={companies.data ?? []} filters={filters} onChange={apply} />
          <p
            aria-live="polite"
            className="ml-auto text-muted tabular-nums @max-[720px]/list:ml-0 @max-[720px]/list:w-full"
          >
            {documents.isPending && 'Carregando documentos...'}
            {page && page.totalDeItens > 0 && (
              <>
                {formatCount(page.totalDeItens, kind.one, kind.many)} ·{' '}
                <span className="font-semibold text-ink">{formatMoney(page.valorTotal)}</span>
              </>
            )}
          </p>
        </div>
        {documents.error && page && (
          <div className="pb-3">
            <Notice tone="warning" title={`Erro ao carregar dados: ${errorMessage(documents.error)}`}>
              Abaixo está o que recebemos às {formatTime(new Date(documents.dataUpdatedAt).toISOString())}.
            </Notice>
          </div>
        )}
        <div className={clsx(ledgerClass, documents.isPlaceholderData && 'opacity-60')}>
          {documents.error && !page ? (
            <div className="py-6">
              <Notice
                tone="error"
                title={`Erro ao carregar dados: ${errorMessage(documents.error)}`}
                action={
                  <Button variant="outline" size="sm" onClick={() => search({})} busy={asked}>
                    Tentar novamente
                  </Button>
                }
              >
                Os documentos já recebidos continuam guardados.
              </Notice>
            </div>
          ) : page?.items.length === 0 ? (
            <EmptyList
              kind={kind}
              filters={filters}
              companies={companies.data}
              pageCount={page.totalDePaginas}
              onChange={apply}
            />
          ) : (
            <List
              kind={kind}
              rows={page?.items}
              arrived={filters.page === 1 ? arrived : nothing}
              onView={viewing.open}
            />
          )}
        </div>
        {page && (
          <Pagination page={filters.page} pageCount={page.totalDePaginas} onPage={(next) => apply({ page: next })} />
        )}
      </section>
      <DocumentViewer kind={kind} row={viewing.row} onClose={viewing.close} />
    </Page>
  )
}

const nothing: ReadonlySet<string> = new Set()

// The filters stay in sight where they fit in one row, and the head of the table stops under them.
const barClass =
  '-mt-2 bg-paper py-2 [@media(height>=640px)]:@[940px]/list:sticky [@media(height>=640px)]:@[940px]/list:top-12 [@media(height>=640px)]:@[940px]/list:z-20'
const ledgerClass =
  'ledger transition-opacity duration-150 [--list-top:48px] [@media(height>=640px)]:@[940px]/list:[--list-top:120px]'

// The filter lives in the address, so that going back, reloading and sharing bring the same list.
function useFilters(kind: DocumentKind) {
  const [params, setParams] = useSearchParams()
  const today = new Date()
  const filters = readFilters(params, kind, today)
  /** Whether that is another filter than before. */
  const apply = (part: Partial<Filters>): boolean => {
    const next = writeFilters({ ...filters, page: 1, ...part }, today)
    if (next.toString() === writeFilters(filters, today).toString()) return false
    setParams(next)
    if (part.page) window.scrollTo(0, 0)
    return true
  }
  return { filters, apply }
}

// The opened document is an entry of the history: the back button of a phone closes it and nothing else.
function useViewing() {
  const location = useLocation()
  const navigate = useNavigate()
  const state: { viewing?: DocumentRow } | null = location.state
  return {
    row: state?.viewing,
    open: (row: DocumentRow) => navigate(location.pathname + location.search, { state: { viewing: row } }),
    close: () => navigate(-1),
  }
}
