import { type CompanyRow, synchronizeCompany } from '@vigia/contract/companies'
import { clsx } from 'clsx'
import { RefreshCw } from 'lucide-react'
import { formatAtMoment } from '../lib/format.ts'
import { notifyError, notifyInfo } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { buttonClass } from '../ui/button.tsx'

export function SyncButton({ company }: { company: CompanyRow }) {
  const action = useAction(synchronizeCompany, {
    errorToast: false,
    onSuccess: ({ data }) => {
      // Asking again during the pause of the tax authority would start the pause again, so the server waits for its end.
      const next = data?.proximaConsulta
      if (next && new Date(next) > new Date()) {
        const description = `A SEFAZ limita as consultas. A de ${company.razaoSocial} sai ${formatAtMoment(next, new Date())}.`
        notifyInfo('Consulta agendada', { description })
      }
    },
    onError: (error) =>
      notifyError('Erro ao sincronizar empresa', { description: actionMessage(error) || 'Tente novamente mais tarde' }),
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
      className={buttonClass({ variant: 'ghost', size: 'icon', className: '-mr-2' })}
    >
      <RefreshCw aria-hidden className={clsx('size-4', action.isPending && 'animate-spin')} />
    </button>
  )
}
