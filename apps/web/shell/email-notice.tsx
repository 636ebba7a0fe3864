import { getAccount, resendConfirmation } from '@vigia/contract/accounts'
import { MailWarning } from 'lucide-react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'

/** One line over every screen until the e-mail of the account is confirmed. */
export function EmailNotice() {
  const { data: account } = useScreenQuery(
    getAccount,
    {},
    // The link may be opened somewhere else.
    { refreshMs: (known) => (known?.emailConfirmado === false ? 30_000 : 0) },
  )
  const action = useAction(resendConfirmation, { onSuccess: ({ message }) => notifySuccess(message) })
  if (account?.emailConfirmado !== false) return null
  return (
    <section aria-label="Confirme seu e-mail" className="border-warning-line border-b bg-warning-soft">
      <div className="container-page flex items-start gap-x-2.5 py-2">
        <MailWarning aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
        <div className="min-w-0 flex-1 gap-x-6 md:flex md:items-start">
          <p role="status" className="min-w-0 flex-1 break-words">
            <span className="font-semibold">Confirme seu e-mail.</span> Enviamos um link para {account.email}. Até lá a
            conta não guarda certificados nem recebe avisos; sem empresas, ela é apagada em 30 dias.
          </p>
          <button
            type="button"
            disabled={action.isPending}
            onClick={() => action.mutate({})}
            className="min-h-6 whitespace-nowrap rounded-control font-semibold text-brand underline underline-offset-3 pointer-coarse:min-h-8 md:-my-0.5"
          >
            {action.isPending ? 'Enviando...' : 'Enviar de novo'}
          </button>
        </div>
      </div>
    </section>
  )
}
