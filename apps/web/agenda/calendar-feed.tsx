import { type CalendarKind, changeCalendar, feedDays, getCalendar } from '@vigia/contract/agenda'
import { formatInstantDate } from '@vigia/contract/text'
import { CalendarPlus } from 'lucide-react'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'

/** Creates, shows once and revokes the URL of a calendar feed of deadlines or payments. */
export function CalendarFeed({ kind }: { kind: CalendarKind }) {
  const { data } = useScreenQuery(getCalendar, { query: { Calendario: kind } })
  const [address, setAddress] = useState<string | null>(null)
  const [asking, setAsking] = useState<'new' | 'none'>()
  const action = useAction(changeCalendar, {
    onSuccess: ({ data, message }) => {
      setAddress(data?.endereco ?? null)
      setAsking(undefined)
      notifySuccess(message)
    },
  })
  if (!data) return null
  const { desde } = data
  const set = (ligado: boolean) => action.mutate({ body: { ligado, calendario: kind } })
  return (
    <section aria-label="Calendário" className="mb-6 grid gap-3">
      {address !== null && (
        <Notice
          tone="warning"
          title="Copie o endereço agora: ele não aparece de novo."
          action={<CopyButton text={address} label="Copiar o endereço" labelled />}
        >
          <code className="block select-all break-all">{address}</code>
          Cole-o no seu programa de calendário, em “assinar por URL”. Quem o tiver vê quantos {kind} há e quanto somam,
          sem nomes.
        </Notice>
      )}
      <Changes by={changeCalendar}>
        <div className="flex flex-wrap items-center gap-2">
          <Button
            variant="outline"
            size="sm"
            busy={action.isPending && asking === undefined}
            onClick={() => (desde === null ? set(true) : setAsking('new'))}
          >
            <CalendarPlus aria-hidden className="size-4" />
            {desde === null ? 'Assinar no calendário' : 'Criar outro endereço'}
          </Button>
          {desde !== null && (
            <Button variant="ghost" size="sm" onClick={() => setAsking('none')}>
              Revogar o endereço
            </Button>
          )}
          <span className="text-muted text-sm">
            {desde === null
              ? `Os ${kind} dos próximos ${feedDays} dias no seu programa de calendário.`
              : `Você assina desde ${formatInstantDate(desde)}.`}
          </span>
        </div>
      </Changes>
      <ConfirmDialog
        open={asking !== undefined}
        title={asking === 'new' ? 'Criar outro endereço?' : 'Revogar o endereço?'}
        confirm={asking === 'new' ? 'Criar outro' : 'Revogar'}
        danger
        busy={action.isPending}
        onConfirm={() => set(asking === 'new')}
        onCancel={() => setAsking(undefined)}
      >
        <p>Os calendários que usam o endereço de agora deixam de receber os {kind}. Nada muda nas notas.</p>
      </ConfirmDialog>
    </section>
  )
}
