import type { CompanyRow } from '@vigia/contract/companies'
import { nfe } from '@vigia/dfe/families/nfe'
import { clsx } from 'clsx'
import { SlidersHorizontal } from 'lucide-react'
import { Suspense, useEffect, useId, useRef, useState } from 'react'
import { companyOptions } from '../../lib/companies.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Labelled } from '../../ui/form/labelled.tsx'
import { Select } from '../../ui/form/select.tsx'
import { DateRangePicker } from '../../ui/period/date-range-picker.tsx'
import { AmountRange } from './amount-range.tsx'
import { CameraButton } from './camera-button.tsx'
import { activeCompanies, alertChoices, choiceOf, type Filters, markChoices, reformChoices } from './filters.ts'
import { OrderChoice } from './order-choice.tsx'
import { rememberSearch } from './recent-searches.ts'
import { SearchBox } from './search-box.tsx'

const SearchSelect = lazyWithPreload(() =>
  import('../../ui/form/search-select.tsx').then((module) => module.SearchSelect),
)

// Among more, a name is found sooner by typing it.
const readableMax = 20

interface FilterBarProps {
  kind: DocumentKind
  companies: readonly CompanyRow[]
  filters: Filters
  narrow: boolean
  /** One low row: the choices open over the list. */
  compact?: boolean
  busy: boolean
  /** Whether the server knows more than section 7; undefined until its first response. */
  knowsMore: boolean | undefined
  onChange: (part: Partial<Filters>) => void
  /** Searches again, also with the same text. */
  onSearch: (part: Partial<Filters>) => void
}

/** Choices apply at once; typed text applies with Enter or "Buscar". */
export function FilterBar({
  kind,
  companies,
  filters,
  narrow,
  compact = false,
  busy,
  knowsMore,
  onChange,
  onSearch,
}: FilterBarProps) {
  const [text, setText] = useState(filters.search)
  const [more, setMore] = useState(false)
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const overList = compact && more
  useEffect(() => {
    if (!overList) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      setMore(false)
      opener.current?.focus()
    }
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Node && !form.current?.contains(target)) setMore(false)
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('pointerdown', onPointer)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('pointerdown', onPointer)
    }
  }, [overList])
  useEffect(() => setText(filters.search), [filters.search])
  const change = (part: Partial<Filters>) => onChange({ search: text.trim(), ...part })
  const chosen = [
    filters.company,
    filters.participation,
    filters.status,
    filters.dueFrom || filters.dueTo || filters.dueAnswer,
    filters.mark || filters.alert || filters.reform || filters.counted,
    filters.amountFrom || filters.amountTo,
  ].filter(Boolean).length
  return (
    <form
      ref={form}
      aria-label={`Filtrar ${kind.many}`}
      className={clsx(
        'grid',
        compact
          ? 'relative min-w-140 flex-1 grid-cols-[minmax(8rem,1fr)_auto_13rem_auto] gap-2 pointer-fine:[&_:is(button,input,select)]:h-8'
          : clsx('gap-2.5', narrow ? 'grid-cols-[1fr_auto]' : wideColumns),
      )}
      onSubmit={(event) => {
        event.preventDefault()
        rememberSearch(text.trim())
        onSearch({ search: text.trim() })
      }}
    >
      <Labelled
        id={`${id}-search`}
        label="Pesquisar"
        hidden={narrow}
        className={narrow ? undefined : '@max-[1240px]/list:col-span-2'}
      >
        <div className="flex gap-2">
          <div className="min-w-0 flex-1">
            <SearchBox
              id={`${id}-search`}
              kind={kind}
              companies={companies}
              text={text}
              onText={setText}
              onChoose={(part) => {
                setText(part.search ?? text)
                rememberSearch(part.search ?? '')
                onSearch(part)
              }}
            />
          </div>
          <CameraButton />
        </div>
      </Labelled>
      {narrow && <SearchButton busy={busy} low={compact} />}
      <Labelled
        id={`${id}-period`}
        label="Data de emissão"
        hidden={narrow}
        className={narrow ? undefined : '@max-[1240px]/list:col-span-2'}
      >
        <DateRangePicker id={`${id}-period`} value={filters.period} onChange={(period) => change({ period })} />
      </Labelled>
      {narrow && (
        <Button ref={opener} variant="outline" aria-expanded={more} onClick={() => setMore(!more)}>
          <SlidersHorizontal aria-hidden className="size-4" />
          Filtros{chosen > 0 && ` (${chosen})`}
        </Button>
      )}
      {(!narrow || more) && (
        <div
          className={clsx(
            compact
              ? 'absolute inset-x-0 top-full z-30 mt-1 grid grid-cols-3 gap-2.5 rounded border border-line bg-surface p-3 shadow-float'
              : narrow
                ? 'col-span-2 grid gap-2.5'
                : 'contents',
          )}
        >
          <FilterChoice
            id={`${id}-company`}
            label="Empresa"
            all="Todas"
            value={filters.company}
            options={[
              ...(filters.company === activeCompanies || companies.some(({ ativa }) => !ativa)
                ? [[activeCompanies, 'Só as ativas'] as const]
                : []),
              ...companyOptions(companies),
            ]}
            onChange={(company) => change({ company })}
          />
          <FilterChoice
            id={`${id}-participation`}
            label="Participação"
            all="Todas"
            value={filters.participation}
            options={kind.participations.map(({ code, label }) => [String(code), label])}
            onChange={(participation) => change({ participation })}
          />
          <Labelled id={`${id}-status`} label="Status">
            <Select
              id={`${id}-status`}
              value={filters.status}
              onChange={({ target }) => change({ status: target.value })}
            >
              <option value="">Todos</option>
              {kind.statuses.map(({ code, label }) => (
                <option key={code} value={code}>
                  {label}
                </option>
              ))}
            </Select>
          </Labelled>
          {knowsMore !== false && (
            <MoreChoice
              id={`${id}-more`}
              kind={kind}
              filters={filters}
              waiting={knowsMore === undefined}
              onChange={change}
            />
          )}
          <AmountRange id={`${id}-amount`} from={filters.amountFrom} to={filters.amountTo} onChange={change} />
          {narrow && (
            <Labelled id={`${id}-order`} label="Ordem">
              <OrderChoice id={`${id}-order`} filters={filters} onChange={change} />
            </Labelled>
          )}
        </div>
      )}
      {!narrow && (
        <div className="self-end @max-[1240px]/list:col-start-5 @max-[1240px]/list:row-start-1">
          <SearchButton busy={busy} />
        </div>
      )}
    </form>
  )
}

