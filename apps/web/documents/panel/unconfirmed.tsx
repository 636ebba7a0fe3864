import { type OutgoingEvent, sendManifestationAgain } from '@vigia/contract/manifestation'
import type { z } from 'zod'
import { notifyInfo } from '../../lib/notify.ts'
import { useAction } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'

interface UnconfirmedProps {
  idDfe: string
  event: z.output<typeof OutgoingEvent>
}

/** A sent event with unknown status at the authority, with a button to send it again. */
export function Unconfirmed({ idDfe, event }: UnconfirmedProps) {
  const may = useMay('fiscal')
  const action = useAction(sendManifestationAgain, { onSuccess: ({ message }) => notifyInfo(message) })
  const { descricao, mensagem, tpEvento, sequencia, podeReenviar } = event
  const again = () => action.mutate({ params: { idDfe }, body: { tpEvento, sequencia } })
  return (
    <Notice
      tone="warning"
      title={`${descricao}: sem confirmação da SEFAZ`}
      action={
        may &&
        podeReenviar && (
          <Button variant="outline" size="sm" busy={action.isPending} onClick={again}>
            Enviar de novo
          </Button>
        )
      }
    >
      {mensagem}
    </Notice>
  )
}
