import { useEffect } from 'react'
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form'
import { currentSession, draftsKey, ownerOf, readOwned } from './session.ts'

/**
 * Keeps in this tab what is typed into `form` and not sent, so that it survives a reload, and puts it back. Returns a function that forgets it.
 */
export function useDraft<V extends FieldValues, C, O>({ setValue, subscribe }: UseFormReturn<V, C, O>, name: string) {
  useEffect(() => {
    for (const [field, value] of Object.entries(readDraft(name)))
      setValue(field as Path<V>, value as PathValue<V, Path<V>>, { shouldDirty: true })
    // The form also tells of what is not typed, as of having been sent.
    let last = ''
    return subscribe({
      formState: { values: true },
      callback: ({ values, defaultValues }) => {
        const known: Record<string, unknown> = defaultValues ?? {}
        const typed = Object.entries(values).filter(
          ([field, value]) => JSON.stringify(value) !== JSON.stringify(known[field]),
        )
        const text = JSON.stringify(typed)
        if (text !== last) keepDraft(name, Object.fromEntries(typed))
        last = text
      },
    })
  }, [setValue, subscribe, name])
  return () => keepDraft(name, {})
}

type Draft = Record<string, unknown>

function readDrafts(): Record<string, Draft> {
  const kept = readOwned(sessionStorage, draftsKey)
  const isMine = kept !== null && kept.owner === ownerOf(currentSession())
  return isMine && typeof kept.texts === 'object' ? { ...(kept.texts as Record<string, Draft>) } : {}
}

function readDraft(name: string): Draft {
  return readDrafts()[name] ?? {}
}

function keepDraft(name: string, draft: Draft) {
  const { [name]: _, ...others } = readDrafts()
  const texts = Object.keys(draft).length > 0 ? { ...others, [name]: draft } : others
  sessionStorage.setItem(draftsKey, JSON.stringify({ owner: ownerOf(currentSession()), texts }))
}
