import { archiveCompany, type CompanyDetail, reactivateCompany } from '@vigia/contract/companies'
import { ArchiveRestore } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useCompanyText } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { hasPlans } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { besideLink } from '../ui/hooks/row-keys.ts'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { syncButtonId } from './sync-button.tsx'
import { captureHeading, companiesList } from './work-list.ts'

interface ArchivedProps {
  id: string
  razaoSocial: string
}

const reactivateId = (companyId: string) => `reativar-${companyId}`

/**
 * Restores focus after a success removed the pressed button: focuses the first of these ids on the
 * screen. Returns a function that reports the success.
 */
function useSuccessor(...ids: string[]): () => void {
  const done = useRef(false)
  const latest = useRef(ids)
  useEffect(
    () => () => {
      if (!done.current || document.activeElement !== document.body) return
      latest.current
        .map((id) => document.getElementById(id))
        .find((found) => found !== null)
        ?.focus()
    },
    [],
  )
  return () => {
    done.current = true
  }
}

/** Takes a company that was archived back into use; `bare`: as an icon, in its row. */
export function ReactivateButton({ id, razaoSocial, bare = false }: ArchivedProps & { bare?: boolean }) {
  const name = useCompanyText()(id, razaoSocial)
  const succeed = useSuccessor(syncButtonId(id), captureHeading, companiesList)
  const action = useAction(reactivateCompany, {
    onSuccess: ({ message }) => {
      succeed()
      notifySuccess(name, { description: message })
    },
  })
  return (
    <Button
      id={reactivateId(id)}
      variant={bare ? 'ghost' : 'outline'}
      size={bare ? 'icon' : 'sm'}
      aria-label={`Reativar ${name}`}
      title={bare ? 'Reativar' : undefined}
      tabIndex={bare ? besideLink : undefined}
      busy={action.isPending}
      onClick={() => action.mutate({ query: { id } })}
    >
      {bare ? <ArchiveRestore aria-hidden className="size-4" /> : 'Reativar'}
    </Button>
  )
}

export function ArchivedNotice({ id, razaoSocial }: ArchivedProps) {
  return (
    <Notice tone="info" title="Empresa arquivada" action={<ReactivateButton id={id} razaoSocial={razaoSocial} />}>
      Nada é consultado na SEFAZ em nome dela{hasPlans && ', e ela não conta no plano'}. Os documentos já guardados
      continuam aqui.
    </Notice>
  )
}

/** Ends the captures of a company; its documents stay. */
export function ArchiveSection({ companyId, company }: { companyId: string; company: CompanyDetail }) {
  const textOf = useCompanyText()
  const [asking, setAsking] = useState(false)
  const succeed = useSuccessor(reactivateId(companyId))
  const action = useAction(archiveCompany, {
    errorToast: false,
    onSuccess: ({ message }) => {
      setAsking(false)
      succeed()
      notifySuccess('Empresa arquivada', { description: message })
    },
  })
  return (
    <section aria-labelledby="arquivar" className="ledger grid gap-3 py-4">
      <h2 id="arquivar" className="text-lg">
        Arquivar empresa
      </h2>
      <p className="max-w-[70ch] text-muted">
        Para quem deixou de ser cliente: a captura e a ciência automática param, os documentos continuam aqui
        {hasPlans && ' e a empresa não conta mais no plano'}. Dá para reativar depois
        {hasPlans && ', se couber no plano'}.
      </p>
      <Button variant="outline" size="sm" className="justify-self-start" onClick={() => setAsking(true)}>
        Arquivar
      </Button>
      <ConfirmDialog
        open={asking}
        title={`Arquivar ${textOf(companyId, company.razaoSocial)}?`}
        confirm="Arquivar"
        busy={action.isPending}
        onConfirm={() => action.mutate({ query: { id: companyId } })}
        onCancel={() => {
          setAsking(false)
          action.reset()
        }}
      >
        <p>
          A partir de agora nada é consultado na SEFAZ em nome dela, e a ciência automática é desligada. O certificado
          continua guardado; para apagá-lo, use Remover certificado.
        </p>
        <p>
          A SEFAZ guarda cada documento por cerca de 90 dias e, depois de 60 dias sem nenhuma consulta, deixa de numerar
          os novos, que assim não chegam mais.
        </p>
        {action.error && (
          <Notice tone="error" title="A empresa não foi arquivada">
            {actionMessage(action.error)}
          </Notice>
        )}
      </ConfirmDialog>
    </section>
  )
}
