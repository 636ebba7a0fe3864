import { getTwoPeople } from '@vigia/contract/answer-rules'
import { justificationMaxOf } from '@vigia/contract/codes'
import type { DocumentRow } from '@vigia/contract/documents'
import { formatInteger, formatMoney } from '@vigia/contract/text'
import { UserCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { AnswerType } from '../../lib/answer-types.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifyError, notifyInfo, notifySuccess, notifyWarning } from '../../lib/notify.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { useUnloadQuestion } from '../../lib/unload-question.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Textarea } from '../../ui/form/textarea.tsx'
import { useGone } from '../../ui/hooks/gone.ts'
import { Dialog, keepFocus } from '../../ui/overlay/dialog.tsx'
import { type AnswerForm, useAnswerForm, useSending } from './answer-form.ts'
import { CorrectionsFields } from './corrections-fields.tsx'
import { KeptTexts, useKeptTexts } from './kept-texts.tsx'
import { type Barred, PreviewBlock, usePreview } from './preview.tsx'
import { mayNeedTwo, secondPersonText } from './second-person.ts'
import type { SendingResult } from './sending.ts'
import { countsOf, SendingResults } from './sending-results.tsx'

interface ManifestationDialogProps {
  /** Typed text is kept while it is closed. */
  open: boolean
  kind: DocumentKind
  answer: AnswerType
  ids: readonly string[]
  /** Rows that have been on the screen, for the names of documents. */
  known: ReadonlyMap<string, DocumentRow>
  /** The documents that were sent, registered or not yet. */
  onSent: (ids: string[]) => void
  /** Selects the skipped documents again. */
  onSelectAgain: (ids: string[]) => void
  /** Whether a request is running. */
  onHold: (on: boolean) => void
  onClose: () => void
}

const footerClass = 'flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5'

/** Explains an answer, counts and skips documents, sends it, and shows the result of each. */
export function ManifestationDialog({ open, ids: chosen, onClose, ...rest }: ManifestationDialogProps) {
  const { onSent, onSelectAgain, ...about } = rest
  const { kind, answer, known } = about
  const [ids, setIds] = useState(chosen)
  const [results, setResults] = useState<SendingResult[]>()
  const form = useAnswerForm(answer)
  useUnloadQuestion(open && !results && form.formState.isDirty)
  const texts = useKeptTexts(kind, answer, ids, form)
  const isGone = useGone()
  useClosedByBack(open, () => {
    if (results) onClose()
    else if (!['', texts.suggestion].includes(form.getValues('justificativa').trim()))
      notifyInfo('O que você escreveu continua guardado.', {
        description: `Para continuar, avance ou abra ${answer.label} de novo com a mesma seleção.`,
      })
  })
  if (!open) return null
  if (!results) {
    const onDone = (answered: SendingResult[], message: string, barred: Barred) => {
      const all = [...answered, ...barred.map(notAllowed)]
      const sent = all.filter(({ situacao }) => wasSent.has(situacao))
      if (sent.length > 0) onSent(sent.map(({ idDfe }) => idDfe))
      if (sent.length < answered.length) {
        if (isGone()) notifyWarning(`${dialogTitle(answer)}: ${countsOf(all)}`, { description: whereToSee })
        return setResults(all)
      }
      notifySuccess(message, barred.length > 0 ? leftOutNote(kind, barred, onSelectAgain) : {})
      onClose()
    }
    return <AnswerDialog {...about} ids={ids} form={form} texts={texts} onDone={onDone} onClose={onClose} />
  }
  const repeatable = results.filter((result) => result.repeatable).map(({ idDfe }) => idDfe)
  const repeat = () => {
    setIds(repeatable)
    setResults(undefined)
  }
  const unsent = results.filter(({ situacao }) => !wasSent.has(situacao)).map(({ idDfe }) => idDfe)
  const selectAgain = () => {
    onSelectAgain(unsent)
    onClose()
  }
  return (
    <Dialog open onClose={onClose} title={dialogTitle(answer)} className="max-w-2xl">
      <SendingResults kind={kind} results={results} known={known} />
      <footer className={footerClass}>
        {repeatable.length > 0 && (
          <Button variant="outline" onClick={repeat}>
            {results.some(({ situacao, repeatable }) => repeatable && situacao === 'nao-enviada')
              ? 'Repetir só o que faltou'
              : 'Repetir só as recusadas'}{' '}
            ({formatInteger(repeatable.length)})
          </Button>
        )}
        {unsent.length < results.length && (
          <Button variant="outline" onClick={selectAgain}>
            {selectAgainWords} ({formatInteger(unsent.length)})
          </Button>
        )}
        <Button onClick={onClose}>Fechar</Button>
      </footer>
    </Dialog>
  )
}

const wasSent: ReadonlySet<SendingResult['situacao']> = new Set([
  'registrada',
  'enviando',
  'aceita',
  'aguarda-segunda-pessoa',
])
const whereToSee = 'O histórico de cada documento mostra o que foi enviado; o que não saiu pode ser repetido.'

function useClosedByBack(open: boolean, onClosed: () => void) {
  const wasOpen = useRef(open)
  useEffect(() => {
    if (wasOpen.current && !open) onClosed()
    wasOpen.current = open
  })
}

interface AnswerDialogProps extends Omit<ManifestationDialogProps, 'open' | 'onSent' | 'onSelectAgain'> {
  form: AnswerForm
  texts: ReturnType<typeof useKeptTexts>
  onDone: (results: SendingResult[], message: string, barred: Barred) => void
}

function AnswerDialog({ kind, answer, ids, known, form, texts, onDone, onHold, onClose }: AnswerDialogProps) {
  const preview = usePreview(kind, answer.code, ids)
  const { allowed = [], barred = [] } = preview.data ?? {}
  const sending = useSending(kind, answer, (results, message) => onDone(results, message, barred))
  const { pending } = sending
  useEffect(() => {
    onHold(pending)
    return () => onHold(false)
  }, [pending, onHold])
  const leave = () => {
    if (!sending.pending) onClose()
    else if (sending.stoppable) sending.stop()
  }
  const submit = form.handleSubmit((said) => {
    if (allowed.length > 0) return sending.start(allowed, said)
    const reasons = [...new Set(barred.map(({ motivo }) => motivo))]
    notifyError(`Erro na operação: ${reasons.join(' ')}`)
  })
  const blank = form.watch('justificativa').trim() === ''
  return (
    <Dialog open onClose={leave} title={dialogTitle(answer)} className="max-w-xl">
      <form className="flex min-h-0 flex-col" noValidate onSubmit={submit}>
        <div className="grid gap-4 overflow-y-auto px-5 py-4">
          <p>{answer.means}</p>
          <Subject kind={kind} ids={ids} known={known} />
          <PreviewBlock kind={kind} total={ids.length} preview={preview} />
          {mayNeedTwo(kind, answer.code) && <SecondPerson ids={allowed} known={known} />}
          <Reason answer={answer} form={form} onSend={() => !blank && preview.data && void submit()} />
          <KeptTexts {...texts} form={form} />
          {answer.corrects && <CorrectionsFields form={form} />}
        </div>
        <footer className={footerClass}>
          {sending.pending && sending.stoppable && (
            <p role="status" className="mr-auto self-center text-muted tabular-nums">
              {formatInteger(sending.done)} de {formatInteger(allowed.length)}
            </p>
          )}
          <Button
            variant="outline"
            // Keeps the focus: an error message on blur would move the button.
            onMouseDown={keepFocus}
            onClick={leave}
            disabled={sending.pending && (!sending.stoppable || sending.stopping)}
          >
            {sending.pending && sending.stoppable ? 'Parar o envio' : 'Cancelar'}
          </Button>
          <Button type="submit" busy={sending.pending} disabled={blank || !preview.data}>
            {sending.pending ? 'Enviando...' : 'Enviar'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function dialogTitle(answer: AnswerType): string {
  return `Manifestar - ${answer.label}`
}

const selectAgainWords = 'Selecionar de novo'
const namedMax = 3

const notAllowed = ({ idDfe, numero, motivo }: Barred[number]): SendingResult => ({
  idDfe,
  numero,
  situacao: 'nao-enviada',
  mensagem: motivo,
  repeatable: false,
})

// Stays until it is read, because the selection is empty.
function leftOutNote(kind: DocumentKind, barred: Barred, onSelectAgain: (ids: string[]) => void) {
  const names = barred.slice(0, namedMax).map(({ numero, emitente }) => `${kind.short} ${numero} de ${emitente}`)
  const rest = barred.length - names.length
  const more = rest > 0 ? ` e mais ${formatInteger(rest)}` : ''
  return {
    description: `${barred.length === 1 ? 'Ficou' : 'Ficaram'} de fora: ${names.join(', ')}${more}.`,
    action: { label: selectAgainWords, onClick: () => onSelectAgain(barred.map(({ idDfe }) => idDfe)) },
  }
}

// One document is named; several are counted.
function Subject({ kind, ids, known }: Pick<ManifestationDialogProps, 'kind' | 'ids' | 'known'>) {
  const [only] = ids
  const row = ids.length === 1 && only ? known.get(only) : undefined
  return (
    <div>
      <p className="font-semibold tabular-nums">Documentos selecionados: {ids.length}</p>
      {row && (
        <p className="break-words text-muted tabular-nums">
          {kind.short} {row.numero} de {row.emitente}, {formatMoney(row.valor)}
        </p>
      )}
    </div>
  )
}

// Answers that need a second person are not sent at once.
function SecondPerson({ ids, known }: Pick<ManifestationDialogProps, 'ids' | 'known'>) {
  const { data } = useScreenQuery(getTwoPeople, {})
  const text = data?.valor == null ? null : secondPersonText(ids, known, data.valor)
  if (text === null) return null
  return (
    <p role="status" className="flex items-start gap-2">
      <UserCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
      {text}
    </p>
  )
}

interface ReasonProps {
  answer: AnswerType
  form: AnswerForm
  onSend: () => void
}

function Reason({ answer, form: { register, formState, watch }, onSend }: ReasonProps) {
  const length = watch('justificativa').length
  const max = justificationMaxOf(answer.code)
  return (
    <Field
      label="Justificativa"
      required
      error={formState.errors.justificativa?.message}
      help={
        <span className="flex flex-wrap justify-between gap-x-4">
          <span>
            {answer.reasonMin > 1
              ? `De ${answer.reasonMin} a ${max} caracteres, em uma linha.`
              : 'A SEFAZ não exige este texto; ele fica guardado com a resposta.'}
          </span>
          <span className={length > max ? 'text-error tabular-nums' : 'tabular-nums'}>
            {length}/{max} caracteres
          </span>
        </span>
      }
    >
      {(control) => (
        <Textarea
          {...control}
          {...register('justificativa')}
          data-initial-focus
          rows={3}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend()
          }}
        />
      )}
    </Field>
  )
}
