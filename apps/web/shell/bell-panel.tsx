import { formatMoment, formatRelative } from '@vigia/contract/text'
import { type AnnouncementRow, listAnnouncements, readAnnouncements } from '@vigia/contract/workspace'
import { clsx } from 'clsx'
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { call } from '../lib/api.ts'
import { documentKinds, kinds } from '../lib/kinds.ts'
import { loadFailure, queryClient, useScreenQuery } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import type { TriggerProps } from '../ui/overlay/lazy-with-trigger.tsx'
import { Popover } from '../ui/overlay/popover.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { useAnnouncements } from './announcements.ts'
import { MadeFiles } from './made-files.tsx'

interface BellPanelProps extends TriggerProps {
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** Announcements of the last month. Opening it marks them as read. */
export function BellPanel({ trigger, open, onOpenChange }: BellPanelProps) {
  const followed = useRef(false)
  return (
    // Toasts stay free under it.
    <Popover
      trigger={trigger}
      label="Avisos"
      open={open}
      onOpenChange={onOpenChange}
      keepsFocus={() => {
        const goes = followed.current
        followed.current = false
        if (goes) focusScreen()
        return goes
      }}
      className="flex max-h-[max(14rem,calc(var(--radix-popover-content-available-height)-9rem))] w-100 flex-col"
    >
      <div className="border-line border-b px-4 py-2.5">
        <h2 className="text-lg">Avisos</h2>
        <p className="text-muted text-sm">Os dos últimos 30 dias, para todos do workspace.</p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section aria-label="Lista de avisos" tabIndex={0} className="overflow-y-auto focus-visible:-outline-offset-2">
        <MadeFiles />
        <Announcements
          onFollow={() => {
            followed.current = true
            onOpenChange(false)
          }}
        />
      </section>
    </Popover>
  )
}

// Also for a link to the current screen with another query, because nothing else announces it.
function focusScreen() {
  const main = document.getElementById('conteudo')
  // A part that the address names has it by now.
  if (!main || (main !== document.activeElement && main.contains(document.activeElement))) return
  main.focus({ preventScroll: true })
}

// Marks announcements as read at once, but shows new ones as new until the panel closes.
function Announcements({ onFollow }: Pick<PageProps, 'onFollow'>) {
  const { data, error, refetch, isFetching } = useAnnouncements()
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  const unread = data?.items.filter(({ idAviso, lido }) => !lido && !fresh.has(idAviso)) ?? []
  if (unread.length > 0) setFresh(new Set([...fresh, ...unread.map(({ idAviso }) => idAviso)]))
  const newest = data && data.naoLidos > 0 ? data.items[0]?.idAviso : undefined
  const marked = useRef<string>(undefined)
  useEffect(() => {
    if (newest === undefined || marked.current === newest) return
    marked.current = newest
    void markRead(newest)
  }, [newest])
  if (!data && error)
    return (
      <div className="px-4 py-4">
        <p>{loadFailure(error)}</p>
        <Button variant="outline" size="sm" className="mt-3" busy={isFetching} onClick={() => void refetch()}>
          Tentar novamente
        </Button>
      </div>
    )
  if (!data) return <Waiting />
  if (data.items.length === 0)
    return (
      <p className="px-4 py-6 text-muted">
        Nada por enquanto. Aqui fica o que aconteceu: capturas, respostas da SEFAZ, certificados perto do fim.
      </p>
    )
  return <Page {...data} fresh={fresh} onFollow={onFollow} />
}

async function markRead(ate: string): Promise<void> {
  try {
    await call(readAnnouncements, { body: { ate } })
  } catch {
    // They count as unread still, and are marked the next time.
    return
  }
  await queryClient.invalidateQueries({ queryKey: [listAnnouncements.path] })
}

interface PageProps {
  items: readonly AnnouncementRow[]
  temMais: boolean
  fresh: ReadonlySet<string>
  /** Called when a person opens the subject of an announcement. */
  onFollow: () => void
}

function Page({ items, temMais, fresh, onFollow }: PageProps) {
  const now = useNow()
  const [more, setMore] = useState(false)
  const last = items.at(-1)?.idAviso
  return (
    <>
      <ul>
        {items.map((one) => (
          <Announcement
            key={one.idAviso}
            announcement={one}
            fresh={fresh.has(one.idAviso)}
            now={now}
            onFollow={onFollow}
          />
        ))}
      </ul>
      {temMais && more && last && <Older before={last} fresh={fresh} onFollow={onFollow} />}
      {temMais && !more && (
        <div className="p-2">
          <Button variant="ghost" size="sm" className="w-full" onClick={() => setMore(true)}>
            Mostrar mais antigos
          </Button>
        </div>
      )}
    </>
  )
}

function Older({ before, ...page }: Pick<PageProps, 'fresh' | 'onFollow'> & { before: string }) {
  const { data, error, refetch } = useScreenQuery(listAnnouncements, { query: { antesDe: before } })
  if (data) return <Page {...data} {...page} />
  if (!error) return <Waiting />
  return (
    <div className="p-2">
      <Button variant="ghost" size="sm" className="w-full" onClick={() => void refetch()}>
        Não foi possível buscar. Tentar novamente
      </Button>
    </div>
  )
}

function Waiting() {
  return (
    <div className="grid gap-3 px-4 py-4" role="status" aria-label="Buscando os avisos">
      <Skeleton className="w-3/5" />
      <Skeleton className="w-4/5" />
      <Skeleton className="w-2/5" />
    </div>
  )
}

const marks = {
  sucesso: { Icon: CircleCheck, tone: 'text-success' },
  error: { Icon: CircleAlert, tone: 'text-error' },
  alert: { Icon: TriangleAlert, tone: 'text-warning' },
} as const

interface AnnouncementProps extends Pick<PageProps, 'onFollow'> {
  announcement: AnnouncementRow
  fresh: boolean
  now: Date
}

function Announcement({ announcement, fresh, now, onFollow }: AnnouncementProps) {
  const { tipo, titulo, texto, tela, outraTela, quando } = announcement
  const { Icon, tone } = marks[tipo]
  // With two screens each link has a text of its own.
  const only = outraTela ? null : tela
  return (
    <li
      className={clsx(
        'relative flex gap-2.5 border-line border-b px-4 py-2.5 last:border-b-0',
        fresh && 'bg-brand-soft',
        only && 'group hover:bg-sunken',
      )}
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1 break-words">
        <p className={fresh ? 'font-semibold' : ''}>
          {fresh && <span className="sr-only">Não lido: </span>}
          {only ? (
            // The whole entry is clickable.
            <Link to={only} onClick={onFollow} className="after:absolute after:inset-0 group-hover:underline">
              {titulo}
            </Link>
          ) : (
            titulo
          )}
        </p>
        {texto && <p className="text-sm">{texto}</p>}
        {tela && outraTela && (
          <p className="relative z-1 mt-0.5 flex w-fit gap-4 text-sm">
            {[tela, outraTela].map((path) => (
              <Link key={path} to={path} onClick={onFollow} className="min-h-6 text-brand underline underline-offset-3">
                {(kinds.find((kind) => path.startsWith(kind.path)) ?? documentKinds.nfe).seeAll}
              </Link>
            ))}
          </p>
        )}
        <p className="relative z-1 mt-0.5 w-fit text-muted text-sm" title={formatMoment(quando, now)}>
          {formatRelative(quando, now)}
        </p>
      </div>
    </li>
  )
}
