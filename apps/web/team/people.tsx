import { removeMember } from '@vigia/contract/team'
import { formatInstantDate, formatRelative } from '@vigia/contract/text'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { ChangeRightsDialog } from './rights-dialogs.tsx'
import { type Person, rightsLine } from './rows.ts'

/** The people of the workspace, with what each may. */
export function People({ people }: { people: readonly Person[] }) {
  const now = useNow()
  const [changing, setChanging] = useState<Person | null>(null)
  const [removing, setRemoving] = useState<Person | null>(null)
  const action = useAction(removeMember, {
    onSuccess: ({ message }) => {
      setRemoving(null)
      notifySuccess(message)
    },
    onError: () => setRemoving(null),
  })
  return (
    <>
      <ul aria-label="Pessoas" className="ledger [&>li]:border-line [&>li]:border-b">
        {people.map((person) => (
          <li key={person.idPessoa} className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 py-3">
            <div className="min-w-0 flex-1 basis-80">
              <p className="flex flex-wrap items-center gap-x-2 break-words font-semibold">
                {person.nome}
                {person.voce && <Badge tone="blue">Você</Badge>}
                {person.acessoAte && Date.parse(person.acessoAte) <= now.getTime() && (
                  <Badge tone="red">Acesso terminado</Badge>
                )}
              </p>
              <p className="break-words text-muted text-sm">
                {person.email} · desde {formatInstantDate(person.desde)}
                {person.vistaEm
                  ? ` · entrou ${formatRelative(person.vistaEm, now)}`
                  : !person.voce && ' · sem sessão aberta'}
              </p>
              <p className="mt-0.5">{rightsLine(person)}</p>
            </div>
            <span className="inline-flex flex-wrap gap-2">
              <Button
                variant="outline"
                size="sm"
                aria-label={`Mudar o que ${person.nome} pode`}
                onClick={() => setChanging(person)}
              >
                Mudar
              </Button>
              {!person.voce && (
                <Button
                  variant="outline"
                  size="sm"
                  aria-label={`Tirar ${person.nome} do workspace`}
                  onClick={() => setRemoving(person)}
                >
                  Tirar
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {changing && <ChangeRightsDialog person={changing} onClose={() => setChanging(null)} />}
      <ConfirmDialog
        open={removing !== null}
        title={`Tirar ${removing?.nome ?? ''} do workspace?`}
        confirm="Tirar"
        danger
        busy={action.isPending}
        onConfirm={() => removing && action.mutate({ body: { idPessoa: removing.idPessoa } })}
        onCancel={() => setRemoving(null)}
      >
        <p>
          As sessões dela neste workspace se encerram na hora. O que ela fez continua na auditoria, e as chaves de API
          que ela criou continuam valendo: confira-as em Integrações.
        </p>
      </ConfirmDialog>
    </>
  )
}
