import { type ExportItem, linkExport, listExports } from '@vigia/contract/document-files'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { startDownload } from '../ui/save-file.ts'

const busyMs = 1_000
const quietMs = 30_000
// More would push the announcements out of sight.
const shownFirst = 3
const isUnderWay = ({ situacao }: ExportItem) => situacao === 'na-fila' || situacao === 'em-andamento'

/** Exports and prints that are kept: progress and download. */
export function MadeFiles() {
  const { data = [] } = useScreenQuery(
    listExports,
    {},
    { refreshMs: (items) => (items?.some(isUnderWay) ? busyMs : quietMs) },
  )
  const [all, setAll] = useState(false)
  if (data.length === 0) return null
  const shown = all ? data : data.slice(0, shownFirst)
  return (
    <section aria-labelledby="made-files" className="border-line border-b px-4 py-2.5">
      <h3 id="made-files" className="font-semibold text-sm">
        Exportações e impressões
      </h3>
      <ul className="mt-1 grid gap-2">
        {shown.map((item) => (
          <MadeFile key={item.id} item={item} />
        ))}
      </ul>
      {shown.length < data.length && (
        <Button variant="ghost" size="sm" className="mt-1 w-full" onClick={() => setAll(true)}>
          Mostrar {formatCount(data.length, 'arquivo', 'arquivos')}
        </Button>
      )}
    </section>
  )
}

function MadeFile({ item }: { item: ExportItem }) {
  const { id, nome, situacao, problema } = item
  const action = useAction(linkExport, { onSuccess: ({ data }) => data && startDownload(data.endereco, nome) })
  return (
    <li className="flex items-start gap-2">
      <div className="min-w-0 flex-1 break-words">
        <p>{nome}</p>
        <p className="text-muted text-sm tabular-nums" role={isUnderWay(item) ? 'status' : undefined}>
          {stateOf(item)}
        </p>
        {problema && (
          <p className={`whitespace-pre-line text-sm ${situacao === 'falhou' ? 'text-error' : ''}`}>{problema}</p>
        )}
      </div>
      {situacao === 'pronta' && (
        <Button
          variant="outline"
          size="sm"
          busy={action.isPending}
          aria-label={`Baixar ${nome}`}
          onClick={() => action.mutate({ params: { id } })}
        >
          <Download aria-hidden className="size-4" />
          Baixar
        </Button>
      )}
    </li>
  )
}

function stateOf({ situacao, feitos, total, bytes, pedidaPor, tudo }: ExportItem): string {
  const by = `${tudo ? 'pedido' : 'pedida'} por ${pedidaPor}`
  const all = tudo ? formatCount(total, 'arquivo', 'arquivos') : formatCount(total, 'documento', 'documentos')
  switch (situacao) {
    case 'na-fila':
      return `Na fila · ${by}`
    case 'em-andamento':
      return `${formatInteger(feitos)} de ${all} · ${by}`
    case 'falhou':
      return `Não ${tudo ? 'foi feito' : 'foi feita'} · ${by}`
    case 'pronta':
      return `${tudo ? '' : `${all}, `}${sizeText(bytes)} · ${by}`
  }
}

function sizeText(bytes: number): string {
  const [amount, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${formatInteger(Math.max(1, Math.round(amount)))} ${unit}`
}
