import { zodResolver } from '@hookform/resolvers/zod'
import { SaveViewForm } from '@vigia/contract/forms'
import { listViews, removeView, type SavedView, saveView } from '@vigia/contract/views'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { Link } from 'react-router'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifySuccess } from '../../lib/notify.ts'
import { actionMessage, useAction, useScreenQuery } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { Changes } from '../../ui/changes.tsx'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

interface ViewsDialogProps {
  kind: DocumentKind
  /** The query of the list's address: filter, order and columns as they are now. */
  address: string
  onClose: () => void
}

/** Saves the current list as a named view, and manages saved views. */
export function ViewsDialog({ kind, address, onClose }: ViewsDialogProps) {
  const { data, error } = useScreenQuery(listViews, {})
  const mayChange = useMay('fiscal')
  const views = data?.filter(({ tipoDFe }) => tipoDFe === kind.tipoDFe)
  return (
    <Dialog
      open
      onClose={onClose}
      title="Visões"
      description="Filtro, ordem e colunas com um nome, para todos da conta; ficam na navegação."
    >
      <div className="grid gap-5 overflow-y-auto px-5 py-4">
        <Changes by={saveView}>
          {mayChange && <SaveForm kind={kind} address={address} onSaved={onClose} />}
          <section aria-label="Visões guardadas" className="ledger">
            {error && <Notice tone="error" title={actionMessage(error)} />}
            {!views && !error && <Skeleton className="my-3 w-40" />}
            {views?.length === 0 && <p className="py-3 text-muted">Nenhuma visão guardada ainda.</p>}
            <ul>
              {views?.map((view) => (
                <ViewLine key={view.idVisao} kind={kind} view={view} mayChange={mayChange} onFollow={onClose} />
              ))}
            </ul>
          </section>
        </Changes>
      </div>
    </Dialog>
  )
}

function SaveForm({ kind, address, onSaved }: { kind: DocumentKind; address: string; onSaved: () => void }) {
  const { register, handleSubmit, formState, watch, setValue } = useForm({
    resolver: zodResolver(SaveViewForm),
    defaultValues: { tipoDFe: kind.tipoDFe, nome: '', endereco: address, inicial: false },
  })
  const action = useAction(saveView, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onSaved()
    },
  })
  return (
    <form className="grid gap-3" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      {formState.errors.endereco && <Notice tone="error" title="Esta pesquisa é longa demais para guardar." />}
      <Field label="Nome da visão" required error={formState.errors.nome?.message}>
        {(control) => (
          <Input {...control} {...register('nome')} data-initial-focus autoComplete="off" placeholder="Sem resposta" />
        )}
      </Field>
      <Checkbox
        label={`Na navegação, abrir ${kind.title} assim (só para mim)`}
        checked={watch('inicial') === true}
        onChange={(event) => setValue('inicial', event.target.checked)}
      />
      <Button type="submit" className="justify-self-start" busy={action.isPending}>
        Guardar o que a lista mostra agora
      </Button>
    </form>
  )
}

interface ViewLineProps {
  kind: DocumentKind
  view: SavedView
  mayChange: boolean
  onFollow: () => void
}

function ViewLine({ kind, view, mayChange, onFollow }: ViewLineProps) {
  const [asking, setAsking] = useState(false)
  const action = useAction(removeView, { onSuccess: () => setAsking(false) })
  return (
    <li className="flex items-center gap-3 border-line border-b py-1.5">
      <div className="min-w-0 flex-1">
        <Link
          to={`${kind.path}?${view.endereco}`}
          onClick={onFollow}
          className="block min-h-6 truncate font-semibold text-brand underline underline-offset-3"
        >
          {view.nome}
        </Link>
        <p className="truncate text-muted text-sm">
          {[view.guardadaPor && `Guardada por ${view.guardadaPor}`, view.inicial && 'abre primeiro para você']
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      {mayChange && (
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Apagar a visão ${view.nome}`}
          title="Apagar, para todos"
          onClick={() => setAsking(true)}
        >
          <Trash2 aria-hidden className="size-4" />
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        title={`Apagar a visão “${view.nome}”?`}
        confirm="Apagar"
        danger
        busy={action.isPending}
        onConfirm={() => action.mutate({ body: { idVisao: view.idVisao } })}
        onCancel={() => setAsking(false)}
      >
        <p>Ela some da navegação de todos da conta. Os documentos não mudam.</p>
      </ConfirmDialog>
    </li>
  )
}
