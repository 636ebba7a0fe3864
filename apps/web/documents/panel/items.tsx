import type { DocumentDetail } from '@vigia/contract/documents'
import { formatInteger, formatMoney } from '@vigia/contract/text'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { FactsSkeleton } from './summary.tsx'

const shownFirst = 100

/** The products of an NF-e; for a CT-e the cargo and the components of the freight. */
export function PanelItems({ detail }: { detail: DocumentDetail | undefined }) {
  const [all, setAll] = useState(false)
  if (!detail) return <FactsSkeleton />
  const { itens } = detail
  if (itens.length === 0) {
    return (
      <p className="px-5 py-4 text-muted max-sm:px-4">
        {detail.falta ? 'Os itens estão no documento completo, que ainda não chegou.' : 'Este documento não tem itens.'}
      </p>
    )
  }
  const shown = all ? itens : itens.slice(0, shownFirst)
  return (
    <div className="px-5 py-2 max-sm:px-4">
      <ol aria-label="Itens do documento" className="[&>li]:border-line [&>li]:border-b">
        {shown.map((item) => (
          <li
            key={`${item.numero} ${item.codigo} ${item.descricao}`}
            className="grid grid-cols-[minmax(1.25rem,auto)_minmax(0,1fr)_auto] gap-x-3 py-1.5 tabular-nums"
          >
            <span className="text-right text-muted">{item.numero}</span>
            <span className="break-words">{item.descricao}</span>
            <span className="font-semibold">{formatMoney(item.valor)}</span>
            <span className="col-start-2 break-words text-muted text-xs">
              {[item.codigo, item.detalhe].filter(Boolean).join(' · ')}
            </span>
            <span className="text-right text-muted text-xs">
              {[`${item.quantidade} ${item.unidade}`.trim(), item.valorUnitario].filter(Boolean).join(' × ')}
            </span>
          </li>
        ))}
      </ol>
      {shown.length < itens.length && (
        <Button variant="outline" size="sm" className="my-3" onClick={() => setAll(true)}>
          Mostrar os {formatInteger(itens.length)} itens
        </Button>
      )}
    </div>
  )
}
