import type { CompanyRow } from '@vigia/contract/companies'
import { formatCount } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { families } from '@vigia/dfe/families/all'
import { clsx } from 'clsx'
import { Pencil } from 'lucide-react'
import { useId, useRef } from 'react'
import { Link, useLocation } from 'react-router'
import { type Capture, lampOf } from '../lib/capture.ts'
import { useCompanyText } from '../lib/companies.ts'
import { useMay } from '../lib/rights.ts'
import { Badge } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { besideLink } from '../ui/hooks/row-keys.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { ReactivateButton } from './archiving.tsx'
import { ServiceState, Validity } from './row-parts.tsx'
import { SyncButton } from './sync-button.tsx'
import { useWindowRows } from './window-rows.ts'
import { certificateSection, problemsOf } from './work-list.ts'

interface CompanySelection {
  ids: ReadonlySet<string>
  toggle: (id: string) => void
  /** Selects all that are shown, or none. */
  toggleAll: () => void
}

interface CompaniesListProps {
  /** Undefined while they are loading. */
  companies: readonly CompanyRow[] | undefined
  selection: CompanySelection
  now: Date
}

const noCompanies: readonly CompanyRow[] = []
const skeletons = [0, 1, 2, 3]

export function CompaniesTable({ companies, selection, now }: CompaniesListProps) {
  const table = useRef<HTMLTableElement>(null)
  const ids = (companies ?? noCompanies).map(({ id }) => id)
  const rows = useWindowRows(table, ids, 37)
  return (
    <table
      ref={table}
      aria-label="Empresas"
      aria-describedby="row-keys"
      aria-rowcount={rows.partial ? ids.length + 1 : undefined}
      className="w-full table-fixed border-separate border-spacing-0 text-left"
    >
      <CompaniesHead companies={companies ?? noCompanies} selection={selection} />
      <Spacer height={rows.before} />
      {rows.indexes.map((index) => {
        const company = companies?.[index]
        if (!company) return null
        return (
          <tbody
            key={company.id}
            ref={rows.measure}
            data-row
            data-index={index}
            className="[&>tr:last-child>td]:border-line [&>tr:last-child>td]:border-b [&>tr>td]:px-1.5 @max-[880px]/list:[&>tr:first-child>td]:py-1 @max-[880px]/list:[&>tr>td]:text-sm @max-[880px]/list:[&>tr>td]:leading-4"
          >
            <CompanyTableRow
              company={company}
              selection={selection}
              now={now}
              rowIndex={rows.partial ? index + 2 : undefined}
            />
          </tbody>
        )
      })}
      <Spacer height={rows.after} />
      {!companies && (
        <tbody>
          {skeletons.map((index) => (
            <tr key={index} aria-hidden className="h-[37px]">
              <td colSpan={7} className="border-line border-b">
                <Skeleton className="w-3/5" />
              </td>
            </tr>
          ))}
        </tbody>
      )}
    </table>
  )
}

// Takes the space of the rows that are not rendered.
function Spacer({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tbody aria-hidden>
      <tr>
        <td style={{ height }} />
      </tr>
    </tbody>
  )
}

function CompaniesHead({ companies, selection }: { companies: readonly CompanyRow[]; selection: CompanySelection }) {
  const head =
    'sticky top-12 z-10 border-line border-b bg-paper px-1.5 py-2 align-bottom font-semibold text-muted text-sm'
  return (
    <>
      <colgroup>
        <col />
        <col className="w-36 @max-[1200px]/list:w-33" />
        {families.map(({ id }) => (
          <col key={id} className="w-[17%] @max-[1200px]/list:w-43 @max-[880px]/list:w-23" />
        ))}
        <col className="w-[17%] @max-[880px]/list:w-25" />
        <col className="w-17" />
        <col className="w-18" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col" aria-label="Empresa" className={clsx(head, 'pl-0!')}>
            <span className="flex items-end gap-2">
              <SelectAll companies={companies} selection={selection} />
              Empresa
            </span>
          </th>
          <th scope="col" className={head}>
            CNPJ
          </th>
          {families.map(({ id, name }) => (
            <th key={id} scope="col" className={head}>
              {`Última Sync ${name.replace('-', '')}`}
            </th>
          ))}
          <th scope="col" className={head}>
            Validade do Certificado
          </th>
          <th scope="col" className={head}>
            Status
          </th>
          <th scope="col" className={clsx(head, 'print:hidden pr-0 text-right')}>
            Ações
          </th>
        </tr>
      </thead>
    </>
  )
}

// Large enough for a finger, without moving its neighbours.
const markClass = '-my-2 -ml-2.5 pointer-coarse:-my-3 pointer-coarse:-ml-3.5'

