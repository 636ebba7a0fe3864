import { formatTime } from '@vigia/contract/text'
import type { Dashboard } from '@vigia/contract/workspace'
import { clsx } from 'clsx'
import { Link } from 'react-router'
import { documentKinds, kinds } from '../lib/kinds.ts'
import { Badge } from '../ui/badge.tsx'
import { GroupsOfFour } from '../ui/groups-of-four.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

export function RecentActivity({ entries }: { entries: Dashboard['ultimosDocumentosProcessados'] | undefined }) {
  return (
    <section aria-labelledby="recent">
      <div className="flex min-h-10 items-center pb-2">
        <h2 id="recent" className="text-lg">
          Atividade Recente
        </h2>
      </div>
      <div className="ledger">
        <p className="border-line border-b py-2 text-muted text-sm">Últimos documentos processados hoje</p>
        <ul className="[&>li]:border-line [&>li]:border-b">
          {entries?.map((entry, index) => (
            <RecentEntry key={entry.idDfe ?? index} entry={entry} />
          ))}
          {!entries &&
            [0, 1, 2, 3].map((index) => (
              <li key={index} aria-hidden className="grid gap-2.5 py-3">
                <Skeleton className="w-3/5" />
                <Skeleton className="h-2.5! w-full" />
              </li>
            ))}
        </ul>
        {entries?.length === 0 && (
          <p className="py-5 text-muted">
            Nada chegou hoje até agora. A SEFAZ é consultada no máximo uma vez por hora; o que chegar aparece aqui.
          </p>
        )}
      </div>
    </section>
  )
}

function RecentEntry({ entry }: { entry: Dashboard['ultimosDocumentosProcessados'][number] }) {
  const { idDfe, tipoDfe, nomeEmitente, chaveDfe, dataCadastro } = entry
  // Any other value is a CT-e (section 3).
  const { path, short } = kinds.find(({ tipoDFe }) => tipoDFe === tipoDfe) ?? documentKinds.cte
  return (
    <li
      className={clsx(
        'relative grid grid-cols-[2.5rem_minmax(0,1fr)_auto] gap-x-2 py-2',
        idDfe !== undefined && 'hover:bg-sunken',
      )}
    >
      <span className="text-muted tabular-nums">{formatTime(dataCadastro)}</span>
      {idDfe === undefined ? (
        <span className="truncate font-semibold">{nomeEmitente}</span>
      ) : (
        // The whole entry can be pressed; the badge has the name of a link of the navigation, so it is not part of the name of this one.
        <Link to={`${path}?documento=${idDfe}`} className="truncate font-semibold after:absolute after:inset-0">
          {nomeEmitente}
        </Link>
      )}
      <Badge tone="plain">{short.replace('-', '')}</Badge>
      <GroupsOfFour text={chaveDfe} className="col-span-3 text-muted" />
    </li>
  )
}
