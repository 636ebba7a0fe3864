import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { justificationMaxOf } from '@vigia/contract/codes'
import { CorrectionForm, justification } from '@vigia/contract/forms'
import { formatCount } from '@vigia/contract/text'
import { useRef, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { z } from 'zod'
import type { AnswerType } from '../../lib/answer-types.ts'
import { ApiError, call } from '../../lib/api.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifyError } from '../../lib/notify.ts'
import { accepted, actionFailure } from '../../lib/query.ts'
import { batchSize, type SendingResult, sendInBatches } from './sending.ts'

const answerValues = (code: number) =>
  z.object({
    justificativa: justification(justificationMaxOf(code)),
    correcoes: z.array(CorrectionForm).max(50, 'Informe no máximo 50 correções de cada vez.'),
  })
type AnswerInput = z.input<ReturnType<typeof answerValues>>
type AnswerOutput = z.output<ReturnType<typeof answerValues>>
export type AnswerForm = UseFormReturn<AnswerInput, unknown, AnswerOutput>

/** Form of an answer, validated by section 5; the server checks further rules of the authority. */
export function useAnswerForm({ code }: AnswerType): AnswerForm {
  return useForm<AnswerInput, unknown, AnswerOutput>({
    resolver: zodResolver(answerValues(code)),
    mode: 'onTouched',
    defaultValues: { justificativa: '', correcoes: [] },
  })
}

interface Sending {
  ids: readonly string[]
  said: AnswerOutput
}

/** Sends once per press, in batches; a failure of the whole is shown as for other actions. */
export function useSending(
  kind: DocumentKind,
  answer: AnswerType,
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
    // Also after a failure: the server may have carried out a call whose response was lost.
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
    start: (ids: readonly string[], said: AnswerOutput) => {
      // A second press may come before the next rendering.
      if (started.current) return
      started.current = true
      action.mutate({ ids, said })
    },
  }
}

async function sendBatch(
  kind: DocumentKind,
  answer: AnswerType,
  idsDFe: string[],
  { justificativa, correcoes }: AnswerOutput,
) {
  const body = {
    justificativa,
    idsDFe,
    tipoManifestacao: answer.code,
    ...(answer.corrects && correcoes.length > 0 && { correcoes }),
  }
  const { message, data } = accepted(await call(kind.manifest, { body }))
  return { message, documents: data?.documentos ?? [] }
}

function summaryOf(results: readonly SendingResult[], messages: readonly string[]): string {
  const count = (situacao: SendingResult['situacao']) => results.filter((result) => result.situacao === situacao).length
  const said = [...new Set(messages)]
  if (messages.length === 1 || count('aceita') > 0) return said.join(' ')
  const registered = formatCount(count('registrada'), 'evento registrado', 'eventos registrados')
  const sending = count('enviando')
  const asked = count('aguarda-segunda-pessoa')
  if (asked > 0)
    return `${formatCount(asked, 'resposta espera', 'respostas esperam')} a aprovação de uma segunda pessoa, e nada foi enviado ainda. ${registered}, ${sending} em envio.`
  return sending > 0 ? `${registered}, ${sending} em envio: o resultado aparece na lista.` : `${registered}.`
}
