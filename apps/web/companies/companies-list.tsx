import type { CompanyRow } from '@vigia/contract/companies'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { clsx } from 'clsx'
import { CalendarX } from 'lucide-react'
import { type Capture, captureSentence, lampOf } from '../lib/capture.ts'
import { formatInstantDate, formatRelative } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Lamp } from '../ui/lamp.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { SyncButton } from './sync-button.tsx'

interface CompaniesListProps {
  /** Undefined while they travel. */
  companies: readonly CompanyRow[] | undefined
  now: Date
}

export function CompaniesTable({ companies, now }: CompaniesListProps) {
  return (
    <table className="w-full table-fixed text-left">
      <caption className="sr-only">Empresas</caption>
      <colgroup>
        <col />
        <col className="w-38" />
        <col className="w-[19%]" />
        <col className="w-[19%]" />
        <col className="w-28" />
        <col className="w-21" />
        <col className="w-12" />
      </colgroup>
      <thead>
        <tr className="border-line border-b align-bottom text-muted text-sm [&>th]:px-2 [&>th]:py-2 [&>th]:font-semibold">
          <th scope="col" className="pl-0!">
            Empresa
          </th>
          <th scope="col">CNPJ</th>
          <th scope="col">Última Sync NFe</th>
          <th scope="col">Última Sync CTe</th>
          <th scope="col">Validade do Certificado</th>
          <th scope="col">Status</th>
          <th scope="col" className="pr-0! text-right">
            Ações
          </th>
        </tr>
      </thead>
      <tbody className="[&>tr>td]:px-2 [&>tr>td]:py-2 [&>tr>td]:align-top">
        {companies?.map((company) => (
          <CompanyRows key={company.id} company={company} now={now} />
        ))}
        {!companies &&
          [0, 1, 2].map((index) => (
            <tr key={index} aria-hidden className="h-15 border-line border-b">
              <td colSpan={7} className="px-0!">
                <Skeleton className="w-2/5" />
                <Skeleton className="mt-3 h-2.5! w-3/5" />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}

function CompanyRows({ company, now }: { company: CompanyRow; now: Date }) {
  const problems = problemsOf(company)
  return (
    <>
      <tr className={problems.length > 0 ? undefined : 'border-line border-b'}>
        <td className="pl-0! font-semibold">{company.razaoSocial}</td>
        <td className="whitespace-nowrap tabular-nums">{formatCnpj(company.cnpj)}</td>
        <td>
          <Service company={company} service="nfe" now={now} />
        </td>
        <td>
          <Service company={company} service="cte" now={now} />
        </td>
        <td>
          <Validity company={company} now={now} />
        </td>
        <td>
          <Activity company={company} />
        </td>
        <td className="py-1! pr-0! text-right">
          <SyncButton company={company} />
        </td>
      </tr>
      {problems.length > 0 && (
        <tr className="border-line border-b">
          <td colSpan={7} className="px-0! pt-0! pb-3!">
            <Problems problems={problems} />
          </td>
        </tr>
      )}
    </>
  )
}

// The same reason stops both services most of the time; it is said once.
function problemsOf({ captura }: CompanyRow): Capture[] {
  const troubled = captura.filter((capture) => lampOf(capture) === 'stopped' || lampOf(capture) === 'blocked')
  return troubled.filter(
    ({ mensagem }, index) => mensagem && troubled.findIndex((other) => other.mensagem === mensagem) === index,
  )
}

function Problems({ problems }: { problems: Capture[] }) {
  return (
    <ul className="grid gap-1">
      {problems.map((capture) => (
        <li
          key={capture.mensagem}
          className={clsx(
            'rounded-control px-3 py-1.5',
            lampOf(capture) === 'blocked' ? 'bg-warning-soft text-warning' : 'bg-error-soft text-error',
          )}
        >
          {capture.mensagem}
        </li>
      ))}
    </ul>
  )
}

export function CompaniesItems({ companies, now }: CompaniesListProps) {
  return (
    <ul aria-label="Empresas" className="[&>li]:border-line [&>li]:border-b">
      {companies?.map((company) => (
        <li key={company.id} className="py-3">
          <div className="flex items-start gap-2">
            <div className="min-w-0 flex-1">
              <p className="truncate font-semibold">{company.razaoSocial}</p>
              <p className="text-muted text-sm tabular-nums">{formatCnpj(company.cnpj)}</p>
            </div>
            <Activity company={company} />
            <SyncButton company={company} />
          </div>
          <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1.5 text-sm">
            <dt className="text-muted">NFe</dt>
            <dd>
              <Service company={company} service="nfe" now={now} />
            </dd>
            <dt className="text-muted">CTe</dt>
            <dd>
              <Service company={company} service="cte" now={now} />
            </dd>
            <dt className="text-muted">Certificado</dt>
            <dd>
              <Validity company={company} now={now} />
            </dd>
          </dl>
          {problemsOf(company).length > 0 && (
            <div className="mt-2.5">
              <Problems problems={problemsOf(company)} />
            </div>
          )}
        </li>
      ))}
      {!companies &&
        [0, 1, 2].map((index) => (
          <li key={index} aria-hidden className="h-32 py-4">
            <Skeleton className="w-3/5" />
            <Skeleton className="mt-3 w-2/5" />
          </li>
        ))}
    </ul>
  )
}

interface ServiceProps {
  company: CompanyRow
  service: Capture['servico']
  now: Date
}

/** When the service was last heard, and what its capture does now. */
function Service({ company, service, now }: ServiceProps) {
  const last = service === 'nfe' ? company.ultimaSincronizacaoNFe : company.ultimaSincronizacaoCTe
  const capture = company.captura.find(({ servico }) => servico === service)
  return (
    <div className="flex gap-2">
      {capture && <Lamp state={lampOf(capture)} className="mt-0.5" />}
      <div className="min-w-0">
        <p>{formatRelative(last, now)}</p>
        {capture && <p className="text-muted text-sm tabular-nums">{captureSentence(capture, now)}</p>}
      </div>
    </div>
  )
}

function Validity({ company, now }: { company: CompanyRow; now: Date }) {
  const validity = company.validadeCertificadoA1
  if (!validity) return <span className="text-muted">Não informado</span>
  const expired = new Date(validity) < now
  return (
    <span className="tabular-nums">
      {formatInstantDate(validity)}
      {expired && (
        <span className="flex items-center gap-1 text-error text-sm">
          <CalendarX aria-hidden className="size-3.5" />
          Vencido
        </span>
      )}
    </span>
  )
}

function Activity({ company }: { company: CompanyRow }) {
  return <Badge tone={company.ativa ? 'green' : 'plain'}>{company.ativa ? 'Ativa' : 'Inativa'}</Badge>
}
