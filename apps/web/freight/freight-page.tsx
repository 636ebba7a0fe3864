import {
  downloadFreight,
  type FreightCode,
  freightCodes,
  freightNames,
  listFreight,
  markFreight,
} from '@vigia/contract/freight'
import { reportMonthsMax } from '@vigia/contract/reports'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatInteger, formatMoney } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { PackageSearch } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { callBytes, errorMessage } from '../lib/api.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { notifyError } from '../lib/notify.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { SharedNote } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/form/input.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { MonthSelects } from '../ui/period/month-select.tsx'
import { monthChoices, readMonths } from '../ui/period/months.ts'
import { fileName, saveFile } from '../ui/save-file.ts'
import { FindingItem } from './finding-item.tsx'

// Sooner while documents are being read.
const refreshMs = (data?: Data) => (data && data.faltam > 0 ? 10_000 : 60_000)

/** Findings in freight bills, with the documents behind each. */
export function FreightPage() {
  const { question, change } = useQuestion()
  return (
    <Page
      title="Auditoria de fretes"
      site={productName}
      subtitle="Cobranças de frete que merecem conferência."
      action={<SheetButton question={question} />}
    >
      <QuestionBar question={question} onChange={change} />
      <SharedNote by={markFreight} />
      <Findings key={JSON.stringify(question)} question={question} onChange={change} />
    </Page>
  )
}

interface Question {
  /** Months, both included. */
  from: string
  to: string
  company: string
  carrier: string
  code: FreightCode | ''
  state: 'abertos' | 'certos'
}

// Kept in the address, because it must survive a reload and be shareable.
function useQuestion() {
  const [params, setParams] = useSearchParams()
  const months = monthChoices(new Date())
  const question: Question = {
    ...(readMonths(params.get('de'), params.get('ate'), reportMonthsMax) ?? { from: months[2]!, to: months[0]! }),
    company: params.get('empresa') ?? '',
    carrier: (params.get('busca') ?? '').trim().slice(0, 100),
    code: freightCodes.find((one) => one === params.get('achado')) ?? '',
    state: params.get('estado') === 'certos' ? 'certos' : 'abertos',
  }
  const change = (part: Partial<Question>) => {
    const { from, to, company, carrier, code, state } = { ...question, ...part }
    const next = new URLSearchParams({ de: from, ate: to })
    if (company) next.set('empresa', company)
    if (carrier) next.set('busca', carrier)
    if (code) next.set('achado', code)
    if (state === 'certos') next.set('estado', state)
    setParams(next)
  }
  return { question, change }
}

const toQuery = ({ from, to, company, carrier, code, state }: Question) => ({
  ...{ MesDe: from, MesAte: to, Estado: state },
  ...(company && { IdEmpresa: company }),
  ...(carrier && { CampoPesquisa: carrier }),
  ...(code && { Regra: code }),
})

interface BarProps {
  question: Question
  onChange: (part: Partial<Question>) => void
}

