import { keepManifestationText, keptTextsMax, listManifestationTexts } from '@vigia/contract/manifestation'
import { clsx } from 'clsx'
import { BookmarkPlus, X } from 'lucide-react'
import { useEffect } from 'react'
import type { AnswerType } from '../../lib/answer-types.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { useAction, useScreenQuery } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import type { AnswerForm } from './answer-form.ts'
import { useFreightReasons } from './freight-reasons.ts'

/** Saved texts for an answer. Until the person types, the form holds the reason of a freight finding or the server's suggestion. */
export function useKeptTexts(kind: DocumentKind, answer: AnswerType, ids: readonly string[], form: AnswerForm) {
  const about = { TipoDFe: kind.tipoDFe, tipoManifestacao: answer.code }
  const { data } = useScreenQuery(listManifestationTexts, { query: about })
  const found = useFreightReasons(answer, ids)
  const suggestion = found?.[0] ?? (found && data?.sugestao) ?? ''
  useEffect(() => {
    if (suggestion !== '' && form.getValues('justificativa') === '') form.setValue('justificativa', suggestion)
  }, [suggestion, form])
  return { about, suggestion, usual: [...new Set([...(found ?? []), ...answer.reasons])], kept: data?.modelos ?? [] }
}

interface KeptTextsProps extends Pick<ReturnType<typeof useKeptTexts>, 'about' | 'usual' | 'kept'> {
  form: AnswerForm
}

/** List of texts to choose from, with buttons to delete a saved one and to save the current one. */
export function KeptTexts({ about, usual, form, ...texts }: KeptTextsProps) {
  // One of the usual may have been kept before it was one.
  const kept = texts.kept.filter((one) => !usual.includes(one))
  const action = useAction(keepManifestationText)
  const text = form.watch('justificativa').trim()
  const keep = (justificativa: string, guardado: boolean) =>
    action.mutate({ body: { ...about, justificativa, guardado } })
  const isNew = text !== '' && ![...usual, ...kept].includes(text) && kept.length < keptTextsMax
  if (usual.length === 0 && kept.length === 0 && !isNew) return null
  return (
    <div className="grid gap-2">
      {usual.length + kept.length > 0 && (
        <ul aria-label="Modelos desta resposta" className="flex max-h-32 flex-wrap gap-2 overflow-y-auto">
          {usual.map((one) => (
            <li key={one} className="flex max-w-full items-center rounded-full border border-line">
              <Choice one={one} form={form} className="rounded-full px-3" />
            </li>
          ))}
          {kept.map((one) => (
            <li key={one} className="flex max-w-full items-center rounded-full border border-line">
              <Choice one={one} form={form} className="rounded-l-full pr-1 pl-3" />
              <button
                type="button"
                className="grid size-8 shrink-0 place-items-center rounded-full text-muted hover:text-ink"
                aria-label={`Apagar o modelo: ${one}`}
                disabled={action.isPending}
                onClick={() => keep(one, false)}
              >
                <X aria-hidden className="size-4" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isNew && (
        <Button
          variant="ghost"
          size="sm"
          className="justify-self-start"
          busy={action.isPending}
          onClick={() => keep(text, true)}
        >
          <BookmarkPlus aria-hidden className="size-4" />
          Guardar como modelo
        </Button>
      )}
    </div>
  )
}

function Choice({ one, form, className }: { one: string; form: AnswerForm; className: string }) {
  return (
    <button
      type="button"
      className={clsx('min-h-8 truncate py-1 text-left hover:bg-sunken', className)}
      title={one}
      aria-pressed={one === form.watch('justificativa').trim()}
      onClick={() => form.setValue('justificativa', one, { shouldValidate: true, shouldDirty: true })}
    >
      {one}
    </button>
  )
}