export function SelectAll({ companies, selection }: { companies: readonly CompanyRow[]; selection: CompanySelection }) {
  const chosen = selection.ids.size
  return (
    <Checkbox
      bare
      className={markClass}
      label={`Selecionar ${formatCount(companies.length, 'empresa', 'empresas')}`}
      checked={chosen > 0 && chosen === companies.length}
      partly={chosen > 0 && chosen < companies.length}
      onChange={selection.toggleAll}
    />
  )
}

interface CompanyItemProps {
  company: CompanyRow
  selection: CompanySelection
  now: Date
}

function CompanyTableRow({ company, selection, now, rowIndex }: CompanyItemProps & { rowIndex: number | undefined }) {
  const name = useCompanyText()(company.id, company.razaoSocial)
  const problems = problemsOf(company, now)
  const reasons = useId()
  const chosen = selection.ids.has(company.id)
  return (
    <>
      <tr aria-rowindex={rowIndex} className={clsx('h-9', chosen ? 'bg-brand-soft' : 'hover:bg-sunken')}>
        <td className="pl-0!">
          <div className="flex items-center gap-2">
            <Checkbox
              bare
              className={clsx(markClass, 'shrink-0')}
              tabIndex={besideLink}
              label={`Selecionar ${name}`}
              checked={chosen}
              onChange={() => selection.toggle(company.id)}
            />
            <CompanyLink
              company={company}
              reasons={problems.length > 0 ? reasons : undefined}
              className="line-clamp-2 min-w-0 break-words font-semibold leading-4"
            />
            <p className="ml-auto shrink-0 text-muted text-sm tabular-nums @max-[1100px]/list:hidden">
              {monthText(company)}
            </p>
          </div>
        </td>
        <td className="whitespace-nowrap tabular-nums @max-[880px]/list:text-sm">{formatCnpj(company.cnpj)}</td>
        {families.map(({ id }) => (
          <td key={id}>
            <ServiceState company={company} service={id} now={now} />
          </td>
        ))}
        <td>
          <Validity company={company} now={now} />
        </td>
        <td className="[&>span]:align-middle">
          <Activity company={company} />
        </td>
        <td className="print:hidden pr-0! text-right">
          <CompanyActions company={company} reasons={problems.length > 0 ? reasons : undefined} />
        </td>
      </tr>
      {problems.length > 0 && (
        // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: text under the row over its whole width is no row; there are as many of them as companies.
        <tr role="none" className={clsx(chosen && 'bg-brand-soft')}>
          <td colSpan={7} className="pr-0! pb-2.5 pl-8.5! pointer-coarse:pl-9.5!">
            <Problems id={reasons} company={company} problems={problems} />
          </td>
        </tr>
      )}
    </>
  )
}

function monthText({ documentosNoMes }: CompanyRow): string {
  if (documentosNoMes === undefined) return ''
  return documentosNoMes === 0
    ? 'Nenhum documento no mês'
    : formatCount(documentosNoMes, 'documento no mês', 'documentos no mês')
}

interface ProblemsProps {
  company: CompanyRow
  problems: readonly Capture[]
  id?: string
}

/** Problems of a company, with their remedies. */
function Problems({ company, problems, id }: ProblemsProps) {
  const name = useCompanyText()(company.id, company.razaoSocial)
  const { search } = useLocation()
  const needed = remedies.filter(({ providencia }) => problems.some((capture) => capture.providencia === providencia))
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
      <ul id={id} className="grid min-w-64 flex-1 gap-1">
        {problems.map((capture) => (
          <li
            key={capture.mensagem}
            className={clsx('text-sm', lampOf(capture) === 'blocked' ? 'text-warning' : 'text-error')}
          >
            {capture.mensagem}
          </li>
        ))}
      </ul>
      {needed.map(({ providencia, words, to }) => (
        <Link
          key={providencia}
          to={to(company)}
          state={{ list: search }}
          tabIndex={besideLink}
          aria-label={`${words}: ${name}`}
          className={buttonClass({ variant: 'outline', size: 'sm', className: 'pointer-fine:-my-1 pointer-fine:h-7' })}
        >
          {words}
        </Link>
      ))}
    </div>
  )
}

const remedies = [
  {
    providencia: 'certificado',
    words: 'Enviar certificado',
    to: ({ id }: CompanyRow) => `/empresas/editar/${id}#${certificateSection}`,
  },
  { providencia: 'plano', words: 'Ver o plano', to: () => '/conta#plano' },
] as const