// One row where it fits; else search, dates and button above, the choices below.
const wideColumns =
  'grid-cols-[minmax(0,1fr)_7.5rem_8rem_8rem_10rem] @[1240px]/list:grid-cols-[minmax(0,1.6fr)_13.5rem_minmax(0,1fr)_7.5rem_8.25rem_8.25rem_10rem_6.5rem]'

function SearchButton({ busy, low = false }: { busy: boolean; low?: boolean }) {
  return (
    <Button type="submit" className={low ? 'min-w-21 px-2!' : 'w-full min-w-26'} aria-disabled={busy || undefined}>
      {busy ? 'Buscando...' : 'Buscar'}
    </Button>
  )
}

interface ChoiceProps {
  id: string
  label: string
  all: string
  value: string
  options: (readonly [value: string, label: string])[]
  onChange: (value: string) => void
}

interface MoreChoiceProps {
  id: string
  kind: DocumentKind
  filters: Filters
  /** Keeps its place without being shown. */
  waiting: boolean
  onChange: (part: Partial<Filters>) => void
}

// A mark and an alert may have the same name.
const alertPrefix = 'alerta-'
const reformPrefix = 'reforma-'
const countedPrefix = 'conta-'

// Rules suggest answers for NF-e only.
const ofNfe: readonly string[] = ['confirmacao-sugerida', 'desconhecimento-preparado']

// One of: an alert, IBS/CBS, a report that counts the document, a mark of the workspace.
function MoreChoice({ id, kind, filters, waiting, onChange }: MoreChoiceProps) {
  return (
    <Labelled id={id} label="Mais" className={waiting ? 'invisible' : undefined}>
      <Select
        id={id}
        value={
          (filters.alert && alertPrefix + filters.alert) ||
          (filters.reform && reformPrefix + filters.reform) ||
          (filters.counted && countedPrefix + filters.counted) ||
          filters.mark
        }
        onChange={({ target: { value } }) => {
          const mark = choiceOf(markChoices(kind), value)
          const alert = choiceOf(alertChoices, value.split(alertPrefix)[1])
          const reform = choiceOf(reformChoices, value.split(reformPrefix)[1])
          const counted = choiceOf(kind.counted, value.split(countedPrefix)[1])
          onChange({ mark, alert, reform, counted, line: '' })
        }}
      >
        <option value="">Nenhum</option>
        <optgroup label="Alertas">
          {alertChoices.map(({ code, label }) => (
            <option key={code} value={alertPrefix + code}>
              {label}
            </option>
          ))}
        </optgroup>
        <optgroup label="IBS e CBS">
          {reformChoices.map(({ code, label }) => (
            <option key={code} value={reformPrefix + code}>
              {label}
            </option>
          ))}
        </optgroup>
        <optgroup label="Relatórios">
          {kind.counted.map(({ code, label }) => (
            <option key={code} value={countedPrefix + code}>
              {label}
            </option>
          ))}
        </optgroup>
        <optgroup label="No workspace">
          {markChoices(kind)
            .filter(({ code }) => kind.type === nfe.id || !ofNfe.includes(code))
            .map(({ code, label }) => (
              <option key={code} value={code}>
                {label}
              </option>
            ))}
        </optgroup>
      </Select>
    </Labelled>
  )
}

function FilterChoice({ id, label, all, value, options, onChange }: ChoiceProps) {
  return (
    <Labelled id={id} label={label}>
      {options.length > readableMax ? (
        <Suspense fallback={<Input id={id} disabled value={all} />}>
          <SearchSelect id={id} all={all} value={value} options={options} onChange={onChange} />
        </Suspense>
      ) : (
        <Select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{all}</option>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </Select>
      )}
    </Labelled>
  )
}
