import { suggestIssuers } from '@vigia/contract/documents'
import { nfe } from '@vigia/dfe/families/nfe'
import { Bookmark, Building2, FileSearch, type LucideIcon, Monitor, Store } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useCompanies } from '../../lib/companies.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/form/input.tsx'
import { ListOption } from '../../ui/form/list-option.tsx'
import { useDebounced } from '../../ui/hooks/debounce.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { useSavedViews } from '../saved-views.tsx'
import { type PaletteEntry, paletteEntries } from './entries.ts'

const icons: Record<PaletteEntry['group'], LucideIcon> = {
  Documentos: FileSearch,
  Telas: Monitor,
  Visões: Bookmark,
  Empresas: Building2,
  Emitentes: Store,
}

interface PaletteProps {
  open: boolean
  onClose: () => void
  /** Fetches the code of a screen that is about to be opened. */
  onIntent: (path: string) => void
  /** Shows all keys. */
  onKeys: () => void
}

/** Command palette (WAI-ARIA: combobox with a list that stays open). */
export function Palette({ open, onClose, onIntent, onKeys }: PaletteProps) {
  const keys = (
    <Button variant="ghost" size="sm" onClick={onKeys}>
      Teclas
    </Button>
  )
  return (
    <Dialog open={open} onClose={onClose} title="Busca rápida" actions={keys} className="max-w-xl">
      {open && <Field onClose={onClose} onIntent={onIntent} />}
    </Dialog>
  )
}

function Field({ onClose, onIntent }: Pick<PaletteProps, 'onClose' | 'onIntent'>) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [place, setPlace] = useState(0)
  const entries = useEntries(text)
  const at = Math.min(place, entries.length - 1)
  const current = entries[at]
  const choose = ({ to }: PaletteEntry) => {
    onClose()
    void navigate(to)
  }
  return (
    <div className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)]">
      <div className="px-5 pt-4 pb-3">
        <Input
          data-initial-focus
          role="combobox"
          aria-expanded
          aria-label="Tela, empresa, fornecedor, número ou chave"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={current && `palette-${current.id}`}
          placeholder="Tela, empresa, fornecedor, número ou chave"
          value={text}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setText(event.target.value)
            setPlace(0)
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (step !== undefined) {
              event.preventDefault()
              setPlace((at + step + entries.length) % Math.max(1, entries.length))
            } else if (event.key === 'Enter' && current) {
              event.preventDefault()
              choose(current)
            }
          }}
        />
      </div>
      <div
        id="palette-list"
        role="listbox"
        aria-label="Destinos"
        className="h-96 max-h-full overflow-y-auto border-line border-t py-1"
      >
        {[...Map.groupBy(entries, ({ group }) => group)].map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options in a listbox is no fieldset.
          <div key={group} role="group" aria-label={group}>
            <p aria-hidden className="px-5 pt-1.5 pb-0.5 font-semibold text-muted text-xs">
              {group}
            </p>
            {members.map((entry) => (
              <ListOption
                key={entry.id}
                id={`palette-${entry.id}`}
                selected={entry === current}
                onIntent={() => onIntent(entry.to.replace(/[?#].*/, ''))}
                onChoose={() => choose(entry)}
              >
                <Line {...entry} />
              </ListOption>
            ))}
          </div>
        ))}
      </div>
      <p role="status" className="sr-only">
        {entries.length} {entries.length === 1 ? 'destino' : 'destinos'}
      </p>
    </div>
  )
}

function Line({ group, label, detail }: PaletteEntry) {
  const Icon = icons[group]
  return (
    <>
      <Icon aria-hidden className="ml-2.5 size-4 shrink-0 text-muted" />
      <span className="min-w-0 truncate">{label}</span>
      <span className="mr-2.5 ml-auto shrink-0 text-muted text-xs tabular-nums">{detail}</span>
    </>
  )
}

function useEntries(text: string): PaletteEntry[] {
  const { data: companies } = useCompanies()
  const typed = useDebounced(text.trim(), 150)
  const enabled = typed.length >= 2
  const { data } = useScreenQuery(suggestIssuers, { query: { TipoDFe: nfe.code, CampoPesquisa: typed } }, { enabled })
  const views = useSavedViews()
  return paletteEntries(text, { views, companies: companies ?? [], issuers: (enabled && data?.emitentes) || [] })
}
