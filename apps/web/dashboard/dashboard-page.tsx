import { type Dashboard, getDashboard } from '@vigia/contract/workspace'
import { useState } from 'react'
import { Link } from 'react-router'
import { formatInteger } from '../lib/format.ts'
import { productName } from '../lib/product.ts'
import { useRoute } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { RecentActivity } from './recent-activity.tsx'
import { SystemStatus } from './system-status.tsx'
import { WelcomeDialog } from './welcome-dialog.tsx'

export function DashboardPage() {
  const dashboard = useRoute(getDashboard, {}, { refreshMs: 10_000, errorToast: true })
  const { data, error } = dashboard
  return (
    <Page title="Dashboard" site={productName} subtitle="Visão geral dos documentos fiscais emitidos no mês atual">
      {error && (
        <div className="mb-5">
          <Notice
            tone="error"
            title="Erro ao carregar dados do dashboard"
            action={
              <Button variant="outline" size="sm" busy={dashboard.isFetching} onClick={() => void dashboard.refetch()}>
                Tentar novamente
              </Button>
            }
          >
            {data
              ? 'Abaixo estão os últimos números que recebemos.'
              : 'Os documentos já recebidos continuam guardados.'}
          </Notice>
        </div>
      )}
      {!data && !error && (
        <p role="status" className="sr-only">
          Carregando dashboard...
        </p>
      )}
      {(data || !error) && (
        <>
          <Figures data={data} />
          <div className="mt-9 grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-9 lg:grid-cols-[minmax(0,1fr)_minmax(300px,360px)]">
            <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-9">
              <SystemStatus />
              <ByCompany rows={data?.qtdDocumentosPorEmpresa} />
            </div>
            <RecentActivity entries={data?.ultimosDocumentosProcessados} />
          </div>
        </>
      )}
      {data?.qtdEmpresasCadastradas === 0 && <Welcome />}
    </Page>
  )
}

function Welcome() {
  const [open, setOpen] = useState(true)
  return <WelcomeDialog open={open} onClose={() => setOpen(false)} />
}

function Figures({ data }: { data: Dashboard | undefined }) {
  const figures: [label: string, value: number | undefined, to: string][] = [
    ['Notas Fiscais (Mês)', data?.qtdNfe, '/notas-fiscais'],
    ['CTe (Mês)', data?.qtdCte, '/cte'],
    ['Total Documentos (Mês)', data?.totalNfeCte, '/notas-fiscais'],
    ['Empresas Cadastradas', data?.qtdEmpresasCadastradas, '/empresas'],
  ]
  return (
    <ul className="ledger grid grid-cols-2 border-line border-b md:grid-cols-4">
      {figures.map(([label, value, to]) => (
        <li
          key={label}
          className="border-line max-md:even:border-l max-md:even:pl-4 max-md:[&:nth-child(n+3)]:border-t md:border-l md:pl-4 md:first:border-l-0 md:first:pl-0"
        >
          <Link to={to} className="group block py-3.5">
            <span className="block text-muted text-sm group-hover:text-brand group-hover:underline">{label}</span>{' '}
            <span className="mt-1 flex h-8.5 items-center font-semibold text-2xl tabular-nums">
              {value === undefined ? <Skeleton className="h-5.5! w-16" /> : formatInteger(value)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function ByCompany({ rows }: { rows: Dashboard['qtdDocumentosPorEmpresa'] | undefined }) {
  return (
    <section aria-labelledby="by-company">
      <h2 id="by-company" className="pb-2 text-lg">
        Documentos por Empresa
      </h2>
      <div className="ledger overflow-x-auto">
        <table className="w-full text-left tabular-nums">
          <caption className="sr-only">Documentos por Empresa</caption>
          <thead>
            <tr className="border-line border-b text-muted text-sm [&>th]:h-9 [&>th]:whitespace-nowrap [&>th]:px-2 [&>th]:font-semibold">
              <th scope="col" className="pl-0!">
                Empresa
              </th>
              <th scope="col" className="text-right">
                <span className="max-sm:hidden">Notas Fiscais</span>
                <span className="sm:hidden">NFe</span>
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
          <tbody className="[&>tr>td]:h-9 [&>tr>td]:px-2 [&>tr>td]:py-1.5 [&>tr]:border-line [&>tr]:border-b">
            {rows?.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the answer names companies, and two may share a name.
              <tr key={index}>
                <td className="pl-0! font-semibold">{row.razaoSocial}</td>
                <td className="text-right">{formatInteger(row.qtdNfe)}</td>
                <td className="text-right">{formatInteger(row.qtdCte)}</td>
                <td className="text-right font-semibold">{formatInteger(row.totalNfeCte)}</td>
                <td className="pr-0! text-right">
                  <Badge tone={row.ativa ? 'green' : 'plain'}>{row.ativa ? 'Ativa' : 'Inativa'}</Badge>
                </td>
              </tr>
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
        {rows?.length === 0 && (
          <p className="py-5 text-muted">
            Nenhuma empresa cadastrada.{' '}
            <Link to="/empresas/nova" className="font-semibold text-brand underline underline-offset-3">
              Cadastrar Primeira Empresa
            </Link>
          </p>
        )}
      </div>
    </section>
  )
}
