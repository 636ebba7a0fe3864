import {
  type Alert,
  alertBands,
  alertStates,
  countAlerts,
  getAlert,
  listAlertRules,
  listAlerts,
  setAlertState,
} from '@vigia/contract/alerts'
import { formatCount } from '@vigia/contract/text'
import { ShieldCheck } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { CallInput } from '../lib/api.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { SharedNote } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { TextNotice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { AlertItem } from './alert-item.tsx'
import { CompareDialog } from './compare-dialog.tsx'
import { KnownDialog } from './known-dialog.tsx'
import { bands, hasCompared, states } from './words.ts'

const refreshMs = 30_000

/** Work list of documents that look wrong, the most serious first. */
export function AlertsPage() {
  const { filter, single, choose } = useFilter()
  const [work, setWork] = useState<Work | null>(null)
  const begin = { onKnown: (alert: Alert) => setWork({ does: 'known', alert }), onCompare: compareWith(setWork) }
  return (
    <Page
      title="Alertas"
      site={productName}
      subtitle="Documentos que parecem errados, do mais grave ao menos grave, com os números de cada motivo."
      action={
        <Link to="/alertas/regras" className={buttonClass({ variant: 'outline' })}>
          Configurar alertas
        </Link>
      }
    >
      <SharedNote by={setAlertState} />
      <Situation />
      {single === null ? (
        <>
          <FilterBar filter={filter} onChange={choose} />
          {filter.Estado === undefined && <Learning />}
          <AlertList key={JSON.stringify(filter)} filter={filter} {...begin} />
        </>
      ) : (
        <SingleAlert id={single} {...begin} />
      )}
      {work?.does === 'known' && <KnownDialog alert={work.alert} onClose={() => setWork(null)} />}
      {work?.does === 'compare' && (
        <CompareDialog alert={work.alert} reason={work.reason} onClose={() => setWork(null)} />
      )}
    </Page>
  )
}

type Reason = Alert['motivos'][number]
type Work = { does: 'known'; alert: Alert } | { does: 'compare'; alert: Alert; reason: Reason }

const compareWith = (set: (work: Work) => void) => (alert: Alert, reason: Reason) =>
  set({ does: 'compare', alert, reason })

interface AlertHandlers {
  onKnown: (alert: Alert) => void
  onCompare: (alert: Alert, reason: Reason) => void
}

// Without this notice an empty list would look as if all documents were judged.
function Situation() {
  const { data, error } = useScreenQuery(countAlerts, {}, { refreshMs })
  if (!data && error)
    return (
      <div className="mb-4">
        <TextNotice
          tone="warning"
          text="Não foi possível saber se todos os documentos já foram avaliados. Pode haver alertas que ainda não estão na lista."
        />
      </div>
    )
  if (!data || data.situacao === 'em-dia' || data.mensagem === '') return null
  return (
    <div className="mb-4">
      <TextNotice tone={data.situacao === 'avaliando' ? 'info' : 'warning'} text={data.mensagem} />
    </div>
  )
}

// Alerts in learning do not count as work, but can be opened.
function Learning() {
  const { data } = useScreenQuery(countAlerts, {}, { refreshMs })
  if (!data || data.emAprendizado === 0) return null
  return (
    <p className="pt-2 text-muted text-sm">
      {formatCount(data.emAprendizado, 'documento', 'documentos')} ainda em período de aprendizado (30 dias).{' '}
      <Link to="/alertas?estado=em-aprendizado" className="text-brand underline underline-offset-3">
        Ver mesmo assim
      </Link>
    </p>
  )
}

type Query = NonNullable<CallInput<typeof listAlerts>['query']>
type Filter = Pick<Query, 'Faixa' | 'Estado' | 'Regra' | 'IdEmpresa'>

const stateChoices = ['em-aprendizado', ...alertStates] as const

const parameters = { Faixa: 'faixa', Estado: 'estado', Regra: 'regra', IdEmpresa: 'empresa' } as const

// Kept in the address, because it must survive a reload and be shareable.
function useFilter() {
  const [params, setParams] = useSearchParams()
  const band = alertBands.find((one) => one === params.get('faixa'))
  const state = stateChoices.find((one) => one === params.get('estado'))
  const rule = params.get('regra')
  const company = params.get('empresa')
  const filter: Filter = {
    ...(band && { Faixa: band }),
    ...(state && { Estado: state }),
    ...(rule && { Regra: rule }),
    ...(company && { IdEmpresa: company }),
  }
  const choose = (name: keyof Filter, value: string) => {
    const next = new URLSearchParams(params)
    if (value === '') next.delete(parameters[name])
    else next.set(parameters[name], value)
    setParams(next)
  }
  return { filter, single: params.get('documento'), choose }
}

interface FilterBarProps {
  filter: Filter
  onChange: (name: keyof Filter, value: string) => void
}

