import { type DocumentRow, type ListOrder, listDocuments, reachMax } from '@vigia/contract/documents'
import { formatAtMoment, formatDate, formatInteger } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { Bookmark, BookmarkCheck, Columns3, Rows3, Rows4 } from 'lucide-react'
import { Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { commonCauseOf } from '../lib/capture.ts'
import { useCompanies } from '../lib/companies.ts'
import { type DocumentKind, kinds } from '../lib/kinds.ts'
import { lazyWithPreload } from '../lib/lazy.ts'
import { loadFailure, useScreenQuery } from '../lib/query.ts'
import { useMay, useShared } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { useWidth } from '../ui/hooks/narrow.ts'
import { useRowKeys } from '../ui/hooks/row-keys.ts'
import { useStable } from '../ui/hooks/stable.ts'
import { Notice, TextNotice } from '../ui/notice.tsx'
import { lazyWithTrigger } from '../ui/overlay/lazy-with-trigger.tsx'
import { Page } from '../ui/page.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { useArrivals } from './list/arrivals.ts'
import { CheckLook } from './list/check-look.tsx'
import { columns, tableMinWidth, writeHiddenColumns } from './list/columns.ts'
import { useDensity } from './list/density.ts'
import { DocumentsItems } from './list/documents-items.tsx'
import { type DocumentsListProps, DocumentsTable } from './list/documents-table.tsx'
import { EmptyList } from './list/empty-list.tsx'
import { FilterBar } from './list/filter-bar.tsx'
import { FilterLabels } from './list/filter-labels.tsx'
import {
  beginsAscending,
  type Filters,
  readFilters,
  toFilter,
  toQuery,
  toSelection,
  writeFilters,
} from './list/filters.ts'
import { ListToolbar } from './list/list-toolbar.tsx'
import { OrderChoice } from './list/order-choice.tsx'
import { OutsidePeriod } from './list/outside-period.tsx'
import { pageState, type Selection, type SelectionStep, useSelection } from './list/selection.ts'
import { useShownColumns } from './list/shown-columns.ts'
import { useHand, useSteadyPage } from './list/steady.ts'
import { WaitingDocuments } from './list/waiting-documents.tsx'
import { WholeFilter } from './list/whole-filter.tsx'
import { ManifestMenu } from './manifestation/manifest-menu.tsx'
import { isSameTask, Overlays, preloadPanel } from './overlays.tsx'
import { usePlace, useTask } from './place.tsx'
import { PrintButton } from './printed/print-button.tsx'

const ViewsDialog = lazyWithPreload(() => import('./list/views-dialog.tsx').then((module) => module.ViewsDialog))
const CheckButton = lazyWithPreload(() => import('./list/check-button.tsx').then((module) => module.CheckButton))
const SharedText = lazyWithPreload(() => import('../ui/changes.tsx').then((module) => module.SharedText))
const DoneMenu = lazyWithTrigger('menu', () => import('./list/done-menu.tsx').then((module) => module.DoneMenu))
const ColumnsMenu = lazyWithTrigger('menu', () =>
  import('./list/columns-menu.tsx').then((module) => module.ColumnsMenu),
)

const refreshMs = 5_000
const barMinWidth = 720

/** The list of each family. */
export const lists = Object.fromEntries(kinds.map((kind) => [kind.type, () => <DocumentsPage kind={kind} />]))

const suggestedBy: Partial<Record<Filters['mark'], number>> = {
  'confirmacao-sugerida': 2,
  'desconhecimento-preparado': 3,
}

function DocumentsPage({ kind }: { kind: DocumentKind }) {
  const search = useSearch(kind)
  const { filters, busy, apply } = search
  const { data: companies } = useCompanies()
  const [selection, choose] = useSelection(search.key)
  const region = useRef<HTMLDivElement>(null)
  const hand = useHand(region)
  const place = usePlace()
  // The arrows of an open panel lead along these rows.
  const isBusy = hand || selection.ids.size > 0 || place.opened !== null
  const steady = useSteadyPage(search.page, { ...search.steadying, busy: isBusy })
  const arrived = useArrivals(search.steadying.list, steady.page?.items)
  const tasks = useTask(isSameTask)
  const [naming, setNaming] = useState(false)
  useRowKeys()
  const frame = useRef<HTMLElement>(null)
  const width = useWidth(frame)
  const isTable = width >= tableMinWidth
  const [wantsCompact, setCompact] = useDensity()
  const compact = wantsCompact && isTable
  const several = (companies?.length ?? 0) > 1 && !filters.company
  // Renders the first page in small parts, because its rows would block a slow phone.
  const drawing = useDeferredValue(steady.page !== undefined)
  const page = drawing ? steady.page : undefined
  const table = useShownColumns(kind, width, page, {
    several,
    // Rows of the previous list do not count.
    list: search.query.isPlaceholderData ? '' : search.key,
    address: filters.hidden,
    onAddress: (hidden) => apply({ hidden, page: filters.page }),
  })
  const list = useList({ kind, rows: page?.items, stale: search.query.isPlaceholderData, selection, choose, place })
  const some = selection.ids.size > 0
  const mayAnswer = useMay('fiscal')
  const shared = useShared()
  // A link from an alert or a freight opens the dialog of an answer.
  const [asked, setAsked] = useState(new URLSearchParams(location.search).get('responder'))
  const linked = kind.answers.find(({ tpEvento }) => String(tpEvento) === asked)
  useEffect(() => {
    if (!page || !place.opened || !linked || !mayAnswer) return
    setAsked(null)
    tasks.start({ does: 'answer', answer: linked, kind, ids: [place.opened] })
  })
  // The answer that rules suggest for the listed documents.
  const suggested = kind.answers.find(({ code }) => code === suggestedBy[filters.mark])
  const filter = toFilter(filters, kind)
  const commonCause = commonCauseOf(companies, useNow(60_000), kind.type)
  const onOrder = (order: ListOrder) =>
    apply({ order, ascending: order === filters.order ? !filters.ascending : beginsAscending(order) })
  const bar = { kind, filters, companies: companies ?? [], onChange: apply }
  const filterBar = (
    <FilterBar
      {...bar}
      narrow={compact || width < barMinWidth}
      compact={compact}
      busy={busy}
      knowsMore={page && page.totalDeItens !== undefined}
      onSearch={search.ask}
    />
  )
  const toolbar = (
    <ListToolbar
      kind={kind}
      compact={compact}
      total={page}
      loading={!page && !search.query.error}
      selectedCount={selection.ids.size}
      wholeFilter={
        list.ticked === 'all' && (
          <WholeFilter
            key={search.key}
            kind={kind}
            count={page?.totalDeItens ?? 0}
            selectedCount={selection.ids.size}
            filter={toSelection(filters, kind)}
            onFound={(ids) => choose({ do: 'all', ids })}
          />
        )
      }
      onClear={() => choose({ do: 'clear' })}
      onExport={() => tasks.start({ does: 'export' })}
      printButton={
        <PrintButton
          bare={compact}
          documents={some ? { idsDFe: [...selection.ids] } : { filtro: filter }}
          disabled={!page || page.totalDeItens === 0}
        />
      }
      columnsMenu={
        <>
          {!compact && width >= barMinWidth && (
            <div className="w-52 pointer-fine:[&_select]:h-8">
              <OrderChoice id="list-order" filters={filters} onChange={apply} />
            </div>
          )}
          <Button
            variant="ghost"
            size="sm"
            className="@max-[560px]/list:hidden"
            aria-label="Visões"
            aria-haspopup="dialog"
            title="Visões: guardar este filtro com um nome"
            onClick={() => setNaming(true)}
          >
            <Bookmark aria-hidden className="size-4" />
          </Button>
          {isTable && (
            <>
              <Button
                variant="ghost"
                size="sm"
                aria-label="Linhas compactas"
                aria-pressed={compact}
                title={compact ? 'Linhas mais altas' : 'Linhas compactas'}
                onClick={() => setCompact(!compact)}
              >
                {compact ? <Rows3 aria-hidden className="size-4" /> : <Rows4 aria-hidden className="size-4" />}
              </Button>
              <ColumnsMenu
                columns={columns}
                hidden={table.hidden}
                onChange={table.onChange}
                trigger={
                  <Button variant="ghost" size="sm" aria-label="Escolher colunas" title="Escolher colunas">
                    <Columns3 aria-hidden className="size-4" />
                  </Button>
                }
              />
            </>
          )}
        </>
      }
      answers={
        <>
          {some && mayAnswer && (
            <fieldset disabled={shared} className="contents">
              <Suspense fallback={<CheckLook bare={compact} disabled />}>
                <CheckButton bare={compact} ids={selection.ids} onDone={() => choose({ do: 'clear' })} />
              </Suspense>
              <DoneMenu
                kind={kind}
                ids={selection.ids}
                onDone={() => choose({ do: 'clear' })}
                trigger={
                  <Button
                    variant="outline"
                    size="sm"
                    aria-label="Outras marcas"
                    title={`Lançad${kind.ending}s, entregues e tirar marcas`}
                  >
                    <BookmarkCheck aria-hidden className="size-4" />
                  </Button>
                }
              />
            </fieldset>
          )}
          {some && mayAnswer && suggested && (
            <Button
              size="sm"
              onClick={() => tasks.start({ does: 'answer', answer: suggested, kind, ids: [...selection.ids] })}
            >
              {suggested.label}
            </Button>
          )}
          <ManifestMenu
            inline
            kind={kind}
            ready={some}
            onChoose={(answer) => tasks.start({ does: 'answer', answer, kind, ids: [...selection.ids] })}
          />
        </>
      }
    />
  )
  // Above the list they would take the place of a row.
  const labelsInHeader = compact && width >= oneRowMinWidth
  const notes = (
    <>
      {!labelsInHeader && <FilterLabels {...bar} />}
      {commonCause && (
        <div className="py-2">
          <TextNotice tone="warning" text={commonCause} />
        </div>
      )}
      {page?.contadosDesde && (
        <p role="status" className="mt-1 text-muted">
          Mais de {formatInteger(reachMax)} documentos têm o que você procura: lista, total e soma são dos emitidos
          desde {formatDate(page.contadosDesde)}. Para ver os mais antigos, escolha um período.
        </p>
      )}
      <OutsidePeriod {...bar} />
      {some && mayAnswer && shared && (
        <Suspense>
          <SharedText />
        </Suspense>
      )}
    </>
  )
  return (
    <Page
      title={kind.title}
      site={productName}
      subtitle={kind.subtitle}
      compact={compact}
      beside={labelsInHeader && <FilterLabels {...bar} inRow />}
    >
      <section ref={frame} aria-labelledby="list-heading" className="@container/list" onPointerEnter={preloadPanel}>
        {compact ? (
          <>
            <div className={compactBarClass}>
              {!some && filterBar}
              {toolbar}
            </div>
            {notes}
          </>
        ) : (
          <>
            <div className={clsx('-mt-2 bg-paper py-2', !some && stickyBarClass)}>{filterBar}</div>
            {notes}
            {toolbar}
          </>
        )}
        <div
          ref={region}
          tabIndex={-1}
          className={clsx(
            'ledger outline-none transition-opacity duration-150',
            compact ? compactTopClass : some ? '[--list-top:96px]' : listTopClass,
            search.query.isPlaceholderData && 'opacity-60',
          )}
        >
          <p hidden id="row-keys">
            As setas levam de um documento a outro e, na linha, a selecionar, copiar a chave e visualizar.
          </p>
          <WaitingDocuments
            kind={kind}
            count={steady.waiting}
            onShow={() => {
              steady.show()
              window.scrollTo(0, 0)
              region.current?.focus({ preventScroll: true })
            }}
          />
          <ListProblem query={search.query} busy={busy} onRetry={() => search.ask({})} />
          {page?.items.length === 0 ? (
            <EmptyList
              {...bar}
              companies={companies}
              pageCount={page.totalDePaginas}
              counted={page.totalDeItens !== undefined}
            />
          ) : (
            (page || !search.query.error) && (
              <DocumentsList
                {...list}
                narrow={!isTable}
                compact={compact}
                columns={table.columns}
                arrived={filters.page === 1 ? arrived : nothing}
                order={filters.order}
                ascending={filters.ascending}
                onOrder={onOrder}
              />
            )
          )}
        </div>
        {page && (
          <Pagination page={filters.page} pageCount={page.totalDePaginas} onPage={(next) => apply({ page: next })} />
        )}
      </section>
      <Overlays
        kind={kind}
        place={place}
        rows={page?.items}
        filter={filter}
        filterCount={page?.totalDeItens ?? 0}
        selected={selection.ids}
        tasks={tasks}
        // An answer from the panel of another document leaves the selection alone.
        onSent={(ids) => ids.some((id) => selection.ids.has(id)) && choose({ do: 'clear' })}
        onSelectAgain={(ids) => choose({ do: 'all', ids })}
      />
      <Suspense fallback={null}>
        {naming && (
          <ViewsDialog
            kind={kind}
            address={addressOf({ ...filters, hidden: writeHiddenColumns(table.hidden) })}
            onClose={() => setNaming(false)}
          />
        )}
      </Suspense>
    </Page>
  )
}

function DocumentsList({ narrow, ...list }: DocumentsListProps & { narrow: boolean }) {
  return narrow ? <DocumentsItems {...list} /> : <DocumentsTable {...list} />
}

const nothing: ReadonlySet<string> = new Set()

// Filters are sticky if they fit in one row; with a selection the toolbar is sticky instead.
const stickyBarClass =
  '[@media(height>=640px)]:@[1240px]/list:sticky [@media(height>=640px)]:@[1240px]/list:top-12 [@media(height>=640px)]:@[1240px]/list:z-20'
const listTopClass = '[--list-top:48px] [@media(height>=640px)]:@[1240px]/list:[--list-top:120px]'

// In one row, where they fit, both are sticky.
const oneRowMinWidth = 940
const compactBarClass =
  'flex flex-wrap items-center gap-x-4 gap-y-1 bg-paper py-1 @[940px]/list:sticky @[940px]/list:top-12 @[940px]/list:z-20'
const compactTopClass = '[--list-top:48px] @[940px]/list:[--list-top:88px]'

// Kept in the address: going back, reloading and sharing show the same list.
function useFilters(kind: DocumentKind) {
  const [params, setParams] = useSearchParams()
  const today = new Date()
  const filters = readFilters(params, kind, today)
  /** Returns whether the filter has changed. */
  const apply = (part: Partial<Filters>): boolean => {
    // Reads the address, because the rendered filter may miss the first of two quick choices.
    const latest = readFilters(new URLSearchParams(location.search), kind, today)
    const next = writeFilters({ ...latest, page: 1, ...part }, today)
    if (next.toString() === writeFilters(latest, today).toString()) return false
    setParams(next, { replace: part.hidden !== undefined })
    if (part.page) window.scrollTo(0, 0)
    return true
  }
  return { filters, key: addressOf({ ...filters, hidden: '' }), apply }
}

const addressOf = (filters: Filters) => writeFilters({ ...filters, page: 1 }, new Date()).toString()

function useSearch(kind: DocumentKind) {
  const { filters, key, apply } = useFilters(kind)
  const input = { query: toQuery(filters, kind) }
  const query = useScreenQuery(listDocuments, input, { refreshMs, errorToast: true })
  const [asked, setAsked] = useState(false)
  const [askedAt, setAskedAt] = useState(0)
  return {
    filters,
    key,
    apply,
    query,
    page: query.data,
    steadying: {
      list: query.isPlaceholderData ? '' : JSON.stringify(input),
      updatedAt: query.dataUpdatedAt,
      askedAt,
      isFirst: filters.page === 1,
    },
    busy: query.isPending || query.isPlaceholderData || asked,
    /** Searches again, also with the same filter. */
    ask: (part: Partial<Filters>) => {
      // A new filter is queried by itself.
      if (apply(part)) return
      setAsked(true)
      setAskedAt(Date.now())
      void query.refetch().finally(() => setAsked(false))
    },
  }
}

interface ListParts {
  kind: DocumentKind
  rows: readonly DocumentRow[] | undefined
  stale: boolean
  selection: Selection
  choose: (step: SelectionStep) => void
  place: ReturnType<typeof usePlace>
}

function useList({ kind, rows, stale, selection, choose, place }: ListParts) {
  const page = useMemo(() => rows?.map(({ idDfe }) => idDfe) ?? [], [rows])
  return {
    kind,
    rows,
    stale,
    selected: selection.ids,
    ticked: pageState(selection.ids, page),
    now: useNow(60_000),
    onSelect: useStable((id: string, on: boolean, range: boolean) => choose({ do: 'toggle', id, on, range, page })),
    onSelectPage: (on: boolean) => choose({ do: 'page', page, on }),
    onOpen: useStable(place.open),
    onView: useStable((row: DocumentRow) => place.view({ ...row, list: kind.type })),
  }
}

interface ProblemProps {
  query: { data: unknown; error: Error | null; dataUpdatedAt: number }
  busy: boolean
  onRetry: () => void
}

function ListProblem({ query: { data, error, dataUpdatedAt }, busy, onRetry }: ProblemProps) {
  if (!error) return null
  const title = loadFailure(error)
  if (data !== undefined) {
    return (
      <div className="py-3">
        <Notice tone="warning" title={title}>
          Abaixo está o que recebemos {formatAtMoment(new Date(dataUpdatedAt).toISOString(), new Date())}.
        </Notice>
      </div>
    )
  }
  const retry = (
    <Button variant="outline" size="sm" onClick={onRetry} busy={busy}>
      Tentar novamente
    </Button>
  )
  return (
    <div className="py-6">
      <Notice tone="error" title={title} action={retry}>
        Os documentos já recebidos continuam guardados.
      </Notice>
    </div>
  )
}