function QuestionBar({ question, onChange }: BarProps) {
  const { data: companies = [] } = useCompanies()
  const { from, to, company, carrier, code, state } = question
  return (
    <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
      <MonthSelects id="freight" from={from} to={to} max={reportMonthsMax} onChange={onChange} />
      <Labelled id="freight-code" label="Divergência">
        <Select
          id="freight-code"
          value={code}
          onChange={({ target }) => onChange({ code: freightCodes.find((one) => one === target.value) ?? '' })}
        >
          <option value="">Todos</option>
          {freightCodes.map((one) => (
            <option key={one} value={one}>
              {freightNames[one]}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id="freight-state" label="Estado">
        <Select
          id="freight-state"
          value={state}
          onChange={({ target }) => onChange({ state: target.value === 'certos' ? 'certos' : 'abertos' })}
        >
          <option value="abertos">Em aberto</option>
          <option value="certos">Aceitas</option>
        </Select>
      </Labelled>
      <CarrierField key={carrier} carrier={carrier} onChange={onChange} />
      {companies.length > 1 && (
        <Labelled id="freight-company" label="Empresa">
          <SearchSelect
            id="freight-company"
            all="Todas"
            value={company}
            options={companyOptions(companies)}
            onChange={(value) => onChange({ company: value })}
          />
        </Labelled>
      )}
    </div>
  )
}

function CarrierField({ carrier, onChange }: { carrier: string } & Pick<BarProps, 'onChange'>) {
  return (
    <Labelled id="freight-carrier" label="Transportadora">
      <Input
        id="freight-carrier"
        type="search"
        defaultValue={carrier}
        maxLength={100}
        placeholder="Nome ou CNPJ"
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        onChange={({ target }) => {
          if (target.value === '' && carrier !== '') onChange({ carrier: '' })
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') onChange({ carrier: currentTarget.value.trim() })
        }}
      />
    </Labelled>
  )
}

function SheetButton({ question }: { question: Question }) {
  const [busy, setBusy] = useState(false)
  const { from, to } = question
  const take = async () => {
    setBusy(true)
    try {
      const name = `Auditoria de fretes ${from === to ? from : `${from} a ${to}`}`
      saveFile(await callBytes(downloadFreight, { query: toQuery(question) }), `${fileName(name)}.xlsx`)
    } catch (cause) {
      notifyError(`Não foi possível fazer a planilha (${errorMessage(cause)}). Nada mudou; tente de novo em instantes.`)
    }
    setBusy(false)
  }
  return (
    <Button variant="outline" busy={busy} onClick={() => void take()}>
      Baixar planilha
    </Button>
  )
}

function Findings(bar: BarProps) {
  const [parts, setParts] = useState(1)
  return <Chunk {...bar} cursor="" parts={parts} onMore={() => setParts(parts + 1)} isFirst />
}

interface ChunkProps extends BarProps {
  cursor: string
  isFirst?: boolean
  /** How many parts are shown from this one on. */
  parts: number
  onMore: () => void
}

// Each page starts after the last row of the previous one, whatever was added or removed since.
function Chunk({ isFirst = false, cursor, parts, ...rest }: ChunkProps) {
  const { question, onMore } = rest
  const query = useScreenQuery(
    listFreight,
    { query: { ...toQuery(question), ...(cursor && { depoisDe: cursor }) } },
    { refreshMs, errorToast: true },
  )
  return (
    <Loaded query={query}>
      {(data) => (
        <>
          {isFirst && <Above data={data} {...rest} />}
          {isFirst && data.items.length === 0 ? (
            <Nothing question={question} isReading={data.faltam > 0} />
          ) : (
            <ul className="ledger [&>li]:border-line [&>li]:border-b">
              {data.items.map((finding) => (
                <FindingItem key={`${finding.idDFe} ${finding.regra}`} finding={finding} />
              ))}
            </ul>
          )}
          {data.proximo !== null && parts > 1 && <Chunk cursor={data.proximo} parts={parts - 1} {...rest} />}
          {data.proximo !== null && parts === 1 && (
            <div className="py-4">
              <Button variant="outline" onClick={onMore}>
                Mostrar mais
              </Button>
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

type Data = RouteData<typeof listFreight>

function Above({ data: { faltam, somas, total }, question, onChange }: BarProps & { data: Data }) {
  return (
    <>
      {faltam > 0 && (
        <div className="mb-4">
          <Notice
            tone="info"
            title={`Ainda estamos lendo ${formatCount(faltam, 'documento', 'documentos')} por dentro.`}
          >
            Os documentos estão guardados; achados aparecem e somem enquanto a leitura avança.
          </Notice>
        </div>
      )}
      <ul aria-label="Somas por divergência" className="mb-2 grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-5">
        {somas.map(({ regra, nome, totalDeItens, valorTotal }) => (
          <li key={regra}>
            <button
              type="button"
              aria-pressed={question.code === regra}
              onClick={() => onChange({ code: question.code === regra ? '' : regra })}
              className={clsx(
                'flex h-full w-full flex-col rounded-control border px-3 py-2 text-left hover:bg-sunken',
                question.code === regra ? 'border-ink bg-sunken' : 'border-line',
              )}
            >
              <span className="text-muted text-sm">{nome}</span>
              <span className="mt-auto text-lg tabular-nums">{formatMoney(valorTotal)}</span>
              <span className="text-muted text-sm tabular-nums">{formatInteger(totalDeItens)} CT-e</span>
            </button>
          </li>
        ))}
      </ul>
      <p role="status" className="py-2 text-muted text-sm tabular-nums">
        {formatInteger(total.totalDeItens)} CT-e com divergência, {formatMoney(total.valorTotal)}. Um CT-e com vários
        achados conta uma vez.
      </p>
    </>
  )
}

function Nothing({ question, isReading }: { question: Question; isReading: boolean }) {
  const { state, code, carrier, company } = question
  const isNarrow = code !== '' || carrier !== '' || company !== ''
  return (
    <div className="ledger">
      <Empty
        icon={<PackageSearch />}
        title={
          state === 'certos'
            ? `Nenhuma cobrança aceita ${isNarrow ? 'com estes filtros' : 'neste período'}`
            : isNarrow
              ? `Nada com estes filtros neste período${isReading ? ', até agora' : ''}`
              : isReading
                ? 'Nenhuma divergência ainda: a leitura continua'
                : 'Nada a contestar neste período'
        }
      >
        {state === 'certos' || isNarrow
          ? 'Mude o filtro acima para ver outros.'
          : 'O preço por valor e por quilo só é comparado a partir de oito viagens no mesmo trajeto, e a falta da nota é dita depois de cinco dias.'}
      </Empty>
    </div>
  )
}