function FilterBar(bar: FilterBarProps) {
  const { filter, onChange } = bar
  const { data: companies = [] } = useCompanies()
  const { data: rules = [] } = useScreenQuery(listAlertRules, {})
  return (
    <div className="mb-2 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Choice name="Faixa" label="Gravidade" {...bar}>
        <option value="">Todas</option>
        {[...alertBands].reverse().map((band) => (
          <option key={band} value={band}>
            {bands[band].label}
          </option>
        ))}
      </Choice>
      <Choice name="Estado" label="Estado" {...bar}>
        <option value="">Em aberto</option>
        <option value="em-aprendizado">Em aprendizado</option>
        {alertStates.map((state) => (
          <option key={state} value={state}>
            {states[state]}
          </option>
        ))}
      </Choice>
      <Choice name="Regra" label="Regra" {...bar}>
        <option value="">Todas</option>
        {rules.map(({ id, nome }) => (
          <option key={id} value={id}>
            {nome}
          </option>
        ))}
      </Choice>
      {companies.length > 1 && (
        <Labelled id="alert-empresa" label="Empresa">
          <SearchSelect
            id="alert-empresa"
            all="Todas"
            value={filter.IdEmpresa ?? ''}
            options={companyOptions(companies)}
            onChange={(value) => onChange('IdEmpresa', value)}
          />
        </Labelled>
      )}
    </div>
  )
}

interface ChoiceProps {
  name: keyof Filter
  label: string
  filter: Filter
  onChange: (name: keyof Filter, value: string) => void
  children: ReactNode
}

function Choice({ name, label, filter, onChange, children }: ChoiceProps) {
  const id = `alert-${parameters[name]}`
  return (
    <Labelled id={id} label={label}>
      <Select id={id} value={filter[name] ?? ''} onChange={({ target }) => onChange(name, target.value)}>
        {children}
      </Select>
    </Labelled>
  )
}

function AlertList({ filter, ...handlers }: { filter: Filter } & AlertHandlers) {
  const [parts, setParts] = useState(1)
  return <AlertChunk filter={filter} cursor="" parts={parts} onMore={() => setParts(parts + 1)} isFirst {...handlers} />
}

interface AlertChunkProps extends AlertHandlers {
  filter: Filter
  cursor: string
  isFirst?: boolean
  /** How many parts are shown from this one on. */
  parts: number
  onMore: () => void
}

// Each page starts after the last row of the previous one, whatever was added or removed since.
function AlertChunk({ isFirst = false, cursor, parts, ...rest }: AlertChunkProps) {
  const { filter, onMore, ...handlers } = rest
  const query = useScreenQuery(
    listAlerts,
    { query: { ...filter, ...(cursor && { depoisDe: cursor }) } },
    { refreshMs, errorToast: true },
  )
  return (
    <Loaded query={query}>
      {({ items, proximo, totalDeItens }) => (
        <>
          {isFirst && (
            <p role="status" className="py-2 text-muted text-sm tabular-nums">
              {formatCount(totalDeItens, 'alerta', 'alertas')}
              {totalDeItens >= 10_000 && ' ou mais'}
            </p>
          )}
          {isFirst && items.length === 0 ? (
            <Nothing filtered={Object.keys(filter).length > 0} />
          ) : (
            <ul className="ledger [&>li]:border-line [&>li]:border-b">
              {items.map((alert) => (
                <AlertItem key={alert.idDFe} alert={alert} {...handlers} />
              ))}
            </ul>
          )}
          {proximo !== null && parts > 1 && <AlertChunk cursor={proximo} parts={parts - 1} {...rest} />}
          {proximo !== null && parts === 1 && (
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

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <div className="ledger">
      <Empty icon={<ShieldCheck />} title={filtered ? 'Nenhum alerta neste filtro' : 'Nenhum alerta em aberto'}>
        {filtered
          ? 'Mude o filtro acima para ver outros.'
          : 'Nos primeiros 30 dias e 30 documentos aprendemos o que é normal em cada empresa.'}
      </Empty>
    </div>
  )
}

// `comparar` in the address names the rule whose comparison is opened at once.
function SingleAlert({ id, ...handlers }: { id: string } & AlertHandlers) {
  const query = useScreenQuery(getAlert, { params: { idDFe: id } }, { refreshMs })
  const [params, setParams] = useSearchParams()
  const opened = query.data?.motivos.find(({ regra }) => regra === params.get('comparar'))
  return (
    <>
      <Link to="/alertas" className="inline-block py-2 text-brand underline underline-offset-3">
        Todos os alertas
      </Link>
      <Loaded query={query}>
        {(alert) => (
          <ul className="ledger [&>li]:border-line [&>li]:border-b">
            <AlertItem alert={alert} earlier={alert.anteriores} {...handlers} />
          </ul>
        )}
      </Loaded>
      {query.data && opened && hasCompared(opened) && (
        <CompareDialog
          alert={query.data}
          reason={opened}
          onClose={() => setParams({ documento: id }, { replace: true })}
        />
      )}
    </>
  )
}
