import { beginSecondFactor, dropSecondFactor, renewRecoveryCodes } from '@vigia/contract/accounts'
import { formatInstantDate } from '@vigia/contract/text'
import { Suspense, useState } from 'react'
import { lazyWithPreload } from '../lib/lazy.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import type { SecondFactorStep } from './second-factor-dialog.tsx'

const SecondFactorDialog = lazyWithPreload(() =>
  import('./second-factor-dialog.tsx').then((module) => module.SecondFactorDialog),
)

interface SecondFactorProps {
  /** Null: it is off. */
  state: { desde: string; codigosRestantes: number } | null
}

/** Switches the second factor of the account on and off. */
export function SecondFactor({ state }: SecondFactorProps) {
  const [dialog, setDialog] = useState<SecondFactorStep | null>(null)
  return (
    <>
      {state ? (
        <On state={state} onCodes={(codes) => setDialog({ step: 'codes', codes })} />
      ) : (
        <Off onBegin={setDialog} />
      )}
      <Suspense>{dialog && <SecondFactorDialog begin={dialog} onClose={() => setDialog(null)} />}</Suspense>
    </>
  )
}

function Off({ onBegin }: { onBegin: (step: SecondFactorStep) => void }) {
  const action = useAction(beginSecondFactor, {
    onSuccess: ({ data }) => data && onBegin({ step: 'program', secret: data.segredo, uri: data.endereco }),
  })
  return (
    <div className="grid max-w-prose gap-4">
      <p>
        Além da senha, a conta passa a pedir um código de seis dígitos de um aplicativo autenticador no seu celular.
        Quem descobrir a senha não entra sem ele.
      </p>
      <Button
        className="justify-self-start"
        busy={action.isPending}
        onPointerEnter={() => void SecondFactorDialog.preload()}
        onClick={() => action.mutate({})}
      >
        Ligar
      </Button>
    </div>
  )
}

interface OnProps {
  state: NonNullable<SecondFactorProps['state']>
  onCodes: (codes: readonly string[]) => void
}

function On({ state: { desde, codigosRestantes }, onCodes }: OnProps) {
  const [asking, setAsking] = useState<'codes' | 'off' | null>(null)
  const close = () => setAsking(null)
  const renewal = useAction(renewRecoveryCodes, {
    onSuccess: ({ data }) => {
      close()
      if (data) onCodes(data.codigos)
    },
    onError: close,
  })
  const removal = useAction(dropSecondFactor, {
    onSuccess: ({ message }) => {
      close()
      notifySuccess(message)
    },
    onError: close,
  })
  const left = codigosRestantes === 1 ? 'Resta 1 código' : `Restam ${codigosRestantes} códigos`
  return (
    <div className="grid max-w-prose gap-4">
      <p>
        Ligada desde {formatInstantDate(desde)}. {left} de recuperação, para quando o celular não estiver à mão.
      </p>
      {codigosRestantes < 3 && (
        <Notice tone="warning" title="Há poucos códigos de recuperação.">
          Sem eles, quem perde o celular não entra mais. Gere outros e guarde-os fora do celular.
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" onClick={() => setAsking('codes')}>
          Gerar outros códigos
        </Button>
        <Button variant="outline" onClick={() => setAsking('off')}>
          Desligar
        </Button>
      </div>
      <ConfirmDialog
        open={asking === 'codes'}
        title="Gerar outros códigos de recuperação?"
        confirm="Gerar"
        busy={renewal.isPending}
        onConfirm={() => renewal.mutate({})}
        onCancel={close}
      >
        <p>Os que você guardou deixam de valer. Os novos aparecem uma vez só.</p>
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === 'off'}
        title="Desligar a verificação em duas etapas?"
        confirm="Desligar"
        danger
        busy={removal.isPending}
        onConfirm={() => removal.mutate({})}
        onCancel={close}
      >
        <p>A conta volta a pedir só a senha. Os códigos de recuperação deixam de valer.</p>
      </ConfirmDialog>
    </div>
  )
}
