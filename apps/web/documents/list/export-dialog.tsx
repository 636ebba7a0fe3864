import { exportDocuments } from '@vigia/contract/document-files'
import { formatCount } from '@vigia/contract/text'
import { useState } from 'react'
import type { CallInput } from '../../lib/api.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { notifyInfo } from '../../lib/notify.ts'
import { actionFailure, useAction } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { useGone } from '../../ui/hooks/gone.ts'
import { Notice } from '../../ui/notice.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { startDownload } from '../../ui/save-file.ts'

type Body = CallInput<typeof exportDocuments>['body']

interface ExportDialogProps {
  kind: DocumentKind
  selected: string[]
  filter: Body['filtro']
  filterCount: number
  onClose: () => void
}

/** Choice of documents and contents of an export; the ZIP is written during the download. */
export function ExportDialog({ kind, selected, filter, filterCount, onClose }: ExportDialogProps) {
  const [scope, setScope] = useState<'selected' | 'filter'>(selected.length > 0 ? 'selected' : 'filter')
  const [parts, setParts] = useState({ xml: true, pdf: false, planilha: true })
  const isGone = useGone()
  const action = useAction(exportDocuments, {
    errorToast: isGone,
    onSuccess: ({ data }) => {
      onClose()
      if (!data) return
      startDownload(data.endereco, data.nome)
      notifyInfo('A exportação começou.', {
        description: `${data.nome} continua a ser recebido em segundo plano: você pode seguir trabalhando.`,
      })
    },
  })
  const count = scope === 'selected' ? selected.length : filterCount
  const nothing = count === 0 || !Object.values(parts).includes(true)
  const start = () => {
    if (action.isPending || nothing) return
    action.mutate({ body: { ...parts, ...(scope === 'selected' ? { idsDFe: selected } : { filtro: filter }) } })
  }
  return (
    <Dialog open onClose={onClose} title="Exportar" description="Um arquivo ZIP com pastas por empresa, mês e tipo.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <div className="grid gap-5 px-5 py-4">
          {action.error && (
            <Notice tone="error" title={actionFailure(action.error)}>
              Nada foi exportado.
            </Notice>
          )}
          <fieldset className="grid gap-1">
            <legend className="mb-1 font-semibold text-sm">Quais documentos</legend>
            {selected.length > 0 && (
              <Scope checked={scope === 'selected'} onChange={() => setScope('selected')}>
                {formatCount(selected.length, `${kind.one} ${kind.selectedOne}`, `${kind.many} ${kind.selectedMany}`)}
              </Scope>
            )}
            <Scope checked={scope === 'filter'} onChange={() => setScope('filter')}>
              {formatCount(filterCount, `${kind.one} do filtro`, `${kind.many} do filtro`)}
            </Scope>
          </fieldset>
          <fieldset className="grid gap-1">
            <legend className="mb-1 font-semibold text-sm">O que levar</legend>
            <Part checked={parts.xml} onChange={(xml) => setParts({ ...parts, xml })} help="como a SEFAZ entregou">
              XML
            </Part>
            <Part
              checked={parts.pdf}
              onChange={(pdf) => setParts({ ...parts, pdf })}
              help={`${kind.form} de cada um; demora mais`}
            >
              PDF
            </Part>
            <Part
              checked={parts.planilha}
              onChange={(planilha) => setParts({ ...parts, planilha })}
              help="números e datas de verdade, chaves como texto"
            >
              Planilha
            </Part>
          </fieldset>
        </div>
        <footer className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-5 py-3.5">
          <p aria-live="polite" className="mr-auto text-muted tabular-nums">
            {nothing && (count === 0 ? 'Não há o que exportar.' : 'Escolha o que exportar.')}
          </p>
          <Button variant="outline" onClick={onClose}>
            Cancelar
          </Button>
          <Button type="submit" busy={action.isPending} disabled={nothing}>
            {action.isPending ? 'Preparando...' : 'Exportar'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

const choiceClass = 'flex min-h-7 cursor-pointer items-center gap-2.5 pointer-coarse:min-h-11'

function Scope({ checked, onChange, children }: { checked: boolean; onChange: () => void; children: string }) {
  return (
    <label className={choiceClass}>
      <input type="radio" name="scope" checked={checked} onChange={onChange} className="size-4 accent-brand" />
      {children}
    </label>
  )
}

interface PartProps {
  checked: boolean
  onChange: (checked: boolean) => void
  help: string
  children: string
}

function Part({ checked, onChange, help, children }: PartProps) {
  return (
    <Checkbox
      checked={checked}
      onChange={(event) => onChange(event.target.checked)}
      label={
        <>
          {children} <span className="text-muted text-sm">({help})</span>
        </>
      }
    />
  )
}
