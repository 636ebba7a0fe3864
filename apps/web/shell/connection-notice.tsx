import { formatMoment } from '@vigia/contract/text'
import { CloudOff } from 'lucide-react'
import { useDisconnectedSince } from '../lib/connection.ts'

/** One line under the header while the server does not respond; the screen stays. */
export function ConnectionNotice() {
  const since = useDisconnectedSince()
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
