import { CloudOff } from 'lucide-react'
import { useSilentSince } from '../lib/connection.ts'
import { formatMoment } from '../lib/format.ts'

/** One line under the header while the server does not answer; what is on the screen stays. */
export function SilenceNotice() {
  const since = useSilentSince()
  return (
    <div role="status">
      {since !== null && (
        <p className="flex items-start gap-2 border-warning-line border-b bg-warning-soft px-4 py-1 text-sm text-warning">
          <CloudOff aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          Sem conexão com o servidor desde {formatMoment(new Date(since).toISOString(), new Date())}; o que está na tela
          pode estar velho.
        </p>
      )}
    </div>
  )
}
