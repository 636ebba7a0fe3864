import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { Building2, Check, Plus, Search } from 'lucide-react'
import { type DragEvent, useMemo, useRef, useState } from 'react'
import { Link, NavigationType, useLocation, useNavigate, useNavigationType, useSearchParams } from 'react-router'
import { commonCauseOf } from '../lib/capture.ts'
import { companiesRefreshMs, useCompanies } from '../lib/companies.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/form/input.tsx'
import { Select } from '../ui/form/select.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { useDebounced } from '../ui/hooks/debounce.ts'
import { useNarrow } from '../ui/hooks/narrow.ts'
import { useRowKeys } from '../ui/hooks/row-keys.ts'
import { Notice, TextNotice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { BulkSyncButton, BulkSyncResult, useBulkSync } from './bulk-sync.tsx'
import { CompaniesItems, CompaniesTable, SelectAll } from './companies-list.tsx'
import {
  arrange,
  companiesList,
  countOf,
  isOffered,
  monitoringOf,
  type Narrowing,
  narrowings,
  orders,
  percentText,
  readView,
  type View,
} from './work-list.ts'

// A window of 768 pixels has it.
const tableMinWidth = 640

export function CompaniesPage() {
  const frame = useRef<HTMLElement>(null)
  const narrow = useNarrow(frame, tableMinWidth)
  const now = useNow()
  const mayManage = useMay('administrador')
  const mayChange = useMay('fiscal')
  useRowKeys()
  const { text, busca, view, search, choose } = useAddress()
  const all = useCompanies({ errorToast: true })
  const found = useScreenQuery(
    listCompanies,
    { query: { busca } },
    { refreshMs: companiesRefreshMs, enabled: busca !== '' },
  )
  const list = busca === '' ? all : found
  const { order, narrowing } = view
  const shown = useMemo(
    () => list.data && arrange(list.data, { order, narrowing }, now),
    [list.data, order, narrowing, now],
  )
  const selection = useCompanySelection(shown)
  const bulk = useBulkSync()
  const commonCause = commonCauseOf(all.data, now)
  const List = narrow ? CompaniesItems : CompaniesTable
  const { over, ...drop } = useDroppedCertificates()
  return (
    <Page
      title="Empresas"
      site={productName}
      subtitle="Cada empresa é consultada na SEFAZ com o certificado digital dela."
      action={
        mayManage && (
          <Link to="/empresas/nova" className={buttonClass()}>
            <Plus aria-hidden className="size-4" />
            Nova Empresa
          </Link>
        )
      }
    >
      <CompanyNumbers companies={all.data} now={now} />
      <section
        ref={frame}
        id={companiesList}
        tabIndex={-1}
        aria-label="Lista de empresas"
        className={clsx(
          '@container/list mt-6 outline-none',
          over && 'rounded outline-2 outline-brand outline-dashed outline-offset-4',
        )}
        {...drop}
      >
        {over && (
          <p role="status" className="mb-2 font-semibold text-brand">
            Solte os certificados para renovar ou cadastrar as empresas deles.
          </p>
        )}
        <ListTools
          companies={list.data}
          none={all.data?.length === 0}
          text={text}
          view={view}
          now={now}
          onSearch={search}
          onChoose={choose}
        />
        <div className="mb-1 flex min-h-9 flex-wrap items-center gap-x-4 gap-y-2">
          {narrow && shown && shown.length > 0 && <SelectAll companies={shown} selection={selection} />}
          <p aria-live="polite" className="text-muted tabular-nums">
            {shown && shown.length > 0 && countText(shown, selection.chosen)}
          </p>
          {selection.chosen.length > 0 && (
            <>
              {mayChange && (
                <BulkSyncButton companies={selection.chosen} onStart={() => void bulk.start(selection.chosen)} />
              )}
              <Button size="sm" variant="ghost" onClick={selection.clear}>
                Limpar seleção
              </Button>
            </>
          )}
        </div>
        {commonCause && (
          <div className="mb-4">
            <TextNotice tone="warning" text={commonCause} />
          </div>
        )}
        {bulk.run && <BulkSyncResult run={bulk.run} now={now} onStop={bulk.stop} onClose={bulk.forget} />}
        {list.error && (
          <div className="mb-4">
            <Notice
              tone="error"
              title="Erro ao carregar empresas"
              action={
                <Button variant="outline" size="sm" busy={list.isFetching} onClick={() => void list.refetch()}>
                  Tentar novamente
                </Button>
              }
            >
              {list.data ? 'Abaixo está a última lista que recebemos.' : 'A captura não depende desta tela e continua.'}
            </Notice>
          </div>
        )}
        {(shown || !list.error) && (
          <div className="ledger">
            {shown?.length === 0 ? (
              <NoCompany
                searched={busca}
                narrowing={narrowing}
                total={all.data?.length ?? 0}
                onClear={() => (busca ? search('') : choose({ narrowing: null }))}
              />
            ) : (
              <>
                <p hidden id="row-keys">
                  As setas levam de uma empresa a outra e, na linha, a selecionar, sincronizar e editar.
                </p>
                <List companies={shown} selection={selection} now={now} />
              </>
            )}
          </div>
        )}
      </section>
    </Page>
  )
}

// Opens the page for several certificates with the dropped files.
function useDroppedCertificates() {
  const navigate = useNavigate()
  const [over, setOver] = useState(false)
  const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
  return {
    over,
    onDragOver(event: DragEvent) {
      if (!holdsFiles(event)) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      setOver(false)
      if (!holdsFiles(event)) return
      event.preventDefault()
      void navigate('/empresas/nova', { state: { files: [...event.dataTransfer.files] } })
    },
  }
}

function countText(shown: readonly CompanyRow[], chosen: readonly CompanyRow[]): string {
  const total = formatCount(shown.length, 'empresa', 'empresas')
  return chosen.length > 0 ? `${formatCount(chosen.length, 'selecionada', 'selecionadas')} de ${total}` : total
}

// Kept in the address, because going back must show the same list.
function useAddress() {
  const [params, setParams] = useSearchParams()
  const asked = params.get('busca') ?? ''
  const [text, setText] = useState(asked)
  const { key } = useLocation()
  const isLedHere = useNavigationType() !== NavigationType.Replace
  const [place, setPlace] = useState(key)
  // Typing replaces the history entry; any other navigation brings another search.
  if (key !== place) {
    setPlace(key)
    if (isLedHere && asked !== text.trim()) setText(asked)
  }
  const busca = useDebounced(text.trim(), 300)
  const write = (name: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value) next.set(name, value)
        else next.delete(name)
        return next
      },
      { replace: true },
    )
  return {
    text,
    busca,
    view: readView(params),
    search: (next: string) => {
      setText(next)
      write('busca', next.trim())
    },
    choose: ({ order, narrowing }: Partial<View>) => {
      if (order) write('ordem', order === orders[0][0] ? null : order)
      if (narrowing !== undefined) write('so', narrowing)
    },
  }
}

