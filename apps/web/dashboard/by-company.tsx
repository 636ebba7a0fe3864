import { formatInteger, formatMoney } from '@vigia/contract/text'
import type { Dashboard } from '@vigia/contract/workspace'
import { useState } from 'react'
import { Link } from 'react-router'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { useMedia } from '../ui/hooks/narrow.ts'
import { Skeleton } from '../ui/skeleton.tsx'

type CompanyTotals = Dashboard['qtdDocumentosPorEmpresa'][number]

const shownAtFirst = 10

/** The documents of the month by company, in the order of the server: most documents first. */
export function ByCompany({ rows }: { rows: readonly CompanyTotals[] | undefined }) {
  const [all, setAll] = useState(false)
  const wide = useMedia('(width >= 40rem)')
  const shown = all ? rows : rows?.slice(0, shownAtFirst)
  const most = Math.max(0, ...(rows ?? []).map(({ totalNfeCte }) => totalNfeCte))
  return (
    <section aria-labelledby="por-empresa">
      <h2 id="por-empresa" tabIndex={-1} className="scroll-mt-18 pb-2 text-lg outline-none">
        Documentos por Empresa
      </h2>
      <div className="ledger">
        <table aria-labelledby="por-empresa" className="w-full text-left tabular-nums">
          <thead>
            <tr className="border-line border-b text-muted text-sm [&>th]:h-9 [&>th]:whitespace-nowrap [&>th]:px-2 max-sm:[&>th]:px-1 [&>th]:font-semibold [&>th:nth-child(n+2)]:w-px">
              <th scope="col" className="pl-0!">
                Empresa
              </th>
              <th scope="col" className="text-right">
                {wide ? 'Notas Fiscais' : 'NFe'}
              </th>
              <th scope="col" className="text-right">
                CTe
              </th>
              <th scope="col" className="text-right">
                Total
              </th>
              <th scope="col" className="pr-0! text-right">
                Status
              </th>
            </tr>
          </thead>
          <tbody className="[&>tr>td]:h-9 [&>tr>td]:px-2 max-sm:[&>tr>td]:px-1 [&>tr>td]:py-1.5 [&>tr]:border-line [&>tr]:border-b">
            {shown?.map((row, index) => (
              <CompanyLine key={row.idEmpresa ?? index} row={row} most={most} />
            ))}
            {!rows &&
              [0, 1, 2].map((index) => (
                <tr key={index} aria-hidden>
                  <td colSpan={5} className="px-0!">
                    <Skeleton className="w-3/5" />
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
        {rows && rows.length > shownAtFirst && (
          <Button variant="ghost" size="sm" className="mt-2 -ml-2.5" aria-expanded={all} onClick={() => setAll(!all)}>
            {all
              ? `Mostrar só as ${shownAtFirst} primeiras`
              : `Mostrar todas as ${formatInteger(rows.length)} empresas`}
          </Button>
        )}
        {rows?.length === 0 && (
          <p className="py-5 text-muted">
            Nenhuma empresa cadastrada.{' '}
            <Link to="/empresas/nova" className="font-semibold text-brand underline underline-offset-3">
              Cadastrar agora
            </Link>
          </p>
        )}
      </div>
    </section>
  )
}

function CompanyLine({ row, most }: { row: CompanyTotals; most: number }) {
  const { razaoSocial, qtdNfe, qtdCte, totalNfeCte, valorNfeCte, ativa, idEmpresa } = row
  const status = (
    <Badge tone={ativa ? 'green' : 'plain'} quiet={ativa}>
      {ativa ? 'Ativa' : 'Inativa'}
    </Badge>
  )
  return (
    <tr>
      <td className="pl-0!">
        {idEmpresa === undefined ? (
          <span className="break-words font-semibold">{razaoSocial}</span>
        ) : (
          <Link
            to={`/empresas/editar/${idEmpresa}`}
            className="break-words font-semibold hover:text-brand hover:underline"
          >
            <CompanyName id={idEmpresa} name={razaoSocial} />
          </Link>
        )}
        {valorNfeCte !== undefined && <span className="block text-muted text-sm">{formatMoney(valorNfeCte)}</span>}
      </td>
      <td className="text-right">
        <ListLink to={idEmpresa && `/notas-fiscais?empresa=${idEmpresa}`} count={qtdNfe} />
      </td>
      <td className="text-right">
        <ListLink to={idEmpresa && `/cte?empresa=${idEmpresa}`} count={qtdCte} />
      </td>
      <td className="text-right font-semibold">
        <span className="flex items-center justify-end gap-3">
          <Share nfe={qtdNfe} cte={qtdCte} most={most} />
          <span className="min-w-8">{formatInteger(totalNfeCte)}</span>
        </span>
      </td>
      <td className="pr-0! text-right">{status}</td>
    </tr>
  )
}

function ListLink({ to, count }: { to: string | undefined; count: number }) {
  if (count === 0) return <span className="text-muted">0</span>
  if (!to) return formatInteger(count)
  return (
    <Link to={to} className="underline decoration-line-strong underline-offset-3 hover:text-brand">
      {formatInteger(count)}
    </Link>
  )
}

// Only visual: the numbers are beside it.
function Share({ nfe, cte, most }: { nfe: number; cte: number; most: number }) {
  const percent = (count: number) => `${most === 0 ? 0 : (count / most) * 100}%`
  return (
    <span aria-hidden className="flex h-2 w-24 max-2xl:w-14 max-xl:hidden">
      <span className="bg-brand" style={{ width: percent(nfe) }} />
      {cte > 0 && <span className="border border-brand border-l-0 bg-brand-soft" style={{ width: percent(cte) }} />}
    </span>
  )
}
