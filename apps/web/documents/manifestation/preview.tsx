import { useQuery } from '@tanstack/react-query'
import { previewManifestation } from '@vigia/contract/manifestation'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { CircleCheck, CircleSlash, LoaderCircle } from 'lucide-react'
import { useState } from 'react'
import { errorMessage, isUnknownCall } from '../../lib/api.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { read } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { useNow } from '../../ui/hooks/clock.ts'
import { Notice } from '../../ui/notice.tsx'
import { untilText } from '../deadlines.ts'
import { batches } from './sending.ts'

type Data = RouteData<typeof previewManifestation>
/** The documents that cannot take an answer, and why. */
export type Barred = Data['impedidos']

interface Preview {
  allowed: readonly string[]
  barred: Barred
  /** Until when it can be sent for all of the allowed; null: not known. */
  until: string | null
  /** The server has no preview: it checks each document when it is sent. */
  unchecked?: true
}

/** Checks which documents an answer can be sent for, before sending. */
export function usePreview(kind: DocumentKind, code: number, ids: readonly string[]) {
  const [checked, setChecked] = useState(0)
  const query = useQuery({
    queryKey: [previewManifestation.path, code, ids],
    queryFn: async ({ signal }): Promise<Preview> => {
      setChecked(0)
      const parts: Data[] = []
      try {
        for (const batch of batches(ids)) {
          const body = { TipoDFe: kind.tipoDFe, tipoManifestacao: code, idsDFe: batch }
          parts.push(await read(previewManifestation, { body }, { signal }))
          setChecked((before) => before + batch.length)
        }
      } catch (error) {
        if (isUnknownCall(error)) return { allowed: ids, barred: [], until: null, unchecked: true }
        throw error
      }
      return {
        allowed: parts.flatMap(({ permitidos }) => permitidos),
        barred: parts.flatMap(({ impedidos }) => impedidos),
        until: parts.flatMap(({ primeiroPrazo }) => primeiroPrazo ?? []).sort()[0] ?? null,
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return { ...query, checked }
}

interface PreviewBlockProps {
  kind: DocumentKind
  total: number
  preview: ReturnType<typeof usePreview>
}

/** Number of documents for an answer, and the skipped ones with reasons. */
export function PreviewBlock({ kind, total, preview }: PreviewBlockProps) {
  const now = useNow(60_000)
  if (preview.error && !preview.data) {
    return (
      <Notice
        tone="error"
        title="Não conseguimos conferir os documentos"
        action={
          <Button variant="outline" size="sm" onClick={() => void preview.refetch()} busy={preview.isFetching}>
            Conferir de novo
          </Button>
        }
      >
        Nada foi enviado. {errorMessage(preview.error)}
      </Notice>
    )
  }
  if (!preview.data) {
    return (
      <p role="status" className="flex min-h-10 items-center gap-2 border-line border-y py-2 text-muted tabular-nums">
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
        Conferindo{total > 300 && ` ${formatInteger(preview.checked)} de ${formatInteger(total)}`}...
      </p>
    )
  }
  const { allowed, barred, until, unchecked } = preview.data
  if (unchecked) {
    return (
      <p role="status" className="border-line border-y py-2 text-muted">
        Cada documento é conferido quando você enviar.
      </p>
    )
  }
  return (
    <div role="status" className="border-line border-y py-2">
      {allowed.length > 0 && (
        <p className="flex items-start gap-2">
          <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
          Vai para {formatCount(allowed.length, kind.one, kind.many)}.
        </p>
      )}
      {until && <p className="ml-6 text-muted tabular-nums">{untilText(until, allowed.length, now)}</p>}
      {barred.length > 0 && <BarredList kind={kind} barred={barred} none={allowed.length === 0} />}
    </div>
  )
}

const shownMax = 100

function BarredList({ kind, barred, none }: { kind: DocumentKind; barred: Barred; none: boolean }) {
  const text = none
    ? `${kind.none} pode receber esta resposta:`
    : `${formatCount(barred.length, kind.one, kind.many)} ${barred.length === 1 ? 'fica' : 'ficam'} de fora:`
  return (
    <>
      <p className="flex items-start gap-2">
        <CircleSlash aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
        {text}
      </p>
      <ul
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label="Documentos que ficam de fora"
        className="mt-1 ml-6 max-h-36 overflow-y-auto text-sm"
      >
        {barred.slice(0, shownMax).map(({ idDfe, numero, emitente, motivo }) => (
          <li key={idDfe} className="break-words py-0.5">
            <span className="font-semibold tabular-nums">
              {kind.short} {numero}
            </span>{' '}
            de {emitente}: <span className="text-muted">{motivo}</span>
          </li>
        ))}
        {barred.length > shownMax && <li className="py-0.5">e mais {formatInteger(barred.length - shownMax)}</li>}
      </ul>
    </>
  )
}