// Only visible companies can be selected, because no action may hit a hidden one.
function useCompanySelection(shown: readonly CompanyRow[] | undefined) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const chosen = useMemo(() => shown?.filter(({ id }) => marked.has(id)) ?? [], [shown, marked])
  const ids = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen])
  return {
    ids,
    chosen,
    clear: () => setMarked(new Set()),
    toggle: (id: string) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setMarked(next)
    },
    toggleAll: () => setMarked(new Set(ids.size === shown?.length ? [] : shown?.map(({ id }) => id))),
  }
}

interface ListToolsProps {
  companies: readonly CompanyRow[] | undefined
  /** There is no company yet, so nothing to sort or filter. */
  none: boolean
  text: string
  view: View
  now: Date
  onSearch: (text: string) => void
  onChoose: (view: Partial<View>) => void
}

function ListTools({ companies, none, text, view, now, onSearch, onChoose }: ListToolsProps) {
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2.5">
      <div className="relative w-72 max-sm:w-full">
        <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
        <Input
          type="search"
          aria-label="Buscar por nome, CNPJ..."
          placeholder="Buscar por nome, CNPJ..."
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={text}
          className="pl-8.5"
          onChange={(event) => onSearch(event.target.value)}
        />
      </div>
      <div className={clsx('w-52 max-sm:w-full', none && 'hidden')}>
        <Select
          aria-label="Ordenar por"
          value={view.order}
          onChange={({ target }) => onChoose({ order: orders.find(([word]) => word === target.value)?.[0] })}
        >
          {orders.map(([word, label]) => (
            <option key={word} value={word}>
              {label}
            </option>
          ))}
        </Select>
      </div>
      <div className={clsx('flex flex-wrap gap-2', none && 'hidden')}>
        {narrowings.map(([word, label]) => {
          if (!isOffered(word, view, companies ?? [], now)) return null
          const on = view.narrowing === word
          return (
            <button
              key={word}
              type="button"
              aria-pressed={on}
              onClick={() => onChoose({ narrowing: on ? null : word })}
              className={clsx(
                'inline-flex h-8 items-center gap-1.5 rounded-full border px-3 text-sm transition-colors duration-150 pointer-coarse:h-10',
                on ? 'border-brand bg-brand-soft font-semibold' : 'border-line-strong/70 bg-surface hover:border-ink',
              )}
            >
              {on && <Check aria-hidden className="size-3.5" />}
              {label}
              <span className="text-muted tabular-nums">
                {companies ? formatInteger(countOf(word, companies, now)) : ''}
              </span>
            </button>
          )
        })}
      </div>
    </div>
  )
}

