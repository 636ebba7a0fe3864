import { stopLetters } from '@vigia/contract/letters'
import { Link, useParams } from 'react-router'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Frame } from './visitor-frame.tsx'

const incomplete = 'O link está incompleto. Abra-o de novo pelo e-mail ou copie o endereço inteiro.'

/** Target of the unsubscribe link. A button ends the e-mails, because link scanners open pages. */
export function StopLettersPage() {
  const { token = '' } = useParams()
  const action = useAction(stopLetters, { errorToast: false })
  const problem = token ? action.error && actionMessage(action.error) : incomplete
  return (
    <Frame title="Deixar de receber" subtitle="E-mails como aquele que trouxe você aqui.">
      {/* The address contains the token, so it must not be sent as referrer. */}
      <meta name="referrer" content="no-referrer" />
      <div className="grid gap-4">
        {problem && (
          <Notice tone="error" title="Nada foi alterado">
            {problem}
          </Notice>
        )}
        {action.isSuccess ? (
          <Notice tone="info" title={action.data.message} />
        ) : (
          <>
            <p>
              Ao confirmar, só os e-mails desse tipo param, neste workspace. Nada muda nos documentos, e os avisos sobre
              certificados, captura e segurança continuam.
            </p>
            {token && (
              <Button size="lg" busy={action.isPending} onClick={() => action.mutate({ params: { segredo: token } })}>
                Deixar de receber
              </Button>
            )}
          </>
        )}
        <p className="text-muted text-sm">
          Para escolher o que receber, abra{' '}
          <Link to="/conta#avisos" className="font-semibold text-brand underline underline-offset-3">
            Minha conta, Avisos por e-mail
          </Link>
          .
        </p>
      </div>
    </Frame>
  )
}
