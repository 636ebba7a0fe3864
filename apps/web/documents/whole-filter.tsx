import { useMutation } from '@tanstack/react-query'
import { selectDocuments, selectionMax } from '@vigia/contract/documents'
import type { CallInput } from '../lib/api.ts'
import { formatInteger } from '../lib/format.ts'
import { notifyError } from '../lib/notify.ts'
import { loadFailure, read } from '../lib/query.ts'
import type { DocumentKind } from './kinds.ts'

/** A button that is a few words in a sentence. */
export const wordsClass =
  'h-6 text-brand underline underline-offset-3 hover:text-ink disabled:opacity-55 pointer-coarse:h-10'

interface WholeFilterProps {
  kind: DocumentKind
  /** Of the whole filter. */
  count: number
  selectedCount: number
  filter: CallInput<typeof selectDocuments>['query']
  onFound: (ids: string[]) => void
}

/** From the page to everything that the filter finds. Give it the filter as its key: an answer about another one is dropped. */
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
      className={wordsClass}
      disabled={action.isPending}
      // Called only while this is on the screen.
      onClick={() => action.mutate(undefined, { onSuccess: ({ ids }) => onFound(ids) })}
    >
      {action.isPending ? 'Selecionando...' : `Selecionar ${kind.the} ${formatInteger(count)} do filtro`}
    </button>
  )
}
