import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { Building2, Plus, Search } from 'lucide-react'
import { useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { lampOf } from '../lib/capture.ts'
import { formatInteger } from '../lib/format.ts'
import { productName } from '../lib/product.ts'
import { useRoute } from '../lib/query.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { useNow } from '../ui/clock.ts'
import { useDebounced } from '../ui/debounce.ts'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/input.tsx'
import { useNarrow } from '../ui/narrow.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { CompaniesItems, CompaniesTable } from './companies-list.tsx'

export function CompaniesPage() {
  const frame = useRef<HTMLElement>(null)
  const narrow = useNarrow(frame, 780)
  const now = useNow()
  const [params, setParams] = useSearchParams()
  const [text, setText] = useState(params.get('busca') ?? '')
  const busca = useDebounced(text.trim(), 300)
  const all = useRoute(listCompanies, { query: {} }, { refreshMs: 10_000, errorToast: true })
  const found = useRoute(listCompanies, { query: { busca } }, { refreshMs: 10_000, enabled: busca !== '' })
  const list = busca === '' ? all : found
  const search = (next: string) => {
    setText(next)
    setParams(next.trim() ? { busca: next.trim() } : {}, { replace: true })
  }
  const List = narrow ? CompaniesItems : CompaniesTable
  return (
    <Page
      title="Empresas"
      site={productName}
      subtitle="Cada empresa é consultada na SEFAZ com o certificado digital dela."
      action={
        <Link to="/empresas/nova" className={buttonClass()}>
          <Plus aria-hidden className="size-4" />
          Nova Empresa
        </Link>
      }
    >
      <Figures companies={all.data} />
      <section ref={frame} aria-label="Lista de empresas" className="mt-8">
        <div className="relative mb-4 max-w-sm">
          <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
          <Input
            type="search"
            aria-label="Buscar por nome, CNPJ..."
            placeholder="Buscar por nome, CNPJ..."
            autoComplete="off"
            spellCheck={false}
            maxLength={200}
            value={text}
            className="pl-8.5"
            onChange={(event) => search(event.target.value)}
          />
        </div>
        {list.error && (
          <div className="mb-4">
            <Notice
              tone="error"
              title="Erro ao carregar empresas"
              action={
                <Button variant="outline" size="sm" busy={list.isFetching} onClick={() => void list.refetch()}>
                  Tentar novamente
                </Button>
              }
            >
              {list.data ? 'Abaixo está a última lista que recebemos.' : 'A captura não depende desta tela e continua.'}
            </Notice>
          </div>
        )}
        {(list.data || !list.error) && (
          <div className="ledger">
            {list.data?.length === 0 ? (
              <NoCompany searched={busca} onClear={() => search('')} />
            ) : (
              <List companies={list.data} now={now} />
            )}
          </div>
        )}
      </section>
    </Page>
  )
}

function NoCompany({ searched, onClear }: { searched: string; onClear: () => void }) {
  return (
    <Empty
      icon={<Building2 />}
      title="Nenhuma empresa encontrada"
      action={
        searched ? (
          <Button variant="outline" onClick={onClear}>
            Limpar busca
          </Button>
        ) : (
          <Link to="/empresas/nova" className={buttonClass()}>
            Cadastrar Primeira Empresa
          </Link>
        )
      }
    >
      {searched
        ? `Nenhum nome ou CNPJ contém “${searched}”.`
        : 'Cadastre a primeira com o arquivo .pfx ou .p12 do certificado A1 e a senha dele.'}
    </Empty>
  )
}

// Keeps the height of a line that has no words yet.
const blank = '\u00a0'

function Figures({ companies }: { companies: CompanyRow[] | undefined }) {
  const total = companies?.length ?? 0
  const active = companies?.filter(({ ativa }) => ativa).length ?? 0
  const captures = companies?.flatMap(({ captura }) => captura) ?? []
  const good = captures.filter((capture) => lampOf(capture) === 'steady' || lampOf(capture) === 'waiting').length
  const percent = (part: number, whole: number) => (whole === 0 ? '–' : `${Math.floor((part / whole) * 100)}%`)
  const watched = captures.length > 0 && good === captures.length
  const figures = [
    ['Total de Empresas', formatInteger(total), `${formatInteger(active)} ${active === 1 ? 'ativa' : 'ativas'}`],
    [
      'Empresas Ativas',
      formatInteger(active),
      total === 0 ? 'Nenhuma cadastrada' : `${percent(active, total)} do total`,
    ],
    [
      'Sincronização',
      percent(good, captures.length),
      watched
        ? 'Monitoramento ativo'
        : captures.length === 0
          ? 'Nada a monitorar'
          : `${captures.length - good} consultas com problema`,
    ],
  ]
  return (
    <dl className="ledger grid grid-cols-3 border-line border-b">
      {figures.map(([label, value, note]) => (
        <div key={label} className="border-line border-l px-4 py-3 first:border-l-0 first:pl-0 max-sm:px-3">
          <dt className="text-muted text-sm">{label}</dt>
          <dd>
            <span className="mt-0.5 block font-semibold text-2xl tabular-nums">{companies ? value : blank}</span>
            <span className="block text-muted text-sm max-sm:min-h-9">{companies ? note : blank}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