export function CompaniesItems({ companies, selection, now }: CompaniesListProps) {
  const list = useRef<HTMLUListElement>(null)
  const ids = (companies ?? noCompanies).map(({ id }) => id)
  const rows = useWindowRows(list, ids, 168)
  return (
    <ul
      ref={list}
      aria-label="Empresas"
      aria-describedby="row-keys"
      style={{ paddingTop: rows.before, paddingBottom: Math.max(0, rows.after) }}
    >
      {rows.indexes.map((index) => {
        const company = companies?.[index]
        if (!company) return null
        return (
          <li
            key={company.id}
            ref={rows.measure}
            data-row
            data-index={index}
            aria-setsize={rows.partial ? ids.length : undefined}
            aria-posinset={rows.partial ? index + 1 : undefined}
            className={clsx('border-line border-b py-3', selection.ids.has(company.id) && 'bg-brand-soft')}
          >
            <CompanyItem company={company} selection={selection} now={now} />
          </li>
        )
      })}
      {!companies &&
        skeletons.map((index) => (
          <li key={index} aria-hidden className="h-42 border-line border-b py-4">
            <Skeleton className="w-3/5" />
            <Skeleton className="mt-3 w-2/5" />
          </li>
        ))}
    </ul>
  )
}

function CompanyItem({ company, selection, now }: CompanyItemProps) {
  const name = useCompanyText()(company.id, company.razaoSocial)
  const problems = problemsOf(company, now)
  return (
    <>
      <div className="flex items-start gap-2">
        <Checkbox
          bare
          className={markClass}
          tabIndex={besideLink}
          label={`Selecionar ${name}`}
          checked={selection.ids.has(company.id)}
          onChange={() => selection.toggle(company.id)}
        />
        <div className="min-w-0 flex-1">
          <CompanyLink company={company} className="line-clamp-3 break-words font-semibold" />
          <div className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-sm tabular-nums">
            {formatCnpj(company.cnpj)}
            <Activity company={company} />
            <span>{monthText(company)}</span>
          </div>
        </div>
        <CompanyActions company={company} />
      </div>
      <dl className="mt-2 grid gap-x-6 gap-y-1.5 pl-8.5 text-sm pointer-coarse:pl-9.5 @min-[560px]/list:grid-cols-3 [&>div]:grid [&>div]:grid-cols-[4.75rem_1fr] @min-[560px]/list:[&>div]:grid-cols-1 [&_dt]:text-muted">
        {families.map(({ id, name }) => (
          <div key={id}>
            <dt>{name.replace('-', '')}</dt>
            <dd>
              <ServiceState company={company} service={id} now={now} />
            </dd>
          </div>
        ))}
        <div>
          <dt>Certificado</dt>
          <dd>
            <Validity company={company} now={now} />
          </dd>
        </div>
      </dl>
      {problems.length > 0 && (
        <div className="mt-2 pl-8.5 pointer-coarse:pl-9.5">
          <Problems company={company} problems={problems} />
        </div>
      )}
    </>
  )
}

interface CompanyLinkProps {
  company: CompanyRow
  /** Id of the list of its problems. */
  reasons?: string | undefined
  className: string
}

function CompanyLink({ company, reasons, className }: CompanyLinkProps) {
  const { search } = useLocation()
  return (
    <Link
      to={`/empresas/editar/${company.id}`}
      state={{ list: search }}
      title={[company.razaoSocial, monthText(company)].filter(Boolean).join(' · ')}
      aria-describedby={reasons}
      className={clsx(className, 'hover:underline')}
    >
      {company.razaoSocial}
    </Link>
  )
}

/** `reasons` is the id of the list of its problems, which are solved by editing the company. */
function CompanyActions({ company, reasons }: { company: CompanyRow; reasons?: string | undefined }) {
  const name = useCompanyText()(company.id, company.razaoSocial)
  const { search } = useLocation()
  const mayChange = useMay('fiscal')
  return (
    <div className="-mr-2 flex justify-end max-sm:-mt-1.5">
      {company.ativa ? <SyncButton company={company} /> : mayChange && <ReactivateButton {...company} bare />}
      <Link
        to={`/empresas/editar/${company.id}`}
        // 'Voltar' leads back to the same list.
        state={{ list: search }}
        tabIndex={besideLink}
        aria-label={`Editar ${name}`}
        aria-describedby={reasons}
        title="Editar"
        className={buttonClass({ variant: 'ghost', size: 'icon' })}
      >
        <Pencil aria-hidden className="size-4" />
      </Link>
    </div>
  )
}

function Activity({ company }: { company: CompanyRow }) {
  return (
    <Badge tone={company.ativa ? 'green' : 'plain'} quiet={company.ativa}>
      {company.ativa ? 'Ativa' : 'Inativa'}
    </Badge>
  )
}
