import { archiveCompany, type CompanyDetail, getCompany, sendLogo, updateCompany } from '@vigia/contract/companies'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { SearchX } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link, useLocation, useParams } from 'react-router'
import { ApiError, errorMessage } from '../lib/api.ts'
import { isEmpty, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { ArchivedNotice, ArchiveSection } from './archiving.tsx'
import { isMoving } from './capture-pace.ts'
import { CapturePanel } from './capture-panel.tsx'
import { CertificateNotice } from './certificate-notice.tsx'
import { CompanyEditor } from './company-editor.tsx'
import { Completeness } from './completeness.tsx'
import { FirstCapture, wasLeft } from './first-capture.tsx'
import { LogoSection } from './logo-section.tsx'
import { decided } from './unsaved.ts'

const refreshMs = (company: CompanyDetail | undefined) =>
  company?.captura && isMoving(company.captura) ? 3_000 : 15_000

export function EditCompanyPage() {
  const { id = '' } = useParams()
  const company = useScreenQuery(getCompany, { query: { id } }, { refreshMs })
  const location = useLocation()
  const state: { created?: boolean; list?: string } | null = location.state
  const back = `/empresas${state?.list ?? ''}`
  const data = company.isPlaceholderData ? undefined : company.data
  const notFound = isEmpty(company.error) || (company.error instanceof ApiError && company.error.status === 404)
  const isNew = state?.created === true && !wasLeft(id) && !notFound && company.data?.ativa !== false
  useFocusAfter(isNew)
  return (
    <Page
      title={isNew ? 'Primeira captura' : 'Editar Empresa'}
      site={productName}
      subtitle={
        <span className="block max-w-[70ch] break-words">
          {data && !notFound ? `${data.razaoSocial} · ${formatCnpj(data.cnpj)}` : '\u00a0'}
        </span>
      }
      action={
        <Link to={back} {...decided} className={buttonClass({ variant: 'outline' })}>
          Voltar
        </Link>
      }
    >
      {notFound ? (
        <NotFound />
      ) : data && isNew ? (
        <FirstCapture companyId={id} company={data} list={state?.list} />
      ) : data ? (
        <LoadedCompany key={id} id={id} company={data} back={back} />
      ) : company.error ? (
        <Notice
          tone="error"
          title="Erro ao carregar os dados da empresa. Tente novamente."
          action={
            <Button variant="outline" size="sm" busy={company.isFetching} onClick={() => void company.refetch()}>
              Tentar novamente
            </Button>
          }
        >
          {errorMessage(company.error).replace(/[^.!?]$/, '$&.')} Nada foi alterado e a captura continua.
        </Notice>
      ) : (
        <Loading />
      )}
    </Page>
  )
}

// Moves a lost focus to the content when the page of the first capture closes.
function useFocusAfter(first: boolean) {
  const was = useRef(first)
  useEffect(() => {
    if (was.current && !first && document.activeElement === document.body)
      document.getElementById('conteudo')?.focus({ preventScroll: true })
    was.current = first
  }, [first])
}

interface LoadedCompanyProps {
  id: string
  company: CompanyDetail
  back: string
}

function LoadedCompany({ id, company, back }: LoadedCompanyProps) {
  const now = useNow()
  const mayChange = useMay('fiscal')
  return (
    <div className="@container grid gap-8">
      <CertificateNotice company={company} now={now} />
      {company.ativa === false && <ArchivedNotice id={id} razaoSocial={company.razaoSocial} />}
      {company.ativa !== false && <CapturePanel companyId={id} company={company} />}
      <Changes by={updateCompany}>
        <CompanyEditor companyId={id} company={company} back={back} now={now} />
      </Changes>
      {mayChange && company.temLogo !== undefined && (
        <Changes by={sendLogo}>
          <LogoSection companyId={id} company={company} hasLogo={company.temLogo} />
        </Changes>
      )}
      <Completeness companyId={id} company={company.razaoSocial} />
      {mayChange && company.ativa === true && (
        <Changes by={archiveCompany}>
          <ArchiveSection companyId={id} company={company} />
        </Changes>
      )}
    </div>
  )
}

function NotFound() {
  return (
    <Empty
      icon={<SearchX />}
      title="Empresa não encontrada"
      action={
        <Link to="/empresas" className={buttonClass()}>
          Ver as empresas
        </Link>
      }
    >
      O endereço não é de nenhuma empresa desta conta. Se alguém o enviou a você, confira se é da mesma conta.
    </Empty>
  )
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">Carregando empresa...</span>
      <div className="ledger grid gap-3 pt-5">
        <Skeleton className="w-28" />
        <Skeleton className="h-2! w-full" />
        <Skeleton className="w-2/5" />
      </div>
      <div className="ledger mt-10 grid gap-4 pt-5">
        <Skeleton className="w-40" />
        <Skeleton className="h-9! w-full" />
        <Skeleton className="h-9! w-full" />
      </div>
    </div>
  )
}
