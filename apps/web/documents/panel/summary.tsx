import type { DocumentDetail, DocumentRow } from '@vigia/contract/documents'
import { endSentence, formatInstantDate, formatTime } from '@vigia/contract/text'
import { useCompanyText } from '../../lib/companies.ts'
import { documentKinds } from '../../lib/kinds.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { GroupsOfFour } from '../../ui/groups-of-four.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { OpenLink } from '../place.tsx'
import { PanelReform } from './reform.tsx'

interface PanelSummaryProps {
  row: DocumentRow | undefined
  detail: DocumentDetail | undefined
}

/** Facts of a document, missing parts, and related documents. */
export function PanelSummary({ row, detail }: PanelSummaryProps) {
  const textOf = useCompanyText()
  if (!detail) return <FactsSkeleton />
  return (
    <div className="grid gap-5 px-5 py-4 max-sm:px-4">
      {detail.falta && (
        <Notice tone="info" title="Só o resumo está aqui">
          {detail.falta}
        </Notice>
      )}
      {detail.secoes.map(({ titulo, campos }) => (
        <section key={titulo} aria-label={titulo}>
          <h3 className="border-line border-b pb-1">{titulo}</h3>
          <dl className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-x-4 pt-1">
            {campos.map(({ rotulo, valor }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: labels may repeat, and the order never changes.
              <div key={index} className="contents">
                <dt className="py-0.5 text-muted">{rotulo}</dt>
                <dd className="break-words py-0.5 tabular-nums">{valor}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      {detail.reforma && <PanelReform key={row?.idDfe} reform={detail.reforma} />}
      {detail.relacionados.length > 0 && <Related documents={detail.relacionados} />}
      {row?.chegadaEm && (
        <p className="text-muted text-sm tabular-nums">
          Chegou aqui em {formatInstantDate(row.chegadaEm)} às {formatTime(row.chegadaEm)},{' '}
          {endSentence(`para ${textOf(row.idEmpresa, row.empresa ?? '')}`)}
        </p>
      )}
    </div>
  )
}

function Related({ documents }: { documents: DocumentDetail['relacionados'] }) {
  return (
    <section aria-label="Documentos relacionados">
      <h3 className="border-line border-b pb-1">Documentos relacionados</h3>
      <ul className="[&>li]:border-line [&>li]:border-b">
        {documents.map(({ relacao, chave, tipo, idDfe }) => (
          <li key={`${relacao} ${chave}`} className="py-2">
            <p className="flex flex-wrap items-baseline justify-between gap-x-3">
              <span>{relacao}</span>
              {idDfe === null ? (
                <span className="text-muted text-sm">não está aqui</span>
              ) : (
                <OpenLink id={idDfe} className="font-semibold text-brand underline underline-offset-3">
                  Abrir{' '}
                  {tipo === 'outro' ? 'o documento' : `${documentKinds[tipo].ending} ${documentKinds[tipo].short}`}
                </OpenLink>
              )}
            </p>
            <div className="flex items-center gap-1">
              <GroupsOfFour text={chave} className="min-w-0 text-muted" />
              <CopyButton text={chave} label={`Copiar a chave: ${relacao}`} className="shrink-0" />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function FactsSkeleton() {
  return (
    <div role="status" aria-label="Carregando..." className="grid gap-4 px-5 py-5">
      {['w-3/5', 'w-4/5', 'w-2/5', 'w-3/4', 'w-1/2', 'w-2/3'].map((width) => (
        <Skeleton key={width} className={width} />
      ))}
    </div>
  )
}
