import type { Reform } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import { Fragment, useState } from 'react'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'

const looks: Record<Reform['presenca'], { tone: Tone; words: string }> = {
  com: { tone: 'green', words: 'com IBS/CBS' },
  parcial: { tone: 'yellow', words: 'IBS/CBS em parte dos itens' },
  sem: { tone: 'yellow', words: 'sem IBS/CBS (regime normal)' },
  dispensado: { tone: 'plain', words: 'sem IBS/CBS (Simples/MEI: dispensado em 2026)' },
  'so-resumo': { tone: 'plain', words: 'só resumo' },
}

const shownFirst = 20

/** IBS, CBS and IS of a document, with findings. */
export function PanelReform({ reform }: { reform: Reform }) {
  const { tone, words } = looks[reform.presenca]
  return (
    <section aria-label="IBS, CBS e IS">
      <h3 className="flex flex-wrap items-center justify-between gap-2 border-line border-b pb-1">
        IBS, CBS e IS
        <Badge tone={tone} wrap>
          {words}
        </Badge>
      </h3>
      {reform.aviso && <p className="pt-1 text-muted text-sm">{reform.aviso}</p>}
      {reform.presenca === 'so-resumo' && (
        <p className="pt-1 text-muted text-sm">O documento completo, quando chegar, diz se os informa.</p>
      )}
      {reform.achados.length > 0 && (
        <ul
          aria-label="Divergências de IBS/CBS"
          className="grid gap-1 pt-2 [&>li]:border-warning-line [&>li]:border-l-2"
        >
          {reform.achados.map(({ frase }) => (
            <li key={frase} className="break-words pl-2">
              {frase}
            </li>
          ))}
        </ul>
      )}
      {reform.totais.length > 0 && (
        <dl className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-x-4 pt-1">
          {reform.totais.map(({ rotulo, valor }) => (
            <div key={rotulo} className="contents">
              <dt className="py-0.5 text-muted">{rotulo}</dt>
              <dd className="break-words py-0.5 tabular-nums">{valor}</dd>
            </div>
          ))}
        </dl>
      )}
      {reform.itens.length > 0 && <Items items={reform.itens} />}
    </section>
  )
}

const values = [
  ['base', 'Base'],
  ['ibsEstado', 'IBS estado'],
  ['ibsMunicipio', 'IBS município'],
  ['cbs', 'CBS'],
  ['is', 'IS'],
] as const

function Items({ items }: { items: Reform['itens'] }) {
  const [all, setAll] = useState(false)
  const shown = all ? items : items.slice(0, shownFirst)
  // Omits columns without values.
  const columns = values.filter(([name]) => items.some((item) => item[name] !== ''))
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it sideways. */}
      <section tabIndex={0} aria-label="IBS, CBS e IS por item" className="overflow-x-auto pt-2">
        <table className="w-full text-xs tabular-nums">
          <thead>
            <tr className="text-left text-muted [&>th]:py-1 [&>th]:pr-2 [&>th]:font-normal">
              <th scope="col">Item</th>
              <th scope="col">CST</th>
              <th scope="col">cClassTrib</th>
              {columns.map(([name, label]) => (
                <th key={name} scope="col" className="text-right!">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <Fragment key={item.numero}>
                <tr className="border-line border-t [&>td]:pt-1 [&>td]:pr-2 [&>td]:whitespace-nowrap">
                  <td>{item.numero === 0 ? 'CT-e' : item.numero}</td>
                  <td>{item.CST}</td>
                  <td>{item.cClassTrib}</td>
                  {columns.map(([name]) => (
                    <td key={name} className="text-right">
                      {item[name]}
                    </td>
                  ))}
                </tr>
                <tr>
                  <td colSpan={3 + columns.length} className="break-words pb-1 text-muted">
                    {[item.descricao, ...item.campos.map(({ rotulo, valor }) => `${rotulo}: ${valor}`)].join(' · ')}
                  </td>
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < items.length && (
        <Button variant="outline" size="sm" className="my-2" onClick={() => setAll(true)}>
          Mostrar os {formatInteger(items.length)} itens
        </Button>
      )}
    </>
  )
}
