import { type CompanyRow, synchronizeCompany } from '@vigia/contract/companies'
import { clsx } from 'clsx'
import { RefreshCw } from 'lucide-react'
import { useRef } from 'react'
import { useCompanyText } from '../lib/companies.ts'
import { notifyBeginning, notifyError, notifyInfo } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { buttonClass } from '../ui/button.tsx'
import { besideLink } from '../ui/hooks/row-keys.ts'

/** Shown when a refusal gives no reason (section 8). */
export const tryLater = 'Tente novamente mais tarde'

// A toast that changed at once could not be read.
const readableMs = 1_000

export const syncButtonId = (companyId: string) => `sincronizar-${companyId}`

/** Requests a query now; hidden for read-only roles. */
export function SyncButton({ company }: { company: CompanyRow }) {
  return useMay('fiscal') ? <OwnSyncButton company={company} /> : null
}

function OwnSyncButton({ company }: { company: CompanyRow }) {
  // One toast for the beginning and the result.
  const id = `sincronizar ${company.id}`
  const name = useCompanyText()(company.id, company.razaoSocial)
  const begun = useRef(0)
  const tellResult = (tell: () => void) => setTimeout(tell, begun.current + readableMs - Date.now())
  const action = useAction(synchronizeCompany, {
    errorToast: false,
    onSuccess: ({ message }) => tellResult(() => notifyInfo(name, { description: message, id })),
    onError: (error) =>
      tellResult(() => notifyError('Erro ao sincronizar empresa', { description: actionMessage(error, tryLater), id })),
  })
  return (
    <button
      id={syncButtonId(company.id)}
      type="button"
      aria-label={`Sincronizar ${name}`}
      title="Sincronizar"
      // Not disabled: the focus would be lost.
      aria-disabled={action.isPending || undefined}
      tabIndex={besideLink}
      onClick={() => {
        if (action.isPending) return
        begun.current = Date.now()
        notifyBeginning('Iniciando sincronização...', { description: `Sincronizando ${name}`, id })
        action.mutate({ query: { idEmpresa: company.id } })
      }}
      className={buttonClass({ variant: 'ghost', size: 'icon' })}
    >
      <RefreshCw aria-hidden className={clsx('size-4', action.isPending && 'animate-spin')} />
    </button>
  )
}
