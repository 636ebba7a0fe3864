import { endSessions, listSessions, type SessionRow } from '@vigia/contract/accounts'
import { describeDevice, isPhone } from '@vigia/contract/device'
import { formatInstantDate, formatRelative, formatTime } from '@vigia/contract/text'
import { LogOut, MonitorSmartphone, Smartphone } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { errorMessage } from '../lib/api.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

type AccountSession = z.output<typeof SessionRow>

/** The open sessions of the account, and buttons to end the others. */
export function Sessions({ shared }: { shared: boolean }) {
  const sessions = useScreenQuery(listSessions, {})
  const [ending, setEnding] = useState<AccountSession | 'others'>('others')
  const [asking, setAsking] = useState(false)
  const ask = (which: AccountSession | 'others') => {
    setEnding(which)
    setAsking(true)
  }
  const others = sessions.data?.filter(({ atual }) => !atual) ?? []
  const action = useAction(endSessions, {
    onSuccess: ({ message }) => {
      setAsking(false)
      notifySuccess(message)
    },
    onError: () => setAsking(false),
  })
  if (sessions.error && !sessions.data)
    return (
      <Notice
        tone="error"
        title={`Erro ao carregar dados: ${errorMessage(sessions.error)}`}
        action={
          <Button variant="outline" size="sm" onClick={() => void sessions.refetch()}>
            Tentar novamente
          </Button>
        }
      >
        Nenhuma sessão foi encerrada.
      </Notice>
    )
  return (
    <>
      {shared && (
        <p className="mb-3 text-muted">
          Esta conta é compartilhada: só a sua sessão aparece aqui, e as dos outros não podem ser encerradas.
        </p>
      )}
      <ul aria-label="Sessões abertas" className="border-line border-t [&>li]:border-line [&>li]:border-b">
        {sessions.data
          ?.toSorted((one, other) => Number(other.atual) - Number(one.atual))
          .map((session) => (
            <SessionItem key={session.idSessao} session={session} onEnd={() => ask(session)} />
          ))}
        {!sessions.data && (
          <li aria-hidden className="h-16 py-3">
            <Skeleton className="w-2/5" />
            <Skeleton className="mt-3 h-2.5! w-3/5" />
          </li>
        )}
      </ul>
      {others.length > 0 && (
        <Button variant="outline" className="mt-4" onClick={() => ask('others')}>
          Encerrar todas as outras
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        title={ending === 'others' ? 'Encerrar todas as outras sessões?' : 'Encerrar esta sessão?'}
        confirm="Encerrar"
        danger
        busy={action.isPending}
        onConfirm={() => action.mutate({ body: ending === 'others' ? {} : { idSessao: ending.idSessao } })}
        onCancel={() => setAsking(false)}
      >
        <p>
          {ending === 'others'
            ? 'Em todos os outros aparelhos será preciso entrar de novo. Esta sessão continua aberta.'
            : `Em ${describeDevice(ending.navegador)} será preciso entrar de novo. Se você não reconhece esse acesso, troque também a senha.`}
        </p>
      </ConfirmDialog>
    </>
  )
}

function SessionItem({ session, onEnd }: { session: AccountSession; onEnd: () => void }) {
  const now = useNow()
  const { atual, navegador, endereco, abertaEm, workspace } = session
  const Icon = isPhone(navegador) ? Smartphone : MonitorSmartphone
  const device = describeDevice(navegador)
  return (
    <li className="flex items-start gap-3 py-3">
      <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-semibold">
          {device}
          {atual && <Badge tone="green">Esta sessão</Badge>}
        </p>
        <p className="break-words text-muted text-sm tabular-nums">
          {[
            workspace,
            seen(session, now),
            endereco,
            `aberta em ${formatInstantDate(abertaEm)} às ${formatTime(abertaEm)}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      {!atual && (
        <Button variant="outline" size="sm" aria-label={`Encerrar ${device}, ${seen(session, now)}`} onClick={onEnd}>
          <LogOut aria-hidden className="size-4" />
          Encerrar
        </Button>
      )}
    </li>
  )
}

// The server stores it once an hour.
function seen({ vistaEm }: AccountSession, now: Date): string {
  const recently = now.getTime() - Date.parse(vistaEm) < 3_600_000
  return recently ? 'usada na última hora' : `usada ${formatRelative(vistaEm, now)}`
}
