import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  removeWebhook,
  replaceWebhookSecret,
  testWebhook,
} from '@vigia/contract/changes'
import { formatCount, formatInstantDate, formatList, formatTime } from '@vigia/contract/text'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { DeliveriesDialog } from './deliveries-dialog.tsx'
import type { Webhook } from './rows.ts'
import { SecretDialog, WebhookDialog } from './webhook-dialog.tsx'
import { kindLabel } from './words.ts'

type Open =
  | { what: 'form'; webhook: Webhook | null }
  | { what: 'deliveries'; webhook: Webhook }
  | { what: 'secret'; secret: string }

/** List of webhooks with their actions. */
export function Webhooks() {
  const webhooks = useScreenQuery(listWebhooks, {}, { refreshMs: 30_000 })
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const add = (
    <Changes by={addWebhook}>
      <Button onClick={() => setOpen({ what: 'form', webhook: null })}>
        <Plus aria-hidden className="size-4" />
        Novo webhook
      </Button>
    </Changes>
  )
  return (
    <>
      <Loaded query={webhooks}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <div className="ledger">
              <Empty icon={<WebhookIcon />} title="Nenhum webhook ainda" action={add}>
                Com um, o outro sistema sabe na hora que uma nota chegou, foi cancelada ou teve resposta.
              </Empty>
            </div>
          ) : (
            <>
              <ul aria-label="Webhooks" className="ledger [&>li]:border-line [&>li]:border-b">
                {webhooks.map((webhook) => (
                  <WebhookItem key={webhook.idWebhook} webhook={webhook} onOpen={setOpen} />
                ))}
              </ul>
              <div className="mt-4">{add}</div>
            </>
          )
        }
      </Loaded>
      {open?.what === 'form' && (
        <WebhookDialog
          webhook={open.webhook}
          onClose={close}
          onMade={(secret) => setOpen({ what: 'secret', secret })}
        />
      )}
      {open?.what === 'deliveries' && <DeliveriesDialog webhook={open.webhook} onClose={close} />}
      {open?.what === 'secret' && <SecretDialog secret={open.secret} onClose={close} />}
    </>
  )
}

interface WebhookItemProps {
  webhook: Webhook
  onOpen: (open: Open) => void
}

function WebhookItem({ webhook, onOpen }: WebhookItemProps) {
  const { idWebhook, endereco, tipos, idsEmpresas, ativo, problema, pausadoEm, entregasEsperando } = webhook
  const waiting = entregasEsperando > 0 && formatCount(entregasEsperando, 'aviso espera', 'avisos esperam')
  const companies = idsEmpresas ? formatCount(idsEmpresas.length, 'empresa', 'empresas') : 'todas as empresas'
  return (
    <li className="grid gap-1.5 py-3">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="min-w-0 break-all font-semibold">{endereco}</span>
        {ativo ? (
          <Badge tone="green" quiet>
            Ativo
          </Badge>
        ) : (
          <Badge tone={problema ? 'red' : 'yellow'}>{problema ? 'Parado por um problema' : 'Pausado'}</Badge>
        )}
      </p>
      {!ativo && (
        <p className="break-words">
          {pausadoEm && `Desde ${formatInstantDate(pausadoEm)} às ${formatTime(pausadoEm)}. `}
          {problema ?? 'Alguém o pausou.'} Nada se perde: ao reativar, o que espera sai na ordem.
        </p>
      )}
      <p className="break-words text-muted text-sm">
        {[formatList(tipos.map(kindLabel)), companies, waiting].filter(Boolean).join(' · ')}
      </p>
      <div className="mt-1 flex flex-wrap gap-2">
        <Button variant="outline" size="sm" onClick={() => onOpen({ what: 'deliveries', webhook })}>
          Entregas
        </Button>
        <Changes by={changeWebhook} noted={false}>
          <TestButton idWebhook={idWebhook} onSent={() => onOpen({ what: 'deliveries', webhook })} />
          <PauseButton webhook={webhook} />
          <Button variant="outline" size="sm" onClick={() => onOpen({ what: 'form', webhook })}>
            Mudar
          </Button>
          <ReplaceButton idWebhook={idWebhook} onReplaced={(secret) => onOpen({ what: 'secret', secret })} />
          <RemoveButton webhook={webhook} />
        </Changes>
      </div>
    </li>
  )
}

function TestButton({ idWebhook, onSent }: { idWebhook: string; onSent: () => void }) {
  const action = useAction(testWebhook, { onSuccess: onSent })
  return (
    <Button variant="outline" size="sm" busy={action.isPending} onClick={() => action.mutate({ body: { idWebhook } })}>
      Enviar teste
    </Button>
  )
}

function PauseButton({ webhook: { idWebhook, endereco, tipos, idsEmpresas, ativo } }: { webhook: Webhook }) {
  const action = useAction(changeWebhook, {
    onSuccess: () => notifySuccess(ativo ? 'Webhook pausado.' : 'Webhook reativado: o que esperava sai agora.'),
  })
  // Kinds that the server knows and this page does not stay as they are.
  const body = { idWebhook, endereco, tipos: tipos as never, idsEmpresas, ativo: !ativo }
  return (
    <Button variant="outline" size="sm" busy={action.isPending} onClick={() => action.mutate({ body })}>
      {ativo ? 'Pausar' : 'Reativar'}
    </Button>
  )
}

function ReplaceButton({ idWebhook, onReplaced }: { idWebhook: string; onReplaced: (secret: string) => void }) {
  const [asking, setAsking] = useState(false)
  const action = useAction(replaceWebhookSecret, {
    onSuccess: ({ data }) => {
      setAsking(false)
      if (data) onReplaced(data.segredo)
    },
    onError: () => setAsking(false),
  })
  return (
    <>
      <Button variant="outline" size="sm" onClick={() => setAsking(true)}>
        Trocar segredo
      </Button>
      <ConfirmDialog
        open={asking}
        title="Trocar o segredo deste webhook?"
        confirm="Trocar"
        busy={action.isPending}
        onConfirm={() => action.mutate({ body: { idWebhook } })}
        onCancel={() => setAsking(false)}
      >
        <p>
          O outro sistema precisa receber o novo. Por 24 horas cada aviso sai assinado com os dois, para que nada falhe
          enquanto isso.
        </p>
      </ConfirmDialog>
    </>
  )
}

function RemoveButton({ webhook: { idWebhook, endereco } }: { webhook: Webhook }) {
  const [asking, setAsking] = useState(false)
  const action = useAction(removeWebhook, {
    onSuccess: ({ message }) => {
      setAsking(false)
      notifySuccess(message)
    },
    onError: () => setAsking(false),
  })
  return (
    <>
      <Button variant="outline" size="sm" onClick={() => setAsking(true)}>
        Apagar
      </Button>
      <ConfirmDialog
        open={asking}
        title="Apagar este webhook?"
        confirm="Apagar"
        danger
        busy={action.isPending}
        onConfirm={() => action.mutate({ body: { idWebhook } })}
        onCancel={() => setAsking(false)}
      >
        <p className="break-words">
          {endereco} não é mais avisado de nada, e as entregas guardadas somem. Nenhum documento é apagado.
        </p>
      </ConfirmDialog>
    </>
  )
}
