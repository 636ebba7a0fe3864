import type { getAccount } from '@vigia/contract/accounts'
import type { RouteData } from '@vigia/contract/route'
import { Link, Navigate, useLocation } from 'react-router'

const open = ['/conta', '/help']

/** Redirects a person without access to the account page, and shows the reason in one line. */
export function AccessNotice({ account }: { account: RouteData<typeof getAccount> }) {
  const { pathname } = useLocation()
  if (!open.includes(pathname))
    return <Navigate to={account.acessoEncerrado ? '/conta#workspace' : '/conta#duas-etapas'} replace />
  return (
    <section aria-label="Acesso ao workspace" className="border-warning-line border-b bg-warning-soft">
      <p role="status" className="container-page py-2">
        {account.acessoEncerrado ? (
          <>
            <span className="font-semibold">O seu acesso a {account.workspace} terminou.</span> Para voltar, peça a quem
            administra o workspace que mude a data. A sua conta continua aberta.
          </>
        ) : (
          <>
            <span className="font-semibold">
              Este workspace pede verificação em duas etapas ou a entrada com passkey.
            </span>{' '}
            Até lá, só a sua conta abre: ligue uma delas ou, se já tem, saia e entre de novo com ela.{' '}
            <Link to="/conta#duas-etapas" className="font-semibold text-brand underline underline-offset-3">
              Ligar agora
            </Link>
          </>
        )}
      </p>
    </section>
  )
}
