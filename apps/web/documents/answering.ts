import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CorrectionForm, ManifestationForm } from '@vigia/contract/manifestation'
import { useRef, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { z } from 'zod'
import { ApiError, call } from '../lib/api.ts'
import { formatCount } from '../lib/format.ts'
import { notifyError } from '../lib/notify.ts'
import { accepted, actionFailure } from '../lib/query.ts'
import type { Answer } from './answers.ts'
import type { DocumentKind } from './kinds.ts'
import { batchSize, readOutcome, type SendingResult, sendInBatches } from './sending.ts'

const Values = z.object({
  justificativa: ManifestationForm.shape.justificativa,
  correcoes: z.array(CorrectionForm).max(50, 'Informe no máximo 50 correções de cada vez.'),
})
type Typed = z.input<typeof Values>
type Said = z.output<typeof Values>
export type AnswerForm = UseFormReturn<Typed, unknown, Said>

/** What the person says with an answer, checked by section 5; what else the authority asks of some answers, the server says. */
export function useAnswerForm(): AnswerForm {
  return useForm<Typed, unknown, Said>({
    resolver: zodResolver(Values),
    mode: 'onTouched',
    defaultValues: { justificativa: '', correcoes: [] },
  })
}

interface Sending {
  ids: readonly string[]
  said: Said
}

/** Sends once per press, however many batches it takes; a failure of the whole is said as that of any other operation. */
export function useSending(
  kind: DocumentKind,
  answer: Answer,
  onDone: (results: SendingResult[], message: string) => void,
) {
  const client = useQueryClient()
  const [done, setDone] = useState(0)
  const [stopping, setStopping] = useState(false)
  const stopped = useRef(false)
  const started = useRef(false)
  const action = useMutation({
    mutationFn: ({ ids, said }: Sending) => {
      setDone(0)
      setStopping(false)
      stopped.current = false
      return sendInBatches(ids, {
        send: (batch) => sendBatch(kind, answer, batch, said),
        onProgress: setDone,
        stopped: () => stopped.current,
      })
    },
    onSuccess: ({ results, messages }) => onDone(results, summaryOf(results, messages)),
    onError: (error) => {
      const signedOut = error instanceof ApiError && error.status === 401
      if (!signedOut) notifyError(actionFailure(error))
    },
    // Also after a failure: an answer that was lost may have been carried out.
    onSettled: () => {
      started.current = false
      void client.invalidateQueries()
    },
  })
  return {
    pending: action.isPending,
    done,
    stopping,
    stoppable: (action.variables?.ids.length ?? 0) > batchSize,
    stop: () => {
      stopped.current = true
      setStopping(true)
    },
    start: (ids: readonly string[], said: Said) => {
      // Two presses may come before the next drawing knows of the first.
      if (started.current) return
      started.current = true
      action.mutate({ ids, said })
    },
  }
}

async function sendBatch(kind: DocumentKind, answer: Answer, idsDFe: string[], { justificativa, correcoes }: Said) {
  const body = {
    justificativa,
    idsDFe,
    tipoManifestacao: answer.code,
    ...(answer.corrects && correcoes.length > 0 && { correcoes }),
  }
  const { message, data } = accepted<unknown>(await call(kind.manifest, { body }))
  return { message, documents: readOutcome(data) }
}

function summaryOf(results: readonly SendingResult[], messages: readonly string[]): string {
  const count = (situacao: SendingResult['situacao']) => results.filter((result) => result.situacao === situacao).length
  const said = [...new Set(messages)]
  if (messages.length === 1 || count('aceita') > 0) return said.join(' ')
  const registered = formatCount(count('registrada'), 'evento registrado', 'eventos registrados')
  const sending = count('enviando')
  return sending > 0 ? `${registered}, ${sending} em envio: o resultado aparece na lista.` : `${registered}.`
}
