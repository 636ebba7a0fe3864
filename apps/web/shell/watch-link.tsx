import { clsx } from 'clsx'
import { useId } from 'react'
import { Link } from 'react-router'
import { type Watch, watchOf } from '../lib/capture.ts'
import { useWatchedCompanies } from '../lib/companies.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Lamp } from '../ui/lamp.tsx'
import { Tooltip } from '../ui/overlay/tooltip.tsx'

// The state of the capture mentions companies and CT-e, which are names of other links on every screen: so it is the description of this link
// and not its name.
const linkName = 'Situação da captura'

/** A lamp with the state of the captures, linked to the companies. */
export function WatchLink({ collapsed, onFollow }: { collapsed: boolean; onFollow?: (() => void) | undefined }) {
  const watch = useWatch()
  const words = useId()
  return (
    <div className="relative flex min-h-9 gap-2.5 rounded-control px-2.25 py-2 hover:bg-sunken">
      <Lamp state={watch.lamp} className="mt-0.5 size-4.5" />
      <div id={words} className={clsx('min-w-0 flex-1', collapsed && 'hidden')}>
        <p className="font-semibold">{watch.title}</p>
        <p className="line-clamp-5 min-h-9 text-muted text-sm">{watch.detail}</p>
      </div>
      <Tooltip text={`${watch.title}. ${watch.detail}`} when={collapsed}>
        <Link
          to="/empresas"
          onClick={onFollow}
          aria-label={linkName}
          aria-describedby={words}
          className="absolute inset-0 rounded-control focus-visible:-outline-offset-2"
        />
      </Tooltip>
    </div>
  )
}

/** The same lamp alone, for the narrow header. */
export function WatchLamp() {
  const watch = useWatch()
  return (
    <Link
      to="/empresas"
      aria-label={linkName}
      title={`${watch.title}. ${watch.detail}`}
      className="flex size-8 items-center justify-center rounded-control hover:bg-sunken pointer-coarse:size-11"
    >
      <Lamp state={watch.lamp} className="size-4.5" />
    </Link>
  )
}

const nobody = { lamp: 'unlit', title: 'Nenhuma empresa ainda', detail: 'Cadastre a primeira.' } as const
const allArchived = { lamp: 'unlit', title: 'Empresas arquivadas', detail: 'Nada é consultado na SEFAZ.' } as const

function useWatch(): Pick<Watch, 'lamp' | 'title' | 'detail'> {
  const now = useNow()
  const { known, lost } = useWatchedCompanies()
  if (known) {
    return watchOf(known, now) ?? (known.length > 0 ? allArchived : nobody)
  }
  if (lost) return { lamp: 'stopped', title: 'Sem contato', detail: 'Não sabemos como está a captura.' }
  return { lamp: 'waiting', title: 'Consultando a captura', detail: 'Um momento.' }
}
