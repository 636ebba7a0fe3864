import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { errorMessage } from '../lib/api.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { Skeleton } from './skeleton.tsx'

interface LoadedProps<T> {
  query: UseQueryResult<T, Error>
  children: (data: T) => ReactNode
}

/** The loaded content, or the error, or a loading message. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error)
    return (
      <Notice
        tone="error"
        title={`Erro ao carregar dados: ${errorMessage(query.error)}`}
        action={
          <Button variant="outline" size="sm" busy={query.isFetching} onClick={() => void query.refetch()}>
            Tentar novamente
          </Button>
        }
      >
        Nada foi alterado.
      </Notice>
    )
  return (
    <div aria-hidden className="ledger py-4">
      <Skeleton className="w-2/5" />
      <Skeleton className="mt-3 h-2.5! w-3/5" />
    </div>
  )
}
