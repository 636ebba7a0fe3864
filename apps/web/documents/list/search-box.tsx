import type { CompanyRow } from '@vigia/contract/companies'
import { suggestIssuers } from '@vigia/contract/documents'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { clsx } from 'clsx'
import { Building2, History, Search, Store } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import type { DocumentKind } from '../../lib/kinds.ts'
import { bareCnpj, hasWords, isPartOfCnpj, plain } from '../../lib/matching.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { Input } from '../../ui/form/input.tsx'
import { ListOption, listClass } from '../../ui/form/list-option.tsx'
import { useCombobox } from '../../ui/hooks/combobox.ts'
import { useDebounced } from '../../ui/hooks/debounce.ts'
import { useScreenKeys } from '../../ui/hooks/screen-keys.ts'
import type { Filters } from './filters.ts'
import { recentSearches } from './recent-searches.ts'

interface SearchBoxProps {
  id: string
  kind: DocumentKind
  companies: readonly CompanyRow[]
  text: string
  onText: (text: string) => void
  /** Called with the chosen suggestion. */
  onChoose: (part: Partial<Filters>) => void
}

interface Suggestion {
  id: string
  group: 'Emitentes' | 'Empresas' | 'Pesquisas recentes'
  label: string
  detail: string
  part: Partial<Filters>
}

const icons = { Emitentes: Store, Empresas: Building2, 'Pesquisas recentes': History }

/** Search field with suggestions below it (WAI-ARIA: combobox with a list). */
export function SearchBox({ id, kind, companies, text, onText, onChoose }: SearchBoxProps) {
  const field = useRef<HTMLInputElement>(null)
  const [asked, setAsked] = useState(false)
  const suggestions = useSuggestions(kind, companies, text, asked)
  const box = useCombobox(suggestions, ({ part }) => onChoose(part))
  const { shown, current } = box
  useScreenKeys((key) => {
    if (key === '/') {
      field.current?.focus()
      field.current?.select()
    }
    return key === '/'
  })
  const show = () => {
    setAsked(true)
    box.show()
  }
  return (
    <div className="relative">
      <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
      <Input
        ref={field}
        id={id}
        type="search"
        role="combobox"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={current && `${id}-${current.id}`}
        value={text}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        placeholder="Nome, número, valor, chave"
        title="Tecle / para pesquisar. Palavras em qualquer ordem: papelaria sol 1234, R$ 16.471,02, >10000, 15/10, 12.345.678/0001-90, a chave ou parte dela."
        aria-keyshortcuts="/"
        className={clsx('pl-8.5', text === '' && 'pointer-fine:pr-8')}
        onChange={(event) => {
          onText(event.target.value)
          show()
        }}
        onClick={show}
        onBlur={() => {
          setAsked(false)
          box.close()
        }}
        onKeyDown={(event) => {
          if (event.key.startsWith('Arrow')) setAsked(true)
          box.onKeyDown(event)
        }}
      />
      {text === '' && (
        <kbd
          aria-hidden
          className="pointer-events-none absolute inset-y-0 right-2 my-auto hidden h-5 w-5 place-items-center rounded-[4px] border border-line font-sans text-muted text-xs pointer-fine:grid"
        >
          /
        </kbd>
      )}
      <div id={`${id}-list`} role="listbox" aria-label="Sugestões de pesquisa" hidden={!shown} className={listClass}>
        {shown &&
          groupsOf(suggestions).map(([group, members]) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options in a listbox is no fieldset.
            <div key={group} role="group" aria-label={group}>
              <p aria-hidden className="px-2.5 pt-1.5 pb-0.5 font-semibold text-muted text-xs">
                {group}
              </p>
              {members.map((one) => (
                <Option
                  key={one.id}
                  id={`${id}-${one.id}`}
                  suggestion={one}
                  selected={one === current}
                  onChoose={() => box.choose(one)}
                />
              ))}
            </div>
          ))}
      </div>
      <p role="status" className="sr-only">
        {shown && `${suggestions.length} ${suggestions.length === 1 ? 'sugestão' : 'sugestões'}`}
      </p>
    </div>
  )
}

interface OptionProps {
  id: string
  suggestion: Suggestion
  selected: boolean
  onChoose: () => void
}

function Option({ id, suggestion: { group, label, detail }, selected, onChoose }: OptionProps): ReactNode {
  const Icon = icons[group]
  return (
    <ListOption id={id} selected={selected} onChoose={onChoose}>
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 truncate">{label}</span>
      <span className="ml-auto shrink-0 text-muted text-xs tabular-nums">{detail}</span>
    </ListOption>
  )
}

function useSuggestions(
  kind: DocumentKind,
  companies: readonly CompanyRow[],
  text: string,
  open: boolean,
): Suggestion[] {
  const typed = useDebounced(text.trim(), 150)
  const enabled = open && typed.length >= 2
  const query = { TipoDFe: kind.tipoDFe, CampoPesquisa: typed }
  const { data } = useScreenQuery(suggestIssuers, { query }, { enabled })
  if (!open) return []
  const now = text.trim()
  const recent = recentSearches()
    .filter((one) => one !== now && plain(one).includes(plain(now)))
    .slice(0, now ? 3 : 6)
    .map(
      (one, index): Suggestion => ({
        id: `recent-${index}`,
        group: 'Pesquisas recentes',
        label: one,
        detail: '',
        part: { search: one },
      }),
    )
  if (now.length < 2) return recent
  const own = (companies.length > 1 ? companies : [])
    .filter(({ razaoSocial, cnpj }) => hasWords(razaoSocial, now) || isPartOfCnpj(cnpj, now))
    .slice(0, 3)
    .map(
      ({ id, razaoSocial, cnpj }): Suggestion => ({
        id: `company-${id}`,
        group: 'Empresas',
        label: razaoSocial,
        detail: formatCnpj(bareCnpj(cnpj)),
        part: { search: '', company: id },
      }),
    )
  const issuers = (enabled ? (data?.emitentes ?? []) : []).map(
    ({ nome, cnpjCpf }, index): Suggestion => ({
      id: `issuer-${index}`,
      group: 'Emitentes',
      label: nome,
      detail: cnpjCpf.length === 11 ? formatCpf(cnpjCpf) : formatCnpj(cnpjCpf),
      part: { search: nome },
    }),
  )
  return [...issuers, ...own, ...recent]
}

function groupsOf(suggestions: Suggestion[]): [Suggestion['group'], Suggestion[]][] {
  return [...Map.groupBy(suggestions, ({ group }) => group)]
}
