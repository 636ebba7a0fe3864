import { listKeys, removeKey } from '@vigia/contract/keys'
import { formatCount, formatInstantDate, formatList, formatRelative } from '@vigia/contract/text'
import { KeyRound, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { useNarrow } from '../ui/hooks/narrow.ts'
import { Loaded } from '../ui/loaded.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { RenameKeyDialog } from './rename-key-dialog.tsx'
import type { Key } from './rows.ts'
import { scopeLabel } from './words.ts'

/** The keys of the workspace, with what each may do. */
export function Keys() {
  const frame = useRef<HTMLDivElement>(null)
  const narrow = useNarrow(frame, 820)
  const keys = useScreenQuery(listKeys, {})
  const [making, setMaking] = useState(false)
  const [renaming, setRenaming] = useState<Key | null>(null)
  const [removing, setRemoving] = useState<Key | null>(null)
  const action = useAction(removeKey, {
    onSuccess: ({ message }) => {
      setRemoving(null)
      notifySuccess(message)
    },
    onError: () => setRemoving(null),
  })
  const add = (
    <Button onClick={() => setMaking(true)}>
      <Plus aria-hidden className="size-4" />
      Nova chave
    </Button>
  )
  const List = narrow ? KeyItems : KeyTable
  return (
    <div ref={frame}>
      <Loaded query={keys}>
        {({ chaves }) =>
          chaves.length === 0 ? (
            <div className="ledger">
              <Empty icon={<KeyRound />} title="Nenhuma chave ainda" action={add}>
                Crie uma para cada sistema: assim dá para ver o que cada um fez, e apagar só a dele.
              </Empty>
            </div>
          ) : (
            <>
              <div className="ledger">
                <List keys={chaves} onRename={setRenaming} onRemove={setRemoving} />
              </div>
              <div className="mt-4">{add}</div>
            </>
          )
        }
      </Loaded>
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
      {renaming && <RenameKeyDialog apiKey={renaming} onClose={() => setRenaming(null)} />}
      <ConfirmDialog
        open={removing !== null}
        title={`Apagar a chave “${removing?.nome ?? ''}”?`}
        confirm="Apagar"
        danger
        busy={action.isPending}
        onConfirm={() => removing && action.mutate({ body: { idChave: removing.idChave } })}
        onCancel={() => setRemoving(null)}
      >
        <p>
          O sistema que a usa deixa de entrar na hora. O que ele fez continua na auditoria. Uma chave apagada não volta.
        </p>
      </ConfirmDialog>
    </div>
  )
}

interface KeyListProps {
  keys: readonly Key[]
  onRename: (key: Key) => void
  onRemove: (key: Key) => void
}

function KeyTable({ keys, ...rest }: KeyListProps) {
  const now = useNow()
  return (
    <table className="w-full table-fixed text-left">
      <caption className="sr-only">Chaves de API</caption>
      <colgroup>
        <col />
        <col className="w-[30%]" />
        <col className="w-32" />
        <col className="w-36" />
        <col className="w-52" />
      </colgroup>
      <thead>
        <tr className="border-line border-b text-muted text-sm [&>th]:h-9 [&>th]:px-2 [&>th]:font-semibold">
          <th scope="col" className="pl-0!">
            Nome
          </th>
          <th scope="col">Pode</th>
          <th scope="col">Validade</th>
          <th scope="col">Último uso</th>
          <th scope="col" className="pr-0!">
            <span className="sr-only">Ações</span>
          </th>
        </tr>
      </thead>
      <tbody className="[&>tr>td]:px-2 [&>tr>td]:py-2.5 [&>tr>td]:align-top [&>tr]:border-line [&>tr]:border-b">
        {keys.map((key) => (
          <tr key={key.idChave}>
            <td className="pl-0!">
              <p className="break-words font-semibold">{key.nome}</p>
              <Beginning apiKey={key} />
            </td>
            <td className="break-words">{mayDo(key)}</td>
            <td>
              <Validity apiKey={key} />
            </td>
            <td className="text-muted">{lastUse(key, now)}</td>
            <td className="pr-0! text-right">
              <Actions apiKey={key} {...rest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function KeyItems({ keys, ...rest }: KeyListProps) {
  const now = useNow()
  return (
    <ul aria-label="Chaves de API" className="[&>li]:border-line [&>li]:border-b">
      {keys.map((key) => (
        <li key={key.idChave} className="grid gap-1 py-3">
          <p className="break-words font-semibold">{key.nome}</p>
          <Beginning apiKey={key} />
          <p className="break-words">{mayDo(key)}</p>
          <p className="flex flex-wrap items-center gap-x-2 text-muted text-sm">
            <Validity apiKey={key} />
            <span>· usada: {lastUse(key, now)}</span>
          </p>
          <Actions apiKey={key} {...rest} />
        </li>
      ))}
    </ul>
  )
}

const mayDo = ({ permissoes, idsEmpresas }: Key) =>
  formatList(permissoes.map(scopeLabel)) +
  (idsEmpresas ? ` · ${formatCount(idsEmpresas.length, 'empresa', 'empresas')}` : '')

function Beginning({ apiKey: { inicio, criadaEm, criadaPor } }: { apiKey: Key }) {
  return (
    <p className="break-words text-muted text-sm">
      <code>{inicio}…</code> · criada em {formatInstantDate(criadaEm)}
      {criadaPor && ` por ${criadaPor}`}
    </p>
  )
}

function Validity({ apiKey: { validaAte, vencida } }: { apiKey: Key }) {
  if (vencida) return <Badge tone="red">Vencida</Badge>
  return (
    <span className="text-muted tabular-nums">{validaAte ? `até ${formatInstantDate(validaAte)}` : 'sem fim'}</span>
  )
}

// The server stores it once an hour.
function lastUse({ usadaEm }: Key, now: Date): string {
  if (!usadaEm) return 'nunca'
  return now.getTime() - Date.parse(usadaEm) < 3_600_000 ? 'na última hora' : formatRelative(usadaEm, now)
}

function Actions({ apiKey, onRename, onRemove }: { apiKey: Key } & Pick<KeyListProps, 'onRename' | 'onRemove'>) {
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-lg:justify-start">
      <Button
        variant="outline"
        size="sm"
        aria-label={`Mudar o nome de ${apiKey.nome}`}
        onClick={() => onRename(apiKey)}
      >
        Mudar nome
      </Button>
      <Button variant="outline" size="sm" aria-label={`Apagar ${apiKey.nome}`} onClick={() => onRemove(apiKey)}>
        Apagar
      </Button>
    </span>
  )
}
