import { deliverWebhookAgain, listWebhookDeliveries } from '@vigia/contract/changes'
import { formatAtMoment, formatCount, formatInteger, formatMoment } from '@vigia/contract/text'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import type { Delivery, Webhook } from './rows.ts'
import { kindLabel, statusWords } from './words.ts'

interface DeliveriesDialogProps {
  webhook: Webhook
  onClose: () => void
}

/** Deliveries to a webhook, past and scheduled, with their results. */
export function DeliveriesDialog({ webhook: { idWebhook, endereco }, onClose }: DeliveriesDialogProps) {
  // The last of each page before the one that is shown.
  const [before, setBefore] = useState<readonly string[]>([])
  const query = { idWebhook, antesDe: before.at(-1) }
  const deliveries = useScreenQuery(listWebhookDeliveries, { query }, { refreshMs: before.length === 0 ? 3_000 : 0 })
  return (
    <Dialog open onClose={onClose} title="Entregas" className="max-w-3xl">
      <div className="min-h-48 overflow-y-auto px-5 py-4">
        <p className="mb-3 break-all text-muted">{endereco}, nos últimos 30 dias, da mais nova à mais antiga.</p>
        <Loaded query={deliveries}>
          {({ entregas, temMais }) => (
            <>
              {entregas.length === 0 && <p className="py-6 text-center">Nada foi enviado a este endereço ainda.</p>}
              <ul aria-label="Entregas" className="[&>li]:border-line [&>li]:border-t">
                {entregas.map((delivery) => (
                  <DeliveryItem key={delivery.idEntrega} delivery={delivery} />
                ))}
              </ul>
              <div className="mt-3 flex flex-wrap justify-end gap-2 empty:hidden">
                {before.length > 0 && (
                  <Button variant="outline" size="sm" onClick={() => setBefore(before.slice(0, -1))}>
                    Mais novas
                  </Button>
                )}
                {temMais && (
                  <Button
                    variant="outline"
                    size="sm"
                    onClick={() => setBefore([...before, entregas.at(-1)?.idEntrega ?? ''])}
                  >
                    Mais antigas
                  </Button>
                )}
              </div>
            </>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}

const states: Record<Delivery['situacao'], { label: string; tone: Tone }> = {
  esperando: { label: 'Esperando', tone: 'blue' },
  entregue: { label: 'Entregue', tone: 'green' },
  falhou: { label: 'Falhou', tone: 'red' },
}

function DeliveryItem({ delivery }: { delivery: Delivery }) {
  const now = useNow()
  const action = useAction(deliverWebhookAgain, { onSuccess: () => notifySuccess('A entrega sai de novo agora.') })
  const { idEntrega, tipo, situacao, criadaEm, tentativas, proximaTentativa, respostaRecebida, corpo } = delivery
  const { label, tone } = states[situacao]
  return (
    <li className="grid gap-1 py-2.5">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <Badge tone={tone}>{label}</Badge>
        <span className="font-semibold">{kindLabel(tipo)}</span>
        <span className="text-muted text-sm tabular-nums">{formatMoment(criadaEm, now)}</span>
        {situacao !== 'esperando' && (
          <Changes by={deliverWebhookAgain} noted={false}>
            <Button
              variant="outline"
              size="sm"
              className="ml-auto"
              busy={action.isPending}
              onClick={() => action.mutate({ body: { idEntrega } })}
            >
              Reenviar
            </Button>
          </Changes>
        )}
      </div>
      <p className="break-words text-muted text-sm">
        {[
          tentativas > 0 && formatCount(tentativas, 'tentativa', 'tentativas'),
          outcome(delivery),
          proximaTentativa && situacao === 'esperando' && `tenta ${formatAtMoment(proximaTentativa, now)}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <details className="text-sm">
        <summary className="cursor-pointer text-muted">O que foi enviado e respondido</summary>
        <Text label="Enviado" text={corpo} />
        {respostaRecebida && <Text label="Resposta (começo)" text={respostaRecebida} />}
      </details>
    </li>
  )
}

function outcome({ status, duracaoMs, problema }: Delivery): string | null {
  const took = duracaoMs === null ? '' : ` em ${formatInteger(duracaoMs)} ms`
  if (status !== null) return `o outro sistema ${statusWords(status)} (código ${status})${took}`
  return problema
}

function Text({ label, text }: { label: string; text: string }) {
  return (
    <>
      <p className="mt-1.5 font-semibold">{label}</p>
      <code className="block max-h-40 overflow-y-auto whitespace-pre-wrap break-all rounded-control bg-sunken px-2 py-1">
        {text}
      </code>
    </>
  )
}