interface NoCompanyProps {
  searched: string
  narrowing: Narrowing | null
  total: number
  onClear: () => void
}

function NoCompany({ searched, narrowing, total, onClear }: NoCompanyProps) {
  const narrowed = narrowing && !searched
  return (
    <Empty
      icon={<Building2 />}
      title="Nenhuma empresa encontrada"
      action={
        searched || (narrowed && total > 0) ? (
          <Button variant="outline" onClick={onClear}>
            {searched ? 'Limpar busca' : 'Ver todas as empresas'}
          </Button>
        ) : (
          <Link to="/empresas/nova" className={buttonClass({ variant: 'outline' })}>
            Cadastrar Primeira Empresa
          </Link>
        )
      }
    >
      {searched
        ? `Nenhum nome ou CNPJ contém “${searched}”${narrowing ? ' neste filtro' : ''}.`
        : narrowed && total > 0
          ? goodNews[narrowing]
          : 'Cadastre a primeira com o arquivo .pfx ou .p12 do certificado A1 e a senha.'}
    </Empty>
  )
}

const goodNews: Record<Narrowing, string> = {
  problema: 'Nenhuma empresa com problema.',
  certificado: 'Nenhum certificado vence nos próximos 30 dias.',
  vencido: 'Nenhum certificado vencido.',
  'a-vencer': 'Nenhum certificado vence nos próximos 30 dias.',
  inativas: 'Todas as empresas estão ativas.',
}

// Keeps the height of a line whose text is not known yet.
const emptyLine = '\u00a0'

function CompanyNumbers({ companies, now }: { companies: CompanyRow[] | undefined; now: Date }) {
  const total = companies?.length ?? 0
  const active = companies?.filter(({ ativa }) => ativa).length ?? 0
  const monitoring = monitoringOf(companies ?? [], now)
  const numbers = [
    ['Total de Empresas', formatInteger(total), `${formatInteger(active)} ${active === 1 ? 'ativa' : 'ativas'}`],
    [
      'Empresas Ativas',
      formatInteger(active),
      total === 0 ? 'Nenhuma cadastrada' : `${percentText(active, total)} do total`,
    ],
    ['Sincronização', monitoring.percent, monitoring.note],
  ]
  return (
    <dl className="ledger grid grid-cols-3 border-line border-b">
      {numbers.map(([label, value, note]) => (
        <div key={label} className="border-line border-l px-4 py-3 first:border-l-0 first:pl-0 max-sm:px-3">
          <dt className="text-muted text-sm">{label}</dt>
          <dd>
            <span className="mt-0.5 block font-semibold text-2xl tabular-nums">{companies ? value : emptyLine}</span>
            <span className="block text-muted text-sm max-sm:min-h-9">{companies ? note : emptyLine}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
