import { zodResolver } from '@hookform/resolvers/zod'
import { confirmSecondFactor } from '@vigia/contract/accounts'
import { SecondFactorForm } from '@vigia/contract/forms'
import { encodeQR } from 'qr'
import { useMemo, useState } from 'react'
import { useForm } from 'react-hook-form'
import { ApiError } from '../lib/api.ts'
import { actionMessage, queryClient, useAction } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Notice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { saveFile } from '../ui/save-file.ts'

/** The initial step of the dialog. */
export type SecondFactorStep =
  | { step: 'program'; secret: string; uri: string }
  | { step: 'codes'; codes: readonly string[] }

interface SecondFactorDialogProps {
  begin: SecondFactorStep
  onClose: () => void
}

/** Leads from the secret to the first code, and then shows the codes to be kept, once. */
export function SecondFactorDialog({ begin, onClose }: SecondFactorDialogProps) {
  const [now, setNow] = useState(begin)
  return (
    <Dialog
      open
      onClose={onClose}
      title={now.step === 'program' ? 'Ligar a verificação em duas etapas' : 'Guarde os códigos de recuperação'}
    >
      <div className="overflow-y-auto px-5 py-4">
        {now.step === 'program' ? (
          <Program {...now} onCodes={(codes) => setNow({ step: 'codes', codes })} onClose={onClose} />
        ) : (
          <Codes codes={now.codes} onClose={onClose} />
        )}
      </div>
    </Dialog>
  )
}

// The response to the first attempt was lost.
const isOnAlready = (error: Error) => error instanceof ApiError && error.status === 409

interface ProgramProps {
  secret: string
  uri: string
  onCodes: (codes: readonly string[]) => void
  onClose: () => void
}

function Program({ secret, uri, onCodes, onClose }: ProgramProps) {
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(SecondFactorForm),
    defaultValues: { codigo: '' },
  })
  const action = useAction(confirmSecondFactor, {
    errorToast: (error) => isOnAlready(error),
    onSuccess: ({ data }) => data && onCodes(data.codigos),
    onError: (error) => {
      if (!isOnAlready(error)) return
      void queryClient.invalidateQueries()
      onClose()
    },
  })
  return (
    <form className="grid gap-4" noValidate onSubmit={handleSubmit((body) => action.mutate({ body }))}>
      <p>
        1. Com um aplicativo autenticador (Google Authenticator, Microsoft Authenticator, o gerenciador de senhas), leia
        este código:
      </p>
      <QrCode text={uri} />
      <p className="text-muted text-sm">
        Sem câmera, digite no aplicativo: <code className="text-ink">{secret.match(/.{1,4}/g)?.join(' ')}</code>{' '}
        <CopyButton text={secret} label="Copiar o segredo" />
      </p>
      <Field label="2. Digite o código de seis dígitos que ele mostra" error={formState.errors.codigo?.message}>
        {(control) => (
          <Input
            {...control}
            {...register('codigo')}
            inputMode="numeric"
            autoComplete="one-time-code"
            className="max-w-40 tabular-nums"
          />
        )}
      </Field>
      {action.error && <Notice tone="error" title={actionMessage(action.error)} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="outline" onClick={onClose}>
          Cancelar
        </Button>
        <Button type="submit" busy={action.isPending}>
          Ligar
        </Button>
      </div>
    </form>
  )
}

const quiet = 4

function QrCode({ text }: { text: string }) {
  const { side, path } = useMemo(() => {
    const rows = encodeQR(text, 'raw', { ecc: 'medium', border: quiet })
    const dark = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    return { side: rows.length, path: dark.join('') }
  }, [text])
  return (
    // Dark on light in either theme: that is what cameras read.
    <svg
      role="img"
      aria-label="QR Code para o aplicativo autenticador"
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="size-48 justify-self-center rounded-control"
    >
      <path fill="#fff" d={`M0 0h${side}v${side}h-${side}z`} />
      <path fill="#000" d={path} />
    </svg>
  )
}

function Codes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n')
  const save = () => {
    const heading = `Códigos de recuperação do ${productName}. Cada um vale uma vez.\n\n`
    saveFile(new Blob([heading, text, '\n'], { type: 'text/plain' }), 'codigos-de-recuperacao.txt')
  }
  return (
    <div className="grid gap-4">
      <p>
        Se o celular se perder, um destes códigos entra no lugar dele, cada um uma vez. Eles não aparecem de novo:
        guarde-os fora do celular.
      </p>
      <ul aria-label="Códigos de recuperação" className="grid grid-cols-2 gap-x-6 gap-y-1 font-mono tabular-nums">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <CopyButton text={text} label="Copiar" labelled />
        <Button variant="outline" size="sm" onClick={save}>
          Salvar em arquivo
        </Button>
        <Button size="sm" onClick={onClose}>
          Já guardei
        </Button>
      </div>
    </div>
  )
}
