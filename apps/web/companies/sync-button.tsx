import { synchronizeCompany } from '@vigia/contract/companies'
import { clsx } from 'clsx'
import { RefreshCw } from 'lucide-react'
import { notifyError, notifyInfo } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import type { CompanyRow } from '../lib/response-adapter.ts'
import { buttonClass } from '../ui/button.tsx'

const clocksDifferMs = 5_000
/** Shown when a refusal gives no reason (section 8). */
export const tryLater = 'Tente novamente mais tarde'

export function SyncButton({ company }: { company: CompanyRow }) {
  const action = useAction(synchronizeCompany, {
    errorToast: false,
    onSuccess: ({ data, message }) => {
      // When the query leaves later or not at all, the server's message says why.
      const next = data?.proximaConsulta
      if (!next || Date.parse(next) > Date.now() + clocksDifferMs)
        notifyInfo(company.razaoSocial, { description: message })
    },
    onError: (error) => notifyError('Erro ao sincronizar empresa', { description: actionMessage(error, tryLater) }),
  })
  return (
    <button
      type="button"
      aria-label={`Sincronizar ${company.razaoSocial}`}
      title="Sincronizar"
      disabled={action.isPending}
      onClick={() => {
        notifyInfo('Iniciando sincronização...', { description: `Sincronizando ${company.razaoSocial}` })
        action.mutate({ query: { idEmpresa: company.id } })
      }}
      className={buttonClass({ variant: 'ghost', size: 'icon' })}
    >
      <RefreshCw aria-hidden className={clsx('size-4', action.isPending && 'animate-spin')} />
    </button>
  )
}
