import type { DocumentDetail, DocumentRow } from '@vigia/contract/documents'
import { addRemark, doneMarks, markChecked, markDone, remarkMax, removeRemark } from '@vigia/contract/remarks'
import { formatInstantDate, formatTime } from '@vigia/contract/text'
import { CheckCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { kindOf } from '../../lib/kinds.ts'
import { notifySuccess } from '../../lib/notify.ts'
import { useAction } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { Changes } from '../../ui/changes.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Textarea } from '../../ui/form/textarea.tsx'
import { Notice } from '../../ui/notice.tsx'
import { FactsSkeleton } from './summary.tsx'

const someone = 'alguém que não tem mais conta'
const moment = (instant: string) => `${formatInstantDate(instant)} às ${formatTime(instant)}`

/** Person who checked the document, and later changes. */
export function CheckedLine({ row }: { row: DocumentRow }) {
  const may = useMay('fiscal')
  const action = useAction(markChecked, { onSuccess: ({ message }) => notifySuccess(message) })
  const mark = (conferida: boolean) => action.mutate({ body: { idsDFe: [row.idDfe], conferida } })
  const { conferidaPor, mudouDepois } = row
  const { ending } = kindOf(row.chave)
  const check = (words: string) =>
    may && (
      <Button variant="outline" size="sm" busy={action.isPending} onClick={() => mark(true)}>
        <CheckCheck aria-hidden className="size-4" />
        {words}
      </Button>
    )
  if (mudouDepois)
    return (
      <Notice
        tone="warning"
        title={`Mudou depois de conferid${ending}, lançad${ending}, entregue, exportad${ending} ou confirmad${ending}: ${mudouDepois.evento}.`}
        action={check('Conferir de novo')}
      >
        A SEFAZ entregou isso em {moment(mudouDepois.quando)}. Confira o que já foi pago, escriturado ou entregue.
      </Notice>
    )
  return (
    <div className="flex flex-wrap items-center justify-between gap-2 text-muted text-sm">
      <span>
        {conferidaPor
          ? `Conferid${ending} por ${conferidaPor.nome ?? someone}, em ${moment(conferidaPor.quando)}.`
          : `Não conferid${ending}.`}
      </span>
      {conferidaPor
        ? may && (
            <Button variant="ghost" size="sm" busy={action.isPending} onClick={() => mark(false)}>
              Tirar a marca
            </Button>
          )
        : check(`Marcar como conferid${ending}`)}
    </div>
  )
}

// Marks for booked and handed on.
function DoneMarks({ row }: { row: DocumentRow }) {
  const may = useMay('fiscal')
  const action = useAction(markDone, { onSuccess: ({ message }) => notifySuccess(message) })
  return (
    <ul aria-label="Marcas" className="grid gap-2">
      {doneMarks.map((marca) => {
        const by = marca === 'lancada' ? row.lancadaPor : row.entreguePor
        const name = marca === 'lancada' ? `Lançad${kindOf(row.chave).ending}` : 'Entregue'
        return (
          <li key={marca} className="flex flex-wrap items-center justify-between gap-2 text-muted text-sm">
            <span>
              {by ? `${name} por ${by.nome ?? someone}, em ${moment(by.quando)}.` : `Não ${name.toLowerCase()}.`}
            </span>
            {may && (
              <Button
                variant={by ? 'ghost' : 'outline'}
                size="sm"
                busy={action.isPending}
                aria-label={by ? `Tirar a marca ${name}` : undefined}
                onClick={() => action.mutate({ body: { idsDFe: [row.idDfe], marca, marcada: !by } })}
              >
                {by ? 'Tirar a marca' : `Marcar como ${name.toLowerCase()}`}
              </Button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Remarks and marks of the workspace on the document, with a form for new ones. */
export function PanelRemarks({ detail }: { detail: DocumentDetail | undefined }) {
  if (!detail) return <FactsSkeleton />
  const { documento, anotacoes } = detail
  return (
    <div className="grid gap-4 px-5 py-4 max-sm:px-4">
      <Changes by={markDone}>
        <DoneMarks row={detail.documento} />
        {anotacoes.length === 0 ? (
          <p className="text-muted">Ninguém escreveu nada sobre este documento.</p>
        ) : (
          <ul aria-label="Observações" className="border-line border-t [&>li]:border-line [&>li]:border-b">
            {anotacoes.map((remark) => (
              <RemarkItem key={remark.idObservacao} idDfe={documento.idDfe} remark={remark} />
            ))}
          </ul>
        )}
        <NewRemark key={documento.idDfe} idDfe={documento.idDfe} />
      </Changes>
    </div>
  )
}

interface RemarkItemProps {
  idDfe: string
  remark: DocumentDetail['anotacoes'][number]
}

function RemarkItem({ idDfe, remark: { idObservacao, texto, autor, quando, apagavel } }: RemarkItemProps) {
  const may = useMay('fiscal')
  const action = useAction(removeRemark, { onSuccess: ({ message }) => notifySuccess(message) })
  return (
    <li className="flex items-start gap-2 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="whitespace-pre-line break-words">{texto}</p>
        <p className="mt-0.5 text-muted text-sm tabular-nums">
          {autor ?? someone} · {moment(quando)}
        </p>
      </div>
      {apagavel && may && (
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Apagar a observação de ${moment(quando)}`}
          title="Apagar"
          busy={action.isPending}
          onClick={() => action.mutate({ body: { idDfe, idObservacao } })}
        >
          <Trash2 aria-hidden className="size-4" />
        </Button>
      )}
    </li>
  )
}

function NewRemark({ idDfe }: { idDfe: string }) {
  const may = useMay('fiscal')
  const [text, setText] = useState('')
  const action = useAction(addRemark, {
    onSuccess: ({ message }) => {
      setText('')
      notifySuccess(message)
    },
  })
  if (!may) return null
  return (
    <form
      className="grid justify-items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) action.mutate({ body: { idDfe, texto: text } })
      }}
    >
      <div className="w-full">
        <Field
          label="Nova observação"
          help="Todos do workspace que veem o documento a leem; a SEFAZ e o emitente, não."
        >
          {(control) => (
            <Textarea
              {...control}
              rows={3}
              maxLength={remarkMax.length}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
      </div>
      <Button type="submit" size="sm" busy={action.isPending} aria-disabled={text.trim() === '' || undefined}>
        Guardar observação
      </Button>
    </form>
  )
}
