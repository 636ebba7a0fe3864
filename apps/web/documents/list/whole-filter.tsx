import { useMutation } from '@tanstack/react-query'
import { selectDocuments, selectionMax } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import type { CallInput } from '../../lib/api.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifyError } from '../../lib/notify.ts'
import { loadFailure, read } from '../../lib/query.ts'

/** A button inside a sentence. */
export const inlineButtonClass =
  'h-6 text-brand underline underline-offset-3 hover:text-ink disabled:opacity-55 pointer-coarse:h-10'

interface WholeFilterProps {
  kind: DocumentKind
  /** Number of documents of the whole filter. */
  count: number
  selectedCount: number
  filter: CallInput<typeof selectDocuments>['query']
  onFound: (ids: string[]) => void
}

/** Selects all documents of the filter. Its `key` must be the filter, to drop stale responses. */
export function WholeFilter({ kind, count, selectedCount, filter, onFound }: WholeFilterProps) {
  const action = useMutation({
    mutationFn: () => read(selectDocuments, { query: filter }),
    onError: (error) => notifyError(loadFailure(error)),
  })
  if (count <= selectedCount) return null
  if (count > selectionMax) {
    return (
      <span className="text-muted">
        O filtro tem {formatInteger(count)}, e uma seleção vai até {formatInteger(selectionMax)}: estreite o filtro.
      </span>
    )
  }
  return (
    <button
      type="button"
      className={inlineButtonClass}
      disabled={action.isPending}
      // `onSuccess` of `mutate` is called only while this is mounted.
      onClick={() => action.mutate(undefined, { onSuccess: ({ ids }) => onFound(ids) })}
    >
      {action.isPending ? 'Selecionando...' : `Selecionar ${kind.ending}s ${formatInteger(count)} do filtro`}
    </button>
  )
}
