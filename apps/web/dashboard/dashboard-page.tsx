import { getDashboard } from '@vigia/contract/workspace'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import type { Dashboard } from '../lib/answers.ts'
import { formatInteger } from '../lib/format.ts'
import { productName } from '../lib/product.ts'
import { useRoute } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { ByCompany } from './by-company.tsx'
import { DocumentsPerDay } from './documents-per-day.tsx'
import { NeedsYou } from './needs-you.tsx'
import { RecentActivity } from './recent-activity.tsx'
import { SystemStatus } from './system-status.tsx'

const WelcomeDialog = lazy(() => import('./welcome-dialog.tsx').then((module) => ({ default: module.WelcomeDialog })))

export function DashboardPage() {
  const dashboard = useRoute(getDashboard, {}, { refreshMs: 10_000, errorToast: true })
  const { data, error } = dashboard
  return (
    <Page
      title="Dashboard"
      site={productName}
      subtitle="Visão geral dos documentos fiscais emitidos no mês atual"
      waiting={data || error ? undefined : 'Carregando dashboard...'}
    >
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
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-8 lg:grid-cols-2">
        <SystemStatus />
        {(data || !error) && <NeedsYou counts={data?.pendencias} />}
      </div>
      {(data || !error) && (
        <>
          <Figures data={data} />
          <div className="mt-9 grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-9 lg:grid-cols-[minmax(0,1fr)_minmax(300px,360px)]">
            <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-9">
              {data?.documentosPorDia !== null && <DocumentsPerDay days={data?.documentosPorDia} />}
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
  return (
    <Suspense fallback={null}>
      <WelcomeDialog open={open} onClose={() => setOpen(false)} />
    </Suspense>
  )
}

function Figures({ data }: { data: Dashboard | undefined }) {
  const figures: [label: string, value: number | undefined, to: string][] = [
    ['Notas Fiscais (Mês)', data?.qtdNfe, '/notas-fiscais'],
    ['CTe (Mês)', data?.qtdCte, '/cte'],
    // The sum has no list of its own: its parts stand in the table below.
    ['Total Documentos (Mês)', data?.totalNfeCte, '#por-empresa'],
    ['Empresas Cadastradas', data?.qtdEmpresasCadastradas, '/empresas'],
  ]
  return (
    <ul className="ledger mt-9 grid grid-cols-2 border-line border-b md:grid-cols-4">
      {figures.map(([label, value, to]) => {
        const figure = (
          <>
            <span className="block text-muted text-sm group-hover:text-brand group-hover:underline">{label}</span>{' '}
            <span className="mt-1 flex h-8.5 items-center font-semibold text-2xl tabular-nums">
              {value === undefined ? <Skeleton className="h-5.5! w-16" /> : formatInteger(value)}
            </span>
          </>
        )
        return (
          <li
            key={label}
            className="border-line max-md:even:border-l max-md:even:pl-4 max-md:[&:nth-child(n+3)]:border-t md:border-l md:pl-4 md:first:border-l-0 md:first:pl-0"
          >
            {to.startsWith('#') ? (
              <a href={to} className="group block py-3.5">
                {figure}
              </a>
            ) : (
              <Link to={to} className="group block py-3.5">
                {figure}
              </Link>
            )}
          </li>
        )
      })}
    </ul>
  )
}
