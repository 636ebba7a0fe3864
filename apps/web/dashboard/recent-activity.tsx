import { clsx } from 'clsx'
import { Link } from 'react-router'
import type { Dashboard } from '../lib/answers.ts'
import { formatTime } from '../lib/format.ts'
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
            <li key={entry.idDfe ?? index}>
              {entry.idDfe === null ? (
                <div className={entryClass}>
                  <Entry entry={entry} />
                </div>
              ) : (
                <Link
                  to={`${entry.tipoDfe === 0 ? '/notas-fiscais' : '/cte'}?documento=${entry.idDfe}`}
                  className={clsx(entryClass, 'hover:bg-sunken focus-visible:-outline-offset-2')}
                >
                  <Entry entry={entry} />
                </Link>
              )}
            </li>
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

const entryClass = 'grid grid-cols-[2.5rem_minmax(0,1fr)_auto] gap-x-2 py-2'

function Entry({ entry }: { entry: Dashboard['ultimosDocumentosProcessados'][number] }) {
  return (
    <>
      <span className="text-muted tabular-nums">{formatTime(entry.dataCadastro)}</span>
      <span className="truncate font-semibold">{entry.nomeEmitente}</span>
      <Badge tone="plain">{entry.tipoDfe === 0 ? 'NFe' : 'CTe'}</Badge>
      <GroupsOfFour text={entry.chaveDfe} className="col-span-3 text-muted" />
    </>
  )
}
