import { formatInteger, formatMoney, formatMonth } from '@vigia/contract/text'
import { type Dashboard, getDashboard } from '@vigia/contract/workspace'
import { Suspense, useId, useState } from 'react'
import { Link } from 'react-router'
import { lazyWithPreload } from '../lib/lazy.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Notice, TextNotice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { toDay } from '../ui/period/days.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { ByCompany } from './by-company.tsx'
import { DocumentsPerDay } from './documents-per-day.tsx'
import { NeedsYou } from './needs-you.tsx'
import { NumberLink } from './number-link.tsx'
import { RecentActivity } from './recent-activity.tsx'
import { SystemStatus } from './system-status.tsx'

const Money = lazyWithPreload(() => import('./money.tsx').then((module) => module.Money))
const WelcomeDialog = lazyWithPreload(() => import('./welcome-dialog.tsx').then((module) => module.WelcomeDialog))

export function DashboardPage() {
  const dashboard = useScreenQuery(getDashboard, {}, { refreshMs: 10_000, errorToast: true })
  const { data, error } = dashboard
  const avisos = data?.avisos ?? []
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
      {avisos.length > 0 && (
        <div className="mb-5 grid gap-3">
          {avisos.map((text) => (
            <TextNotice key={text} tone="warning" text={text} />
          ))}
          {data?.envioRetido && (
            <Link to="/aprovacoes" className="justify-self-start text-brand underline underline-offset-3">
              Conferir o que espera e liberar o envio
            </Link>
          )}
        </div>
      )}
      {data && data.qtdEmpresasCadastradas > 0 && (
        <Suspense fallback={null}>
          <Money />
        </Suspense>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-8 lg:grid-cols-2">
        <SystemStatus canStore={data?.armazenamentoSaudavel !== false} notices={avisos} />
        {(data?.pendencias || !(data || error)) && <NeedsYou counts={data?.pendencias} />}
      </div>
      {(data || !error) && (
        <>
          <MonthNumbers data={data} />
          <div className="mt-9 grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-9 lg:grid-cols-[minmax(0,1fr)_minmax(300px,360px)]">
            <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-9">
              {(!data || data.documentosPorDia) && <DocumentsPerDay days={data?.documentosPorDia} />}
              <ByCompany rows={data?.qtdDocumentosPorEmpresa} />
            </div>
            <RecentActivity entries={data?.ultimosDocumentosProcessados} />
          </div>
        </>
      )}
      {data?.qtdEmpresasCadastradas === 0 && <FirstVisit />}
    </Page>
  )
}

function FirstVisit() {
  const [open, setOpen] = useState(true)
  if (!useMay('administrador')) return null
  return (
    <Suspense fallback={null}>
      <WelcomeDialog open={open} onClose={() => setOpen(false)} />
    </Suspense>
  )
}

function MonthNumbers({ data }: { data: Dashboard | undefined }) {
  const before = data && data.qtdEmpresasCadastradas > 0 ? data.mesAnterior : null
  const monthBefore = nameOfMonthBefore(new Date())
  const sum = (one: number | null | undefined, other: number | null | undefined) =>
    one == null || other == null ? null : one + other
  const past = (count: number | null | undefined, amount: number | null | undefined) =>
    count == null || amount == null ? '' : `${monthBefore}: ${formatInteger(count)} · ${formatMoney(amount)}`
  return (
    <ul className="ledger mt-9 grid grid-cols-2 border-line border-b md:grid-cols-4">
      <MonthNumber
        label="Notas Fiscais (Mês)"
        value={data?.qtdNfe}
        amount={data?.valorNfe}
        past={past(before?.qtdNfe, before?.valorNfe)}
        to="/notas-fiscais"
      />
      <MonthNumber
        label="CTe (Mês)"
        value={data?.qtdCte}
        amount={data?.valorCte}
        past={past(before?.qtdCte, before?.valorCte)}
        to="/cte"
      />
      {/* The sum has no list of its own: the table below shows its parts. */}
      <MonthNumber
        label="Total Documentos (Mês)"
        value={data?.totalNfeCte}
        amount={sum(data?.valorNfe, data?.valorCte)}
        past={past(sum(before?.qtdNfe, before?.qtdCte), sum(before?.valorNfe, before?.valorCte))}
        to="#por-empresa"
        action="ver por empresa"
      />
      <MonthNumber label="Empresas Cadastradas" value={data?.qtdEmpresasCadastradas} to="/empresas" />
    </ul>
  )
}

interface MonthNumberProps {
  label: string
  value: number | undefined
  /** In reais. */
  amount?: number | null | undefined
  /** The same numbers of the month before. */
  past?: string
  to: string
  action?: string
}

function MonthNumber({ label, value, amount, past, to, action = 'ver a lista' }: MonthNumberProps) {
  const id = useId()
  return (
    <li className="group relative border-line py-3.5 max-md:even:border-l max-md:even:pl-4 max-md:[&:nth-child(n+3)]:border-t md:border-l md:pl-4 md:first:border-l-0 md:first:pl-0">
      <span id={id} className="block text-muted text-sm group-hover:text-brand group-hover:underline">
        {label}
      </span>{' '}
      <span className="mt-1 flex h-8.5 items-center font-semibold text-2xl tabular-nums">
        {value === undefined ? (
          <Skeleton className="h-5.5! w-16" />
        ) : (
          <NumberLink count={value} to={to} action={action} about={id} />
        )}
      </span>
      <span className="block min-h-5 tabular-nums">{amount != null && ` ${formatMoney(amount)}`}</span>
      <span className="block min-h-4.5 text-muted text-sm tabular-nums">{past && ` ${past}`}</span>
    </li>
  )
}

// "outubro".
function nameOfMonthBefore(today: Date): string {
  const before = new Date(today.getFullYear(), today.getMonth() - 1, 1)
  return formatMonth(toDay(before).slice(0, 7)).replace(/ .*/, '')
}
