import { formatCount } from '@vigia/contract/text'
import type { DocumentKind } from '../../lib/kinds.ts'
import { buttonClass } from '../../ui/button.tsx'

interface WaitingDocumentsProps {
  kind: DocumentKind
  count: number
  onShow: () => void
}

/** Announces new documents not shown yet. It takes no space, because rows must not move. */
export function WaitingDocuments({ kind, count, onShow }: WaitingDocumentsProps) {
  return (
    <div role="status" className="pointer-events-none sticky top-[calc(var(--list-top)+60px)] z-20 h-0 text-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className={buttonClass({
            size: 'sm',
            className: 'pointer-events-auto -translate-y-1/2 rounded-full! shadow-float',
          })}
        >
          {formatCount(count, kind.newOne, kind.newMany)} — mostrar
        </button>
      )}
    </div>
  )
}
