import type { Dashboard } from '@vigia/contract/workspace'
import { formatTime } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Skeleton } from '../ui/skeleton.tsx'

export function RecentActivity({ entries }: { entries: Dashboard['ultimosDocumentosProcessados'] | undefined }) {
  return (
    <section aria-labelledby="recent">
      <div className="pb-2">
        <h2 id="recent" className="text-lg">
          Atividade Recente
        </h2>
      </div>
      <div className="ledger">
        <p className="border-line border-b py-2 text-muted text-sm">Últimos documentos processados hoje</p>
        <ul className="[&>li]:border-line [&>li]:border-b">
          {entries?.map((entry) => (
            <li key={`${entry.chaveDfe}-${entry.dataCadastro}`} className="flex gap-3 py-2">
              <span className="w-10 shrink-0 text-muted tabular-nums">{formatTime(entry.dataCadastro)}</span>
              <div className="min-w-0 flex-1">
                <p className="flex items-center justify-between gap-2">
                  <span className="truncate font-semibold">{entry.nomeEmitente}</span>
                  <Badge tone="plain">{entry.tipoDfe === 0 ? 'NFe' : 'CTe'}</Badge>
                </p>
                <p className="truncate font-mono text-muted text-xs tracking-[-0.02em]" title={entry.chaveDfe}>
                  {entry.chaveDfe}
                </p>
              </div>
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
